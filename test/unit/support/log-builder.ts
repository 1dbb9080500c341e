import type { DurableEvent, DurableType } from "../../../src/runtime/protocol/durable-events.ts";
import { SOMEBODY } from "./log-writer.ts";

const USAGE = { input: 10, output: 5, cachedInput: 0, reasoning: 0 };
const READ = { id: "a", name: "read_file", args: {} };

/** A plain payload of each type, so that a hand-written log names only what matters to it. */
const PAYLOADS: Readonly<Record<DurableType, Readonly<Record<string, unknown>>>> = {
  input: { promptId: "p1", content: [{ type: "text", text: "go" }], source: "user", by: SOMEBODY },
  steer: { promptId: "p2", content: [{ type: "text", text: "and" }], by: SOMEBODY, mode: "steer" },
  prompt_dropped: { promptId: "p9", by: SOMEBODY, reason: "withdrawn" },
  interrupt: { by: SOMEBODY, clearQueue: false },
  thought: { attempt: 1, block: 0, text: "hm" },
  output: { attempt: 1, block: 1, text: "yes" },
  tool_calls: { calls: [READ] },
  agent_trace: { model: "m", attempt: 1, usage: USAGE, finishReason: "stop", startedAt: 1, endedAt: 2 },
  approval_request: {
    approvalId: "ap",
    callId: "a",
    name: "read_file",
    args: {},
    digest: "d",
    policyVersion: "1",
    expiresAt: 9,
  },
  approval_resolved: { approvalId: "ap", callId: "a", decision: "allow", digest: "d", by: SOMEBODY },
  permission_decision: { callId: "a", decision: "allow", source: "policy" },
  input_request: { inputId: "in", callId: "a", question: {} },
  input_resolved: { inputId: "in", callId: "a", answer: { text: "y" }, by: SOMEBODY },
  tool_call_start: { callId: "a", name: "read_file" },
  tool_result: { callId: "a", name: "read_file", content: "text", isError: false, durationMs: 1 },
  tool_recovered: { callId: "a", name: "read_file", outcome: "unknown" },
  agent_summary: { text: "sum", fromSeq: 1, throughSeq: 1, before: 9, after: 1, kind: "auto" },
  background_completed: { taskId: "t", label: "l", status: "completed", content: "c" },
  checkpoint_restore: { toSeq: 0, conversation: true, files: false, skipped: [], by: SOMEBODY },
  error: { code: "model_error", message: "no", fatal: true },
  agent_stop: { reason: "stop", cause: "model", promptIds: ["p1"], usage: USAGE },
};

/** An event of a hand-written log: its type, and what differs from the plain one. Turn 1 and step 0 unless said. */
export type Line = readonly [DurableType, Readonly<Record<string, unknown>>?];

/** Numbers the lines from 1 and fills in what they leave out. */
export function logOf(...lines: readonly Line[]): DurableEvent[] {
  return lines.map(
    ([type, more], index) =>
      ({
        seq: index + 1,
        at: index + 1,
        turn: 1,
        step: 0,
        type,
        ...PAYLOADS[type],
        ...more,
      }) as unknown as DurableEvent,
  );
}
