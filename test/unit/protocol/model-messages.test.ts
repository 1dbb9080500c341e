import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { toModelMessages } from "../../../src/runtime/protocol/model-messages.ts";
import type { ModelMessage } from "../../../src/runtime/protocol/model-messages.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";
import { corruptLogs, cutLogs, wellFormedLogs } from "../support/log-generator.ts";

/** What every provider asks of a history. Written without a look at the fold. */
function problemsOf(messages: readonly ModelMessage[]): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  let due: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const expected = due.shift();
      if (message.callId !== expected) problems.push(`result of ${message.callId}, due is ${expected}`);
      continue;
    }
    if (due.length > 0) problems.push(`no result of ${due.join()} before a ${message.role} message`);
    if (message.role === "user") {
      if (message.content.length === 0) problems.push("empty user message");
      continue;
    }
    const text = message.blocks.some(({ kind, text: shown }) => kind === "text" && shown !== "");
    if (!text && message.calls.length === 0) problems.push("empty assistant message");
    for (const { id, args } of message.calls) {
      if (seen.has(id)) problems.push(`call ${id} comes twice`);
      seen.add(id);
      const object = typeof args === "object" && args !== null && !Array.isArray(args);
      if (!object) problems.push(`arguments of ${id} are no object`);
      if (object && JSON.stringify(JSON.parse(JSON.stringify(args))) !== JSON.stringify(args))
        problems.push("no JSON");
    }
    due = message.calls.map(({ id }) => id);
  }
  if (due.length > 0) problems.push(`no result of ${due.join()} at the end`);
  return problems;
}

describe("model messages", () => {
  it("[LOG-7] are valid at every cut of a well-formed log", () => {
    fc.assert(
      fc.property(cutLogs, (log) => {
        expect(problemsOf(toModelMessages(log))).toEqual([]);
      }),
      { numRuns: 1_500 },
    );
  });

  it("[LOG-7] are valid for every corrupt log", () => {
    fc.assert(
      fc.property(corruptLogs, (log) => {
        expect(problemsOf(toModelMessages(log))).toEqual([]);
      }),
      { numRuns: 1_500 },
    );
  });

  it("[LOG-8] keep every call, result and prompt of a log without summaries and restores", () => {
    const plain = wellFormedLogs.filter(
      (log) => !log.some(({ type }) => type === "agent_summary" || type === "checkpoint_restore"),
    );
    fc.assert(
      fc.property(plain, (log) => {
        const own = log.filter(({ agentId }) => agentId === undefined);
        const messages = toModelMessages(log);
        const ids = own.flatMap((event) =>
          event.type === "tool_calls" ? event.calls.map(({ id }) => id) : [],
        );
        const results = messages.flatMap((message) => (message.role === "tool" ? [message] : []));
        expect(results.map(({ callId }) => callId)).toEqual(ids);
        for (const result of results) {
          const written = own.find((event) => event.type === "tool_result" && event.callId === result.callId);
          expect(written).toMatchObject({ content: result.content, isError: result.isError });
        }
        const asked = own.filter(({ type }) => ["input", "steer", "background_completed"].includes(type));
        expect(messages.filter(({ role }) => role === "user")).toHaveLength(asked.length);
      }),
      { numRuns: 300 },
    );
  });

  it("[LOG-8] give the model the same input after a restart: results in call order, not in the order they came", () => {
    fc.assert(
      fc.property(wellFormedLogs, (log) => {
        const restarted: DurableEvent[] = JSON.parse(JSON.stringify(log));
        expect(JSON.stringify(toModelMessages(restarted))).toBe(JSON.stringify(toModelMessages(log)));
      }),
      { numRuns: 100 },
    );
    const calls = ["a", "b"].map((id) => ({ id, name: "read_file", args: {} }));
    const log = logOf(
      ["input"],
      ["tool_calls", { step: 1, calls }],
      ["agent_trace", { step: 1, finishReason: "tool_calls" }],
      ["tool_result", { step: 1, callId: "b", content: "of b" }],
      ["tool_result", { step: 1, callId: "a", content: "of a" }],
    );
    expect(toModelMessages(log).slice(2)).toMatchObject([{ content: "of a" }, { content: "of b" }]);
  });
});

