import type { DurablePayload, DurableType, ToolCall } from "../../../src/runtime/protocol/durable-events.ts";
import type { LivePayload, LiveType } from "../../../src/runtime/protocol/live-events.ts";
import type { Principal } from "../../../src/runtime/protocol/principal.ts";

const BY: Principal = { kind: "user", id: "u1" };
const USAGE = { input: 10, output: 5, cachedInput: 2, reasoning: 1 };
const CALL: ToolCall = {
  id: "call_1_1_0",
  name: "grep",
  args: { pattern: "x" },
  intent: "look",
  malformed: "{",
};
const BLOCK = { attempt: 1, block: 0, text: "hello", interrupted: true, providerData: { signature: "s" } };
const DELTA = { attempt: 1, block: 0, offset: 0, text: "he" };
const OF_CALL = { callId: "call_1_1_0", name: "grep" };

/** Of each durable event a payload with every field, optional ones too. */
export const DURABLE_EXAMPLES: { readonly [T in DurableType]: DurablePayload<T> } = {
  input: { promptId: "p1", content: [{ type: "text", text: "hi" }], source: "user", by: BY },
  steer: { promptId: "p2", content: [{ type: "text", text: "hi" }], by: BY, mode: "follow_up" },
  prompt_dropped: { promptId: "p3", by: BY, reason: "cleared" },
  interrupt: { by: BY, reason: "enough", clearQueue: false },
  thought: BLOCK,
  output: { ...BLOCK, structured: true },
  tool_calls: { calls: [CALL] },
  agent_trace: {
    model: "openai/x",
    attempt: 1,
    usage: USAGE,
    estimated: true,
    finishReason: "tool_calls",
    startedAt: 1,
    firstTokenAt: 2,
    endedAt: 3,
    cost: 4,
  },
  approval_request: {
    approvalId: "a1",
    ...OF_CALL,
    args: { path: "x" },
    digest: "d",
    policyVersion: "1",
    reason: "writes",
    expiresAt: 9,
  },
  approval_resolved: {
    approvalId: "a1",
    callId: "call_1_1_0",
    decision: "allow",
    digest: "d",
    args: { path: "y" },
    by: BY,
    reason: "fine",
  },
  permission_decision: {
    callId: "call_1_1_0",
    decision: "deny",
    source: "policy",
    ruleId: "r",
    reason: "no",
    simulated: true,
  },
  input_request: { inputId: "i1", callId: "call_1_1_0", question: { question: "Which?" } },
  input_resolved: {
    inputId: "i1",
    callId: "call_1_1_0",
    answer: { text: "that", selected: ["a"] },
    cancelled: false,
    by: BY,
  },
  tool_call_start: OF_CALL,
  tool_result: {
    ...OF_CALL,
    content: "x",
    isError: true,
    code: "timeout",
    durationMs: 1.5,
    workspaceVersion: 3,
    artifact: { ref: "r", size: 10, mediaType: "text/plain" },
  },
  tool_recovered: { ...OF_CALL, outcome: "found" },
  agent_summary: { text: "so far", fromSeq: 1, throughSeq: 9, before: 900, after: 90, kind: "manual" },
  background_completed: { taskId: "t1", label: "tests", status: "partial", content: "3 of 4" },
  checkpoint_restore: {
    toSeq: 0,
    conversation: true,
    files: true,
    workspaceVersion: 2,
    skipped: [{ path: "a", reason: "changed" }],
    by: BY,
  },
  error: { code: "model_timeout", message: "too slow", fatal: true, details: { retryAfterMs: 1 } },
  agent_stop: { reason: "budget", cause: "policy", message: "spent", promptIds: ["p1"], usage: USAGE },
};

/** Of each live event a payload with every field, optional ones too. */
export const LIVE_EXAMPLES: { readonly [T in LiveType]: LivePayload<T> } = {
  turn_start: {},
  step_start: {},
  model_call_start: { model: "demo", attempt: 1 },
  text_delta: DELTA,
  thought_delta: DELTA,
  tool_args_delta: { ...DELTA, ...OF_CALL },
  attempt_reset: { attempt: 1, reason: "model_transport" },
  model_call_end: {
    attempt: 1,
    model: "demo",
    durationMs: 5,
    usage: USAGE,
    error: { code: "stopped", message: "no" },
  },
  message: { text: "hello", thought: "hm", calls: [CALL] },
  tool_use: { call: CALL },
  tool_progress: { callId: "call_1_1_0", message: "half", completed: 1, total: 2, output: "x" },
  tool_call_end: { ...OF_CALL, durationMs: 5, isError: false },
  compaction: {
    kind: "auto",
    phase: "progress",
    before: 9,
    after: 1,
    stage: "summary",
    completed: 1,
    total: 2,
    message: "working",
  },
  checkpoint_restore_progress: { phase: "done", completed: 2, total: 2, message: "back" },
  context_status: {
    level: 1,
    reason: "full",
    beforeTokens: 9,
    afterTokens: 1,
    generation: 2,
    plannerUsed: true,
    plannerFallback: false,
    plannerLatencyMs: 3,
    archiveRefs: ["r"],
    retry: false,
  },
  queue: { waiting: [{ promptId: "p4", mode: "queue", preview: "and then", by: BY, at: 1 }] },
  error: { code: "model_transport", message: "again", fatal: false },
  diagnostic: { level: "warning", code: "late_result", message: "dropped", data: { callId: "c" } },
  custom: { name: "tests", data: { passed: 3 } },
  step_end: { stopReason: "max_tokens" },
  done: { reason: "stop", result: { text: "hello", usage: USAGE, promptIds: ["p1"] } },
};
