import { describe, expect, it } from "vitest";
import { MemorySession } from "../../../src/runtime/session/memory-session.ts";
import { ALICE, Harness, echoTool, gate } from "../support/agent-harness.ts";

const call = (text: string) => ({ name: "echo", args: { text } });

/** An agent whose first turn waits in a tool until `open` is called. */
function busy(rest: { text: string }[] = [{ text: "one" }, { text: "two" }, { text: "three" }]) {
  const held = gate<{ content: string }>();
  const { tool } = echoTool({ run: () => held.opened });
  const h = new Harness([{ calls: [call("a")] }, ...rest], { tools: [tool] });
  return { h, open: () => held.open({ content: "a" }) };
}

describe("the queue", () => {
  it("[QUEUE-1] runs waiting prompts in order, one turn at a time, and says their places", async () => {
    const { h, open } = busy();
    expect(await h.start("first")).toEqual({ promptId: "p1", status: "running", position: 0, head: 1 });
    expect(await h.start("second")).toMatchObject({ promptId: "p2", status: "queued", position: 1 });
    expect(await h.start("third")).toMatchObject({ promptId: "p3", status: "queued", position: 2 });
    expect(h.last("queue").waiting.map(({ promptId }) => promptId)).toEqual(["p2", "p3"]);
    open();
    await h.finish();
    expect(h.all("agent_stop").map(({ promptIds }) => promptIds)).toEqual([["p1"], ["p2"], ["p3"]]);
    expect(h.last("queue").waiting).toEqual([]);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-2] answers the same prompt again as the first time, whatever became of it, and refuses another body", async () => {
    const { h, open } = busy();
    const first = await h.start({ text: "first", promptId: "one" });
    const second = await h.start({ text: "second", promptId: "two" });
    expect(await h.start({ text: "first", promptId: "one" })).toEqual(first);
    expect(await h.start({ text: "second", promptId: "two" })).toEqual(second);
    await expect(h.submit({ text: "other", promptId: "two" })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    open();
    await h.finish();
    expect(await h.start({ text: "first", promptId: "one" })).toEqual(first);
    expect(await h.start({ text: "second", promptId: "two" })).toEqual(second);
    expect(h.all("input")).toHaveLength(2);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-3] takes steers, all in order, in the commit of the last result", async () => {
    const { h, open } = busy([{ text: "done" }]);
    await h.start("first");
    await h.start({ text: "left", mode: "steer" });
    await h.start({ text: "right", mode: "steer" });
    open();
    await h.finish();
    expect(h.types.slice(4, 7)).toEqual(["tool_result", "steer", "steer"]);
    expect(h.last("agent_stop").promptIds).toEqual(["p1", "p2", "p3"]);
    expect(h.model.requests).toHaveLength(2);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-4] takes a follow-up at a new step once the model has answered without calls", async () => {
    const { h, open } = busy([{ text: "answer" }, { text: "more" }]);
    await h.start("first");
    await h.start({ text: "and then?", mode: "follow_up" });
    open();
    await h.finish();
    expect(h.last("steer")).toMatchObject({ mode: "follow_up", turn: 1, step: 3 });
    expect(h.all("agent_stop")).toHaveLength(1);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-5] makes a steer that missed the turn a turn of its own, ahead of the queue", async () => {
    const h = new Harness([{ text: "one", delayMs: 100 }, { text: "two" }, { text: "three" }]);
    await h.start("first");
    await h.start("queued");
    await h.start({ text: "late", mode: "steer" });
    await h.finish();
    expect(h.all("agent_stop").map(({ promptIds }) => promptIds)).toEqual([["p1"], ["p3"], ["p2"]]);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-6] stops the turn for a prompt of mode interrupt and runs it next", async () => {
    const { h } = busy([{ text: "now" }, { text: "later" }]);
    await h.start("first");
    await h.start("queued");
    expect(await h.start({ text: "now", mode: "interrupt" })).toMatchObject({
      status: "queued",
      position: 1,
    });
    await h.finish();
    expect(h.all("agent_stop").map(({ reason, promptIds }) => ({ reason, promptIds }))).toEqual([
      { reason: "aborted", promptIds: ["p1"] },
      { reason: "stop", promptIds: ["p3"] },
      { reason: "stop", promptIds: ["p2"] },
    ]);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-7] refuses a prompt of mode reject while a turn runs, and takes it when idle", async () => {
    const { h, open } = busy();
    await h.start("first");
    await expect(h.submit({ text: "no", mode: "reject" })).rejects.toMatchObject({ code: "busy" });
    open();
    await h.finish();
    await h.start({ text: "yes", mode: "reject" });
    await h.finish();
    expect(h.all("agent_stop")).toHaveLength(2);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-8] withdraws a waiting prompt, whose id stays taken, and only a waiting one", async () => {
    const { h, open } = busy();
    await h.start("first");
    await h.start({ text: "second", promptId: "two" });
    await h.agent.withdraw("two", ALICE);
    expect(() => h.agent.withdraw("two", ALICE)).toThrowError(expect.objectContaining({ code: "not_found" }));
    expect(() => h.agent.withdraw("p1", ALICE)).toThrowError(expect.objectContaining({ code: "not_found" }));
    open();
    await h.finish();
    expect(h.last("prompt_dropped")).toMatchObject({ promptId: "two", reason: "withdrawn", by: ALICE });
    await h.start({ text: "second", promptId: "two" });
    await h.finish();
    expect(h.all("input")).toHaveLength(1);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-9] refuses a prompt beyond the limit and keeps those it accepted", async () => {
    const held = gate<{ content: string }>();
    const { tool } = echoTool({ run: () => held.opened });
    const h = new Harness([{ calls: [call("a")] }, { text: "1" }, { text: "2" }, { text: "3" }], {
      tools: [tool],
      limits: { waitingPrompts: 2 },
    });
    await h.start("first");
    await h.start("second");
    await h.start("third");
    await expect(h.submit("fourth")).rejects.toMatchObject({ code: "queue_full" });
    held.open({ content: "a" });
    await h.finish();
    expect(h.all("agent_stop")).toHaveLength(3);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-10] keeps what waits through a crash, in order, and gives each prompt one outcome", async () => {
    const { h } = busy();
    await h.start("first");
    await h.start("second");
    await h.start({ text: "third", mode: "steer" });
    // The process dies: nothing of the agent is left but its session.
    const after = new Harness([{ text: "one" }, { text: "two" }], { session: h.session });
    after.agent.resume(1);
    await after.finish();
    const stops = after.log.filter((event) => event.type === "agent_stop");
    expect(stops.map(({ promptIds }) => promptIds)).toEqual([["p1", "p3"], ["p2"]]);
    expect(after.violations()).toEqual([]);
  });

  it("[QUEUE-11] lets several callers prompt at once without mixing their turns", async () => {
    const h = new Harness(() => ({ text: ["o", "k"], delayMs: 1 }));
    await Promise.all(Array.from({ length: 20 }, (_, index) => h.submit(`prompt ${index}`)));
    await h.finish();
    expect(h.all("agent_stop").map(({ promptIds }) => promptIds.length)).toEqual(
      Array.from({ length: 20 }, () => 1),
    );
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-12] refuses a prompt whose content is larger than allowed", async () => {
    const h = new Harness([]);
    await expect(h.submit("x".repeat(256 * 1024))).rejects.toMatchObject({ code: "prompt_too_large" });
    expect(h.log).toEqual([]);
    expect(h.violations()).toEqual([]);
  });

  it("[QUEUE-13] opens a new conversation on reset, and only when nothing runs or waits", async () => {
    const h = new Harness([{ text: "one" }, { text: "two" }]);
    await h.start("first");
    await h.finish();
    await h.agent.reset(ALICE);
    await h.start("second");
    await expect(h.agent.reset(ALICE)).resolves.toBeUndefined();
    await h.finish();
    expect(h.model.requests[1]?.messages).toHaveLength(1);
    expect(h.violations()).toEqual([]);
    expect(new MemorySession("empty").read(0)).toEqual([]);
  });
});
