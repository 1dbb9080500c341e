import type { DurableBody } from "../protocol/durable-events.ts";
import type { LiveEvent } from "../protocol/live-events.ts";
import type { SessionFold } from "../protocol/session-fold.ts";

/** The live `step_end` that a commit brings, when it holds the last fact of a step: its reply or its last result. */
export function stepEnd(before: SessionFold, bodies: readonly DurableBody[]): LiveEvent[] {
  const last = bodies.findLast((body) => body.type === "agent_trace" || body.type === "tool_result");
  if (!last || !before.open) return [];
  const asked = bodies.find((body) => body.type === "tool_calls");
  const replied = bodies.find((body) => body.type === "agent_trace");
  const unfinished = replied
    ? (asked?.calls.length ?? 0)
    : before.open.calls.filter((call) => !call.done).length;
  const finished = bodies.filter((body) => body.type === "tool_result").length;
  if (finished < unfinished) return [];
  const truncated = (replied ? replied.finishReason : before.open.reply) === "length";
  const used = replied ? asked !== undefined : true;
  const stopReason = truncated ? "max_tokens" : used ? "tool_use" : "stop";
  return [{ type: "step_end", turn: last.turn, step: last.step, stopReason }];
}