describe("one message", () => {
  const reply = (...lines: Line[]): ModelMessage[] => toModelMessages(logOf(["input"], ...lines)).slice(1);
  const calls = (call: Record<string, unknown>): Line => [
    "tool_calls",
    { step: 1, calls: [{ id: "a", name: "read_file", args: {}, ...call }] },
  ];

  it("[LOG-7] answers a call without a result as an error", () => {
    const [assistant, result] = reply(calls({ args: { path: "x" } }));
    expect(assistant).toMatchObject({
      role: "assistant",
      blocks: [],
      calls: [{ id: "a", args: { path: "x" } }],
    });
    expect(result).toMatchObject({ role: "tool", callId: "a", isError: true });
  });

  it("[LOG-7] sends the arguments of a malformed call as an empty object", () => {
    expect(reply(calls({ args: { path: "x" }, malformed: '{"path": "x' }))[0]).toMatchObject({
      calls: [{ args: {} }],
    });
  });

  it("gives the model its intent back", () => {
    const [assistant] = reply(calls({ args: { path: "x" }, intent: "look" }));
    expect(assistant).toMatchObject({ calls: [{ args: { _intent: "look", path: "x" } }] });
  });

  it("keeps provider data byte for byte and the order of blocks", () => {
    const providerData = { signature: "Zm9v\u0000\ud800", nested: [1, { id: "rs_1" }] };
    const [assistant] = reply(
      ["thought", { step: 1, block: 0, text: "", providerData }],
      ["output", { step: 1, block: 1, text: "one" }],
      ["thought", { step: 1, block: 2, text: "then" }],
      ["output", { step: 1, block: 3, text: "two" }],
    );
    expect(assistant).toEqual({
      role: "assistant",
      blocks: [
        { kind: "thought", text: "", providerData },
        { kind: "text", text: "one" },
        { kind: "thought", text: "then" },
        { kind: "text", text: "two" },
      ],
      calls: [],
    });
  });

  it("[LOG-7] leaves out a reply of thoughts alone, and one of empty text", () => {
    expect(reply(["thought", { step: 1, text: "hm", interrupted: true }])).toEqual([]);
    expect(reply(["output", { step: 1, text: "" }])).toEqual([]);
  });

  it("[LOG-7] leaves out results without a call", () => {
    expect(reply(["tool_result", { step: 1, callId: "nobody" }])).toEqual([]);
  });

  it("[LOG-7] keeps the first of two calls with one id", () => {
    const again: Line = ["tool_calls", { step: 2, calls: [{ id: "a", name: "other", args: {} }] }];
    const messages = reply(calls({}), ["tool_result", { step: 1, content: "first" }], again, [
      "tool_result",
      { step: 2, content: "second" },
    ]);
    expect(messages).toHaveLength(2);
    expect(messages[1]).toMatchObject({ name: "read_file", content: "first" });
  });

  it("[LOG-7] keeps the calls of both of two lists in one step", () => {
    const more: Line = ["tool_calls", { step: 1, calls: [{ id: "b", name: "other", args: {} }] }];
    expect(reply(calls({}), more).map(({ role }) => role)).toEqual([
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
  });

  it("wraps what came from a background task, so that its text cannot close the wrapping", () => {
    const [message] = reply([
      "background_completed",
      { step: 1, content: "</background_task_completed>", label: '"' },
    ]);
    expect(message).toEqual({
      role: "user",
      content: [
        {
          type: "text",
          text: '<background_task_completed id="t" label="&quot;" status="completed">\n&lt;/background_task_completed&gt;\n</background_task_completed>',
        },
      ],
    });
  });
});
