import { describe, expect, it } from "vitest";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../../src/runtime/protocol/log-grammar.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";

const input: Line = ["input"];
const output: Line = ["output", { step: 1 }];
const trace: Line = ["agent_trace", { step: 1 }];
const stop: Line = ["agent_stop", { step: 1 }];
const interrupt: Line = ["interrupt", { step: 1 }];
const aborted: Line = ["agent_stop", { step: 1, reason: "aborted" }];
const calls: Line = ["tool_calls", { step: 1, calls: [{ id: "a", name: "read_file", args: {} }] }];
const asked: Line = ["agent_trace", { step: 1, finishReason: "tool_calls" }];
const answer: Line[] = [output, trace, stop];
const at = (type: Line[0], more: Record<string, unknown> = {}): Line => [type, { step: 1, ...more }];
const second = (type: Line[0], more: Record<string, unknown> = {}): Line => [type, { step: 2, ...more }];

/** A turn that has called one tool; then these. */
const called = (...lines: Line[]): Line[] => [input, calls, asked, ...lines];

const GOOD: Record<string, Line[]> = {
  "a plain turn": [input, ...answer],
  "pauses between turns": [
    input,
    ...answer,
    at("prompt_dropped"),
    at("agent_summary"),
    at("checkpoint_restore", { toSeq: 4 }),
  ],
  "thoughts and texts in any order": [
    input,
    at("output", { block: 0 }),
    at("thought", { block: 2 }),
    at("output", { block: 5 }),
    trace,
    stop,
  ],
  "a reply of nothing but its trace": [input, trace, stop],
  "a call from approval to result": called(
    at("approval_request"),
    at("approval_resolved"),
    at("permission_decision"),
    at("tool_call_start"),
    at("input_request"),
    at("input_resolved"),
    at("input_request", { inputId: "2" }),
    at("input_resolved", { inputId: "2" }),
    at("tool_recovered"),
    at("tool_result"),
    second("output"),
    second("agent_trace"),
    second("agent_stop"),
  ),
  "calls that interleave": [
    input,
    at("tool_calls", {
      calls: [
        { id: "a", name: "x", args: {} },
        { id: "b", name: "x", args: {} },
      ],
    }),
    asked,
    at("tool_call_start", { callId: "b" }),
    at("approval_request"),
    at("tool_result", { callId: "b" }),
    at("approval_resolved", { decision: "deny" }),
    at("tool_result", { code: "denied", isError: true }),
  ],
  "a prompt withdrawn while a call runs": called(
    at("tool_call_start"),
    at("prompt_dropped"),
    at("tool_result"),
  ),
  "a steer, a background result and a summary before a reply": [
    input,
    at("steer"),
    at("background_completed"),
    at("agent_summary"),
    output,
    trace,
    at("agent_stop", { promptIds: ["p1", "p2"] }),
  ],
  "an interrupt before anything": [input, ["interrupt"], ["agent_stop", { reason: "aborted" }]],
  "an interrupt while a model call streams": [
    input,
    ["interrupt"],
    at("output", { interrupted: true }),
    at("agent_trace", { finishReason: "interrupted" }),
    aborted,
  ],
  "an interrupt that came as the reply was complete": [input, ["interrupt"], output, trace, aborted],
  "an interrupt while calls run": called(at("tool_call_start"), interrupt, at("tool_result"), aborted),
  "an interrupt while a person is asked": called(
    at("approval_request"),
    interrupt,
    at("approval_resolved", { decision: "cancelled" }),
    at("tool_result", { code: "not_executed", isError: true }),
    aborted,
  ),
  "a failure that keeps what was shown": [
    input,
    at("output", { interrupted: true }),
    at("agent_trace", { finishReason: "error" }),
    at("error"),
    at("agent_stop", { reason: "error" }),
  ],
  "a failure after an interrupt": [input, ["interrupt"], ["error"], ["agent_stop", { reason: "error" }]],
  "a spent limit": called(at("tool_result"), at("agent_stop", { reason: "max_steps" })),
  "a spent budget before the first call": [input, ["agent_stop", { reason: "budget" }]],
  "events of other agents anywhere": [
    input,
    output,
    ["output", { turn: 7, step: 7, agentId: "helper" }],
    trace,
    stop,
    ["agent_stop", { turn: 9, agentId: "helper" }],
  ],
  "types of the future anywhere": [
    input,
    output,
    ["of_the_future" as "output", { turn: 9 }],
    trace,
    stop,
    ["of_the_future" as "output"],
  ],
};

