import type { Connection } from "partyserver";
import type { Principal } from "../../src/runtime/protocol/principal.ts";
import type { Life } from "./life.ts";
import type { Frame } from "./oracle.ts";

/** Who holds the other end of a socket. */
export interface SocketEnd {
  readonly by: Principal;
  frame(frame: Frame): void;
  closed(code: number): void;
}

/** A hibernating WebSocket: it belongs to the object, not to an instance, and keeps its attachment. */
export class SimulatedSocket {
  readonly id: string;
  readonly after: number;
  readonly end: SocketEnd;
  attachment: unknown = null;
  open = true;

  constructor(id: string, after: number, end: SocketEnd) {
    this.id = id;
    this.after = after;
    this.end = end;
  }

  close(code: number): void {
    if (!this.open) return;
    this.open = false;
    this.end.closed(code);
  }

  /** The socket as one instance holds it. `send` lets a text out when the instance may tell it. */
  connectionOf(life: Life, send: (text: string) => void): Connection {
    const usable = (): boolean => this.open && life.state === "current";
    const read = (): unknown => this.attachment;
    const connection = {
      id: this.id,
      get state() {
        return read();
      },
      setState: (state: unknown) => {
        if (usable()) this.attachment = structuredClone(state);
        return state;
      },
      send: (text: string) => {
        if (!usable()) throw new Error("The socket is closed.");
        send(text);
      },
      close: (code = 1000) => {
        if (usable()) this.close(code);
      },
    };
    return connection as unknown as Connection;
  }
}
