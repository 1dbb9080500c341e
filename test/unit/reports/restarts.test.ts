import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { checkLog } from "../../../src/runtime/protocol/log-grammar.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { toModelMessages } from "../../../src/runtime/protocol/model-messages.ts";
import { EMPTY_VIEW, applyFrame } from "../../../src/runtime/protocol/session-view.ts";
import { MemorySession } from "../../../src/runtime/session/memory-session.ts";
import { ALICE, Harness, echoTool, gate } from "../support/agent-harness.ts";
import { logOf } from "../support/log-builder.ts";
import { cutLogs } from "../support/log-generator.ts";

const call = (text: string) => ({ name: "echo", args: { text } });

/** Whether a log ends where one commit ends: the parts of a reply, and what cut it, are written together. */
function endsWithCommit(log: readonly DurableEvent[]): boolean {
  const last = log.at(-1);
  if (last?.type === "agent_trace")
    return last.finishReason !== "interrupted" && last.finishReason !== "error";
  return last?.type !== "thought" && last?.type !== "output" && last?.type !== "tool_calls";
}

describe("a session that is opened again", () => {
  it("[LOG-70] takes the next prompt to its outcome, wherever its log ends", async () => {
    const { tool } = echoTool({ name: "read_file", idempotent: true, schema: z.object({}) });
    await fc.assert(
      fc.asyncProperty(cutLogs, async (log) => {
        const session = new MemorySession("s");
        session.append({ events: log });
        const h = new Harness(() => ({ text: "ok" }), { session, tools: [tool] });
        h.agent.resume(1);
        await h.finish();
        if (h.agent.getState().status === "waiting") await h.agent.interrupt({ by: ALICE });
        await h.start({ text: "next", promptId: "next" });
        await h.finish();
        expect(h.log.at(-1)).toMatchObject({ type: "agent_stop", promptIds: ["next"], reason: "stop" });
        expect(h.agent.failure).toBeNull();
        if (endsWithCommit(log)) expect(checkLog(h.log)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it("[LOG-71] keeps its turn's number and prompts through restarts, and whoever follows ends with the reply alone", async () => {
    const streaming = { text: ["shown ", "and lost"], end: "hang" } as const;
    const first = new Harness([streaming]);
    await first.start("go");
    const second = new Harness([streaming], { session: first.session });
    second.agent.resume(1);
    await second.time.pass(1);
    const third = new Harness([{ text: "whole" }], { session: first.session });
    third.agent.resume(2);
    await third.finish();
    const told = [...first.told, ...second.told, ...third.told];
    expect(new Set(told.map(({ turn }) => turn))).toEqual(new Set([1]));
    expect(told.flatMap((event) => (event.type === "model_call_start" ? event.attempt : []))).toEqual([
      1, 1001, 2001,
    ]);
    expect(third.all("agent_stop")).toMatchObject([{ promptIds: ["p1"], reason: "stop" }]);
    const view = told.reduce(applyFrame, EMPTY_VIEW);
    expect(view).toMatchObject({ blocks: [], gap: false, events: third.log });
    expect(third.log.flatMap((event) => (event.type === "output" ? event.text : []))).toEqual(["whole"]);
  });

  it("[LOG-72] calls its model once more when it died before the first delta", async () => {
    const before = new Harness([{ end: "hang" }, { text: "must not be asked for" }]);
    await before.start("go");
    expect(before.told.at(-1)?.type).toBe("model_call_start");
    const after = new Harness([{ text: "ok" }, { text: "must not be asked for" }], {
      session: before.session,
    });
    after.agent.resume(1);
    await after.finish();
    expect([before.model.requests.length, after.model.requests.length]).toEqual([1, 1]);
    expect(after.types).toEqual(["input", "output", "agent_trace", "agent_stop"]);
    expect(after.violations()).toEqual([]);
  });

  it("[LOG-74] adds what it goes on with to its own turn, and leaves the reply before it alone", async () => {
    const before = new Harness([{ text: "one" }, { text: ["par", "tial"], end: "hang" }]);
    await before.start("first");
    await before.finish();
    await before.start("second");
    const after = new Harness([{ text: "two" }], { session: before.session });
    after.agent.resume(1);
    await after.finish();
    const replies = toModelMessages(after.log).map((message) =>
      message.role === "assistant" ? message.blocks.map(({ text }) => text) : message.role,
    );
    expect(replies).toEqual(["user", ["one"], "user", ["two"]]);
    expect(after.last("output")).toMatchObject({ turn: 2, step: 1 });
    expect(after.violations()).toEqual([]);
  });

  it("[TURN-21] says of a call once that its outcome is unknown, however often it is opened", async () => {
    const { tool, runs } = echoTool({ run: () => gate<{ content: string }>().opened });
    const before = new Harness([{ calls: [call("a")] }], { tools: [tool] });
    await before.start("go");
    for (let wake = 1; wake <= 3; wake += 1) {
      const again = new Harness([{ end: "hang" }], { session: before.session, tools: [tool] });
      again.agent.resume(wake);
      await again.time.pass(1);
      const results = again.model.requests[0]?.messages.filter(({ role }) => role === "tool");
      expect(results).toMatchObject([{ callId: "call_1_1_0", isError: true }]);
    }
    expect(runs).toEqual(["a"]);
    const types = before.session.read(0).map(({ type }) => type);
    expect(types.filter((type) => type === "tool_result")).toHaveLength(1);
    expect(types.filter((type) => type === "tool_recovered")).toHaveLength(1);
    expect(checkLog(before.session.read(0))).toEqual([]);
  });

  it.each([[null], [""], [[]], ["x"], [7], [[1]]])(
    "[LOG-7] works with stored arguments that are no object: %j",
    async (args) => {
      const calls = [{ id: "call_1_1_0", name: "echo", args }];
      const session = new MemorySession("s");
      session.append({
        events: logOf(["input"], ["tool_calls", { step: 1, calls }], ["agent_trace", { step: 1 }]),
      });
      const { tool } = echoTool();
      const h = new Harness([{ text: "ok" }, { text: "ok" }], { session, tools: [tool] });
      h.agent.resume(1);
      await h.finish();
      await h.start({ text: "next", promptId: "next" });
      await h.finish();
      expect(h.all("agent_stop").map(({ reason }) => reason)).toEqual(["stop", "stop"]);
      for (const { messages } of h.model.requests) {
        const [, assistant, result] = messages;
        expect(assistant?.role === "assistant" && assistant.calls.map((one) => one.args)).toEqual([{}]);
        expect(result).toMatchObject({ role: "tool", callId: "call_1_1_0", isError: true });
      }
    },
  );
});