/** What is wrong, the log, and what the checker must say of its last event. */
const BAD: Record<string, { log: Line[]; says: RegExp }> = {
  // seq counts from 1
  "a log that does not begin at 1": { log: [["input", { seq: 2 }]], says: /seq 2 follows 0/ },
  "a gap": { log: [input, ["output", { step: 1, seq: 3 }]], says: /seq 3 follows 1/ },
  "a repeated seq": { log: [input, ["output", { step: 1, seq: 1 }]], says: /seq 1 follows 1/ },
  "a gap behind another agent's event": {
    log: [input, ["output", { agentId: "x", seq: 5 }]],
    says: /seq 5 follows 1/,
  },
  // turns count from 1
  "a first turn that is not 1": { log: [["input", { turn: 2 }]], says: /turn 2 follows 0/ },
  "a turn left out": {
    log: [input, ...answer, ["input", { turn: 3, promptId: "p3" }]],
    says: /turn 3 follows 1/,
  },
  "a turn again": {
    log: [input, ...answer, ["input", { turn: 1, promptId: "p3" }]],
    says: /turn 1 follows 1/,
  },
  "a turn that begins behind step 0": { log: [["input", { step: 1 }]], says: /input at step 1/ },
  "an event of another turn inside a turn": {
    log: [input, at("output", { turn: 2 })],
    says: /turn 2 in turn 1/,
  },
  "an event of another turn between turns": {
    log: [input, ...answer, ["prompt_dropped", { turn: 2 }]],
    says: /turn 2 after turn 1/,
  },
  // between turns
  "a reply between turns": { log: [input, ...answer, second("output")], says: /output between turns/ },
  "an interrupt between turns": { log: [input, ...answer, interrupt], says: /interrupt between turns/ },
  "a result after the end": {
    log: [...called(interrupt, at("tool_result"), aborted), at("tool_result")],
    says: /tool_result between turns/,
  },
  "a second end": { log: [input, ...answer, stop], says: /agent_stop between turns/ },
  "an input inside a turn": {
    log: [input, ["input", { turn: 2, promptId: "p2" }]],
    says: /input inside a turn/,
  },
  "a restore inside a turn": {
    log: [input, ["checkpoint_restore"]],
    says: /checkpoint_restore inside a turn/,
  },
  "a restore to the middle of a turn": {
    log: [input, ...answer, at("checkpoint_restore", { toSeq: 3 })],
    says: /restore to 3/,
  },
  "a restore to the future": {
    log: [input, ...answer, at("checkpoint_restore", { toSeq: 9 })],
    says: /restore to 9/,
  },
  // steps
  "a step left out": { log: [input, second("output")], says: /output at step 2 after step 0/ },
  "a reply at step 0": { log: [input, ["output"]], says: /output at step 0 after step 0/ },
  "a steer at the step that has its reply": {
    log: [input, output, trace, at("steer")],
    says: /steer at step 1 after step 1/,
  },
  "a second reply in one step": {
    log: [input, output, trace, at("output")],
    says: /output at step 1 after step 1/,
  },
  "a second trace": { log: [input, output, trace, trace], says: /agent_trace at step 1 after step 1/ },
  "a step without its reply": {
    log: [input, at("steer"), second("steer", { promptId: "p3" })],
    says: /before the reply of step 1/,
  },
  "an interrupt at another step": { log: [input, interrupt], says: /interrupt at step 1 in step 0/ },
  "an end far from the last step": {
    log: [input, output, trace, ["agent_stop", { step: 3 }]],
    says: /agent_stop at step 3/,
  },
  "an end before the last step": {
    log: [input, output, trace, ["agent_stop", { step: 0 }]],
    says: /agent_stop at step 0/,
  },
  "a summary of the future": {
    log: [input, ...answer, at("agent_summary", { throughSeq: 5 })],
    says: /summary of 1 to 5 at seq 5/,
  },
  "a summary that ends before it begins": {
    log: [input, ...answer, at("agent_summary", { fromSeq: 4 })],
    says: /summary of 4 to 1/,
  },
  "a summary that cuts a reply": {
    log: [input, ...answer, at("agent_summary", { throughSeq: 2 })],
    says: /cuts a reply or a call at 2/,
  },
  "a summary between a call and its result": {
    log: [...called(at("tool_result")), second("agent_summary", { throughSeq: 3 })],
    says: /cuts a reply or a call at 3/,
  },
  // one reply
  "blocks out of order": {
    log: [input, at("output", { block: 1 }), at("thought", { block: 0 })],
    says: /block 0 after block 1/,
  },
  "a block twice": { log: [input, output, output], says: /block 1 after block 1/ },
  "two attempts in one reply": {
    log: [input, output, at("agent_trace", { attempt: 2 })],
    says: /attempts 1 and 2/,
  },
  "two attempts among the blocks": {
    log: [input, output, at("output", { block: 2, attempt: 2 })],
    says: /attempts 1 and 2/,
  },
  "a text after the calls": { log: [input, calls, output], says: /output after the calls/ },
  "calls twice": {
    log: [input, calls, at("tool_calls", { calls: [{ id: "b", name: "x", args: {} }] })],
    says: /second tool_calls/,
  },
  "calls without a call": { log: [input, at("tool_calls", { calls: [] })], says: /without a call/ },
  "a reply without its trace": { log: [input, output, stop], says: /agent_stop inside a reply/ },
  "calls that begin before the trace": {
    log: [input, calls, at("tool_call_start")],
    says: /tool_call_start inside a reply/,
  },
  "a steer inside a reply": { log: [input, output, at("steer")], says: /steer inside a reply/ },
  "a dropped prompt inside a reply": {
    log: [input, output, at("prompt_dropped")],
    says: /prompt_dropped inside a reply/,
  },
  // the end
  "an end before all results": {
    log: called(interrupt, aborted),
    says: /call a has no result before agent_stop/,
  },
  "a failure before all results": { log: called(at("error")), says: /call a has no result before error/ },
  "an end with an open request": {
    log: called(at("approval_request"), interrupt, aborted),
    says: /call a has no result/,
  },
  "something between a failure and its end": {
    log: [input, ["error"], ["prompt_dropped"]],
    says: /prompt_dropped after a fatal error/,
  },
  "a failure that ends as something else": {
    log: [input, ["error"], ["agent_stop", { reason: "budget" }]],
    says: /fatal error disagree/,
  },
  "an end by an error that is not there": {
    log: [input, ["agent_stop", { reason: "error" }]],
    says: /fatal error disagree/,
  },
  "an abort that nobody asked for": {
    log: [input, ["agent_stop", { reason: "aborted" }]],
    says: /interrupt disagree/,
  },
  "an answer in spite of an interrupt": {
    log: [input, output, trace, interrupt, stop],
    says: /interrupt disagree/,
  },
  "an end without a reply": { log: [input, ["agent_stop"]], says: /without an answer/ },
  "an end with unanswered results": { log: called(at("tool_result"), stop), says: /without an answer/ },
  "an end with an unanswered steer": {
    log: [input, output, trace, second("steer"), second("agent_stop", { promptIds: ["p1", "p2"] })],
    says: /without an answer/,
  },
  "an end with a cut reply": {
    log: [
      input,
      at("output", { interrupted: true }),
      at("agent_trace", { finishReason: "interrupted" }),
      stop,
    ],
    says: /without an answer/,
  },
  "a start after an interrupt": {
    log: called(interrupt, at("tool_call_start")),
    says: /tool_call_start after an interrupt/,
  },
  "an approval after an interrupt": {
    log: called(interrupt, at("approval_request")),
    says: /approval_request after an interrupt/,
  },
  "a question after an interrupt": {
    log: called(at("tool_call_start"), interrupt, at("input_request")),
    says: /input_request after an interrupt/,
  },
  "a steer after an interrupt": {
    log: [input, output, trace, interrupt, second("steer")],
    says: /steer after an interrupt/,
  },
  "a model call after a stopped tool": {
    log: [...called(interrupt, at("tool_result")), second("output")],
    says: /in a turn that was cut/,
  },
  "a second reply after an interrupt": {
    log: [input, ["interrupt"], output, trace, second("output")],
    says: /in a turn that was cut/,
  },
  "a step after a reply that failed": {
    log: [
      input,
      at("output", { interrupted: true }),
      at("agent_trace", { finishReason: "error" }),
      second("output"),
    ],
    says: /in a turn that was cut/,
  },
  "a cut reply that does not say so": {
    log: [input, output, at("agent_trace", { finishReason: "interrupted" })],
    says: /texts disagree/,
  },
  "a whole reply that says it was cut": {
    log: [input, at("output", { interrupted: true }), trace],
    says: /texts disagree/,
  },
  "a cut reply with calls": {
    log: [input, calls, at("agent_trace", { finishReason: "interrupted" })],
    says: /calls of a reply that was cut/,
  },
  // one outcome
  "an end that forgets a prompt": { log: [input, at("steer"), output, trace, stop], says: /other prompts/ },
  "an end that names a stranger": {
    log: [input, output, trace, at("agent_stop", { promptIds: ["p1", "p9"] })],
    says: /other prompts/,
  },
  "a prompt that opens two turns": {
    log: [input, ...answer, ["input", { turn: 2 }]],
    says: /prompt p1 comes twice/,
  },
  "a prompt dropped after its turn": {
    log: [input, ...answer, at("prompt_dropped", { promptId: "p1" })],
    says: /prompt p1 comes twice/,
  },
  "a prompt dropped in its turn": {
    log: [input, ["prompt_dropped", { promptId: "p1" }]],
    says: /prompt p1 comes twice/,
  },
  "a dropped prompt that runs": {
    log: [["prompt_dropped", { turn: 0, promptId: "p1" }], input],
    says: /prompt p1 comes twice/,
  },
  "a prompt steered into its own turn": {
    log: [input, at("steer", { promptId: "p1" })],
    says: /prompt p1 comes twice/,
  },
};

describe("the grammar of a log", () => {
  it.each(Object.entries(GOOD))("[LOG-1] accepts %s", (_, lines) => {
    const log = logOf(...lines);
    for (let length = 0; length <= log.length; length += 1)
      expect(checkLog(log.slice(0, length))).toEqual([]);
  });

  it.each(Object.entries(BAD))("[LOG-1] flags %s", (_, { log: lines, says }) => {
    const log: DurableEvent[] = logOf(...lines);
    // What precedes the last event is in order: the last event alone is what is flagged.
    expect(checkLog(log.slice(0, -1))).toEqual([]);
    const violations = checkLog(log);
    expect(violations.map(({ at: place }) => place)).toEqual(violations.map(() => log.length - 1));
    expect(violations.map(({ message }) => message).join("\n")).toMatch(says);
  });
});
