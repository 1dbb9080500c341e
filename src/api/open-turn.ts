import type { SessionApi } from "../durable/session-api.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { SessionState } from "../runtime/protocol/frames.ts";
import { unwrap } from "../runtime/protocol/answer.ts";

const PAGE = 500;

/**
 * The event that opened the turn which runs or waits; null between turns. Two calls and one page of the log, more only
 * where a restore went far back before the turn.
 */
export async function openingOf(
  session: SessionApi,
  { status, turn }: SessionState,
): Promise<DurableEvent<"input"> | null> {
  if (status === "idle") return null;
  const { data } = unwrap(await session.checkpoints({ limit: 1, cursor: null }));
  let after = data[0]?.seq ?? 0;
  for (;;) {
    const { events, next } = unwrap(await session.events({ after, limit: PAGE, types: ["input"] }));
    const input = events.find((event) => event.type === "input" && event.turn === turn);
    if (input?.type === "input") return input;
    if (next === null) return null;
    after = next;
  }
}
