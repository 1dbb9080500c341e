import type { SessionApi } from "../../durable/session-api.ts";
import { unwrap } from "../../runtime/protocol/answer.ts";
import type { Fetches } from "../environment.ts";
import type { TenantContext } from "../route.ts";
import { serverSentEvents, streamTurn } from "../turn-response.ts";
import { wholeLog } from "../whole-log.ts";
import { runFinished, runStarted } from "./run-events.ts";
import type { Run } from "./run-events.ts";
import { runWriter } from "./run-writer.ts";
import { snapshotFor, toRunMessages } from "./thread-messages.ts";
import type { RunEvent } from "./wire.ts";

/**
 * A run that prompts nothing: the thread's messages, and then the turn that runs or waits, from its beginning on. Thus
 * a client that has lost its connection, or begins anew, has in the end what one that stayed has.
 */
export async function connect(
  context: TenantContext,
  session: SessionApi & Fetches,
  begun: Run,
): Promise<Response> {
  const log = await wholeLog(session);
  const { status, turn } = unwrap(await session.state());
  const open =
    status === "idle" ? undefined : log.find((event) => event.type === "input" && event.turn === turn);
  const thread = toRunMessages(log, open?.seq ?? Number.POSITIVE_INFINITY);
  const messages = snapshotFor(begun.messages, thread);
  const opening: RunEvent[] = [runStarted(begun), { type: "MESSAGES_SNAPSHOT", messages: [...messages] }];
  const run = { ...begun, started: true, messages };
  if (!open) {
    const events = [...opening, runFinished(run, { type: "success" })];
    return serverSentEvents(events, runWriter(run));
  }
  const query = { after: open.seq - 1, of: { turn } };
  return streamTurn(context, session, query, runWriter(run), opening);
}
