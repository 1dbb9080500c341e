import { describe, expect, it } from "vitest";
import { checkLog } from "../../../src/runtime/protocol/log-grammar.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";

const input: Line = ["input"];
const calls: Line = ["tool_calls", { step: 1, calls: [{ id: "a", name: "read_file", args: {} }] }];
const asked: Line = ["agent_trace", { step: 1, finishReason: "tool_calls" }];
const at = (type: Line[0], more: Record<string, unknown> = {}): Line => [type, { step: 1, ...more }];
const second = (type: Line[0], more: Record<string, unknown> = {}): Line => [type, { step: 2, ...more }];

/** A turn that has called one tool; then these. */
const called = (...lines: Line[]): Line[] => [input, calls, asked, ...lines];

/** What is wrong, the log, and what the checker must say of its last event. */
const BAD: Record<string, { log: Line[]; says: RegExp }> = {
  "a call id twice in one reply": {
    log: [
      input,
      at("tool_calls", {
        calls: [
          { id: "a", name: "x", args: {} },
          { id: "a", name: "x", args: {} },
        ],
      }),
    ],
    says: /call id a comes twice/,
  },
  "a call id twice in the session": {
    log: [...called(at("tool_result")), second("tool_calls")],
    says: /call id a comes twice/,
  },
  "an event of an unknown call": {
    log: called(at("tool_call_start", { callId: "z" })),
    says: /call z, which is not of this step/,
  },
  "an event of a call at another step": { log: called(second("tool_call_start")), says: /step 2 in step 1/ },
  "an event of an earlier step's call": {
    log: [...called(at("tool_result")), second("steer"), second("tool_result")],
    says: /call a, which is not of this step/,
  },
  "an answer that nobody asked for": { log: called(at("approval_resolved")), says: /comes after "called"/ },
  "an answer to another approval": {
    log: called(at("approval_request"), at("approval_resolved", { approvalId: "z" })),
    says: /answers approval z/,
  },
  "a second answer": {
    log: called(at("approval_request"), at("approval_resolved"), at("approval_resolved")),
    says: /comes after "answered"/,
  },
  "a second approval": {
    log: called(at("approval_request"), at("approval_resolved"), at("approval_request")),
    says: /comes after "answered"/,
  },
  "an approval after the decision": {
    log: called(at("permission_decision"), at("approval_request")),
    says: /comes after "decided"/,
  },
  "a decision while a person is asked": {
    log: called(at("approval_request"), at("permission_decision")),
    says: /comes after "asked"/,
  },
  "a second decision": {
    log: called(at("permission_decision"), at("permission_decision")),
    says: /comes after "decided"/,
  },
  "a decision after the start": {
    log: called(at("tool_call_start"), at("permission_decision")),
    says: /comes after "started"/,
  },
  "a decision against a person's": {
    log: called(
      at("approval_request"),
      at("approval_resolved", { decision: "deny" }),
      at("permission_decision"),
    ),
    says: /allows what a person denied/,
  },
  "a start while a person is asked": {
    log: called(at("approval_request"), at("tool_call_start")),
    says: /comes after "asked"/,
  },
  "a second start": {
    log: called(at("tool_call_start"), at("tool_call_start")),
    says: /comes after "started"/,
  },
  "a start of a denied call": {
    log: called(at("permission_decision", { decision: "deny" }), at("tool_call_start")),
    says: /is denied/,
  },
  "a start of an expired call": {
    log: called(
      at("approval_request"),
      at("approval_resolved", { decision: "expired" }),
      at("tool_call_start"),
    ),
    says: /is denied/,
  },
  "a start of a malformed call": {
    log: [
      input,
      at("tool_calls", { calls: [{ id: "a", name: "x", args: {}, malformed: "{" }] }),
      asked,
      at("tool_call_start"),
    ],
    says: /is malformed/,
  },
  "a start of a call whose reply was cut": {
    log: [input, calls, at("agent_trace", { finishReason: "length" }), at("tool_call_start")],
    says: /is cut/,
  },
  "a question before the start": { log: called(at("input_request")), says: /comes after "called"/ },
  "a second question at once": {
    log: called(at("tool_call_start"), at("input_request"), at("input_request")),
    says: /comes after "questioned"/,
  },
  "an answer to no question": {
    log: called(at("tool_call_start"), at("input_resolved")),
    says: /comes after "started"/,
  },
  "an answer to another question": {
    log: called(at("tool_call_start"), at("input_request"), at("input_resolved", { inputId: "z" })),
    says: /answers question z/,
  },
  "a recovery of a call that never started": {
    log: called(at("tool_recovered")),
    says: /comes after "called"/,
  },
  "a second recovery": {
    log: called(at("tool_call_start"), at("tool_recovered"), at("tool_recovered")),
    says: /comes after "recovered"/,
  },
  "a result while a person is asked": {
    log: called(at("approval_request"), at("tool_result")),
    says: /comes after "asked"/,
  },
  "a result while a question is open": {
    log: called(at("tool_call_start"), at("input_request"), at("tool_result")),
    says: /comes after "questioned"/,
  },
  "a second result": { log: called(at("tool_result"), at("tool_result")), says: /comes after "done"/ },
  "a start after the result": {
    log: called(at("tool_result"), at("tool_call_start")),
    says: /comes after "done"/,
  },
  "a result that denies the start": {
    log: called(at("tool_call_start"), at("tool_result", { code: "not_executed" })),
    says: /was not executed/,
  },
  "an unknown outcome of no start": {
    log: called(at("tool_result", { code: "outcome_unknown" })),
    says: /outcome of no start/,
  },
  "a next reply before all results": {
    log: called(second("output")),
    says: /call a has no result before step 2/,
  },
  "a steer before all results": { log: called(second("steer")), says: /call a has no result before step 2/ },
};

describe("the grammar of one call", () => {
  it.each(Object.entries(BAD))("[LOG-1] flags %s", (_, { log: lines, says }) => {
    const log = logOf(...lines);
    // What precedes the last event is in order: the last event alone is what is flagged.
    expect(checkLog(log.slice(0, -1))).toEqual([]);
    const violations = checkLog(log);
    expect(violations.map(({ at: place }) => place)).toEqual(violations.map(() => log.length - 1));
    expect(violations.map(({ message }) => message).join("\n")).toMatch(says);
  });
});
