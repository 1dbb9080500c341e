import { LightAgentError } from "../runtime/protocol/errors.ts";
import { turnSpans } from "../runtime/trace/turn-spans.ts";
import type { Span, TracedSession } from "../runtime/trace/turn-spans.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { LogStore } from "./log-store.ts";
import type { TurnStore } from "./turn-store.ts";

/** The spans of one turn. */
export interface TurnTrace {
  readonly turn: number;
  readonly spans: readonly Span[];
}

/**
 * What a turn did and how long it took; of the last turn for null, none before the first. Reads 2 rows, and the turn's
 * rows of the log.
 * @throws LightAgentError `not_found` for a turn that there has not been
 */
export function traceOfTurn(
  session: TracedSession,
  { log, turns }: { readonly log: LogStore; readonly turns: TurnStore },
  asked: number | null,
): TurnTrace {
  const turn = asked ?? turns.head();
  if (turn === 0) return { turn, spans: [] };
  const [beginning] = turns.beginnings(turn + 1, 1);
  if (beginning?.turn !== turn) throw new LightAgentError("not_found", "There has been no such turn.");
  return { turn, spans: turnSpans(session, turn, ofTurn(log, beginning.firstSeq, turn)) };
}

function* ofTurn(log: LogStore, firstSeq: number, turn: number): Generator<DurableEvent> {
  for (const event of log.read(firstSeq - 1)) {
    yield event;
    if (event.type === "agent_stop" && event.turn === turn && event.agentId === undefined) return;
  }
}
