import type { Connection } from "partyserver";

/** Sends a text; false when the socket is gone, whose close is then on the way. */
export function tryToSend(connection: Connection, text: string): boolean {
  try {
    connection.send(text);
    return true;
  } catch {
    return false;
  }
}
