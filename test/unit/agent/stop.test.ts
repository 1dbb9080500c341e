import { describe, expect, it } from "vitest";
import { ALICE, Harness, echoTool, gate } from "../support/agent-harness.ts";
import { settled } from "../support/fake-time.ts";

const call = (text: string) => ({ name: "echo", args: { text } });

describe("stopping a turn", () => {
  it("[STOP-1] writes the interrupt before it aborts, keeps the text that was shown, and runs the next prompt", async () => {
    const h = new Harness([{ text: ["shown ", "text"], end: "hang" }, { text: "next" }]);
    await h.start("go");
    await h.start("queued");
    expect(await h.agent.interrupt({ by: ALICE, reason: "enough" })).toEqual({ interrupted: true, turn: 1 });
    await h.finish();
    const first = h.log.filter(({ turn }) => turn === 1);
    expect(first.map(({ type }) => type)).toEqual([
      "input",
      "interrupt",
      "output",
      "agent_trace",
      "agent_stop",
    ]);
    expect(first[2]).toMatchObject({ text: "shown text", interrupted: true });
    expect(h.all("agent_stop")).toMatchObject([
      { reason: "aborted", cause: "user", message: "enough" },
      { reason: "stop", turn: 2 },
    ]);
    expect(h.violations()).toEqual([]);
  });

  it("[STOP-2] ends at once when the model ignores its signal", async () => {
    const h = new Harness([{ text: "shown", end: "hang_ignoring_abort" }]);
    await h.start("go");
    await h.agent.interrupt({ by: ALICE });
    await settled();
    expect(h.last("agent_stop").reason).toBe("aborted");
    expect(h.violations()).toEqual([]);
  });

  it("[STOP-3] settles within the grace when a tool ignores its signal, and fences off what it does later", async () => {
    const held = gate<{ content: string }>();
    const { tool } = echoTool({ run: () => held.opened });
    const h = new Harness([{ calls: [call("a")] }, { text: "next" }], {
      tools: [tool],
      limits: { stopGraceMs: 2_000 },
    });
    await h.start("go");
    await h.agent.interrupt({ by: ALICE });
    await h.time.pass(1_999);
    expect(h.all("agent_stop")).toEqual([]);
    await h.time.pass(1);
    expect(h.last("tool_result")).toMatchObject({ code: "outcome_unknown", isError: true });
    expect(h.last("agent_stop").reason).toBe("aborted");
    held.open({ content: "late" });
    await h.start("next");
    await h.finish();
    expect(h.last("diagnostic").code).toBe("late_result");
    expect(h.last("agent_stop")).toMatchObject({ turn: 2, reason: "stop" });
    expect(h.violations()).toEqual([]);
  });

  it("[STOP-4] keeps what a tool returns within the grace and gives calls that never began their result", async () => {
    const held = gate<{ content: string }>();
    const { tool, runs } = echoTool({ run: () => held.opened });
    const calls = [call("a"), call("b")];
    const h = new Harness([{ calls }], { tools: [tool], limits: { parallelCalls: 1 } });
    await h.start("go");
    await h.agent.interrupt({ by: ALICE });
    held.open({ content: "in time" });
    await h.finish();
    expect(runs).toEqual(["a"]);
    expect(
      h.all("tool_result").map(({ callId, content, code }) => ({ callId, content, code })),
    ).toMatchObject([
      { callId: "call_1_1_0", content: "in time" },
      { callId: "call_1_1_1", code: "not_executed" },
    ]);
    expect(h.violations()).toEqual([]);
  });

  it("[STOP-5] does nothing when idle, for an earlier turn, or a second time", async () => {
    const held = gate<{ content: string }>();
    const { tool } = echoTool({ run: () => held.opened });
    const h = new Harness([{ text: "one" }, { calls: [call("a")] }], { tools: [tool] });
    expect(await h.agent.interrupt({ by: ALICE })).toEqual({ interrupted: false, turn: 0 });
    await h.start("go");
    await h.finish();
    await h.start("again");
    expect(await h.agent.interrupt({ by: ALICE, turn: 1 })).toEqual({ interrupted: false, turn: 2 });
    expect(h.all("interrupt")).toEqual([]);
    await h.agent.interrupt({ by: ALICE, turn: 2 });
    expect(await h.agent.interrupt({ by: ALICE, turn: 2 })).toEqual({ interrupted: true, turn: 2 });
    await h.finish();
    expect(h.all("interrupt")).toHaveLength(1);
    expect(h.violations()).toEqual([]);
  });

  it("[STOP-6] drops what waits when it is asked to clear the queue", async () => {
    const h = new Harness([{ text: "x", end: "hang" }]);
    await h.start("go");
    await h.start("second");
    await h.start("third");
    await h.agent.interrupt({ by: ALICE, clearQueue: true });
    await h.finish();
    expect(h.all("prompt_dropped")).toMatchObject([
      { promptId: "p2", reason: "cleared", by: ALICE },
      { promptId: "p3", reason: "cleared", by: ALICE },
    ]);
    expect(h.all("agent_stop")).toHaveLength(1);
    expect(h.violations()).toEqual([]);
  });

  it("[STOP-7] does not resume a stopped turn after a crash, and calls no model", async () => {
    const held = gate<{ content: string }>();
    const { tool } = echoTool({ run: () => held.opened });
    const h = new Harness([{ calls: [call("a")] }], { tools: [tool] });
    await h.start("go");
    await h.agent.interrupt({ by: ALICE });
    const after = new Harness([], { session: h.session, tools: [echoTool().tool] });
    after.agent.resume(1);
    await after.finish();
    expect(after.model.requests).toEqual([]);
    expect(after.types.slice(-4)).toEqual(["interrupt", "tool_recovered", "tool_result", "agent_stop"]);
    expect(after.last("agent_stop").reason).toBe("aborted");
    expect(after.violations()).toEqual([]);
  });

  it("[STOP-8] stops the turn of a consumer that leaves its iteration", async () => {
    const h = new Harness([{ text: ["a", "b", "c"], end: "hang" }]);
    for await (const event of h.agent.run("go")) if (event.type === "text_delta") break;
    await h.finish();
    expect(h.last("agent_stop").reason).toBe("aborted");
    expect(h.violations()).toEqual([]);
  });

  it("[STOP-9] lets go of a turn on close without ending it, and another process goes on", async () => {
    const h = new Harness([{ text: "x", end: "hang" }]);
    await h.start("go");
    await h.agent.close();
    await h.agent.close();
    expect(h.types).toEqual(["input"]);
    const after = new Harness([{ text: "whole" }], { session: h.session });
    after.agent.resume(1);
    await after.finish();
    expect(after.last("output")).toMatchObject({ text: "whole", attempt: 1001 });
    expect(after.violations()).toEqual([]);
  });
});
