import { describe, expect, it } from "vitest";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import { nextAction } from "../../../src/runtime/loop/next-action.ts";
import { foldSession } from "../../../src/runtime/protocol/session-fold.ts";
import { Harness, echoTool, gate } from "../support/agent-harness.ts";

const call = (text: string) => ({ name: "echo", args: { text, _intent: "to see" } });

describe("a turn", () => {
  it("[TURN-1] is input, steps and exactly one agent_stop", async () => {
    const { tool } = echoTool();
    const h = new Harness([{ thought: "hm", text: "look", calls: [call("a")] }, { text: ["do", "ne"] }], {
      tools: [tool],
    });
    await h.start("go");
    await h.finish();
    expect(h.types).toEqual([
      "input",
      "thought",
      "output",
      "tool_calls",
      "agent_trace",
      "tool_call_start",
      "tool_result",
      "output",
      "agent_trace",
      "agent_stop",
    ]);
    expect(h.last("agent_stop")).toMatchObject({
      reason: "stop",
      cause: "model",
      promptIds: ["p1"],
      turn: 1,
      step: 2,
    });
    expect(h.last("done")).toMatchObject({ reason: "stop", result: { text: "done" } });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-2] keeps the intent apart from the arguments and shows it to the model again", async () => {
    const { tool } = echoTool();
    const h = new Harness([{ calls: [call("a")] }, { text: "ok" }], { tools: [tool] });
    await h.start("go");
    await h.finish();
    expect(h.last("tool_calls").calls).toEqual([
      { id: "call_1_1_0", name: "echo", args: { text: "a" }, intent: "to see" },
    ]);
    const sent = h.model.requests[1]?.messages;
    expect(sent?.[1]).toMatchObject({
      role: "assistant",
      calls: [{ args: { _intent: "to see", text: "a" } }],
    });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-3] answers every call that cannot run with an error result and goes on", async () => {
    const { tool } = echoTool({
      run: (text) => (text === "throw" ? Promise.reject(new Error("broken")) : { content: text }),
    });
    const calls = [
      { name: "nothing", args: {} },
      { name: "echo", malformed: '{"text": "a' },
      { name: "echo", args: { text: 7 } },
      call("throw"),
      { name: "__proto__", args: {} },
    ];
    const h = new Harness([{ calls }, { text: "ok" }], { tools: [tool] });
    await h.start("go");
    await h.finish();
    const results = h.all("tool_result").sort((a, b) => a.callId.localeCompare(b.callId));
    expect(results.map(({ code }) => code)).toEqual([
      "unknown_tool",
      "malformed_arguments",
      "invalid_arguments",
      "tool_failed",
      "unknown_tool",
    ]);
    expect(h.all("tool_call_start").map(({ callId }) => callId)).toEqual(["call_1_1_2", "call_1_1_3"]);
    expect(h.last("agent_stop").reason).toBe("stop");
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-4] runs at most parallelCalls calls at once and one that runs alone alone", async () => {
    const gates = new Map<string, ReturnType<typeof gate<void>>>();
    const running: string[] = [];
    const run = async (text: string) => {
      running.push(text);
      const opened = gate<void>();
      gates.set(text, opened);
      await opened.opened;
      running.splice(running.indexOf(text), 1);
      return { content: text };
    };
    const together = echoTool({ run }).tool;
    const alone = echoTool({ run, name: "alone", parallel: false }).tool;
    const calls = [call("a"), call("b"), call("c"), { name: "alone", args: { text: "d" } }, call("e")];
    const h = new Harness([{ calls }, { text: "ok" }], {
      tools: [together, alone],
      limits: { parallelCalls: 2 },
    });
    const release = async (text: string) => {
      gates.get(text)?.open();
      await h.time.pass(1);
    };
    await h.start("go");
    expect(running).toEqual(["a", "b"]);
    await release("b");
    expect(running).toEqual(["a", "c"]);
    await release("a");
    expect(running).toEqual(["c"]);
    await release("c");
    expect(running).toEqual(["d"]);
    await release("d");
    expect(running).toEqual(["e"]);
    await release("e");
    await h.finish();
    const results = h.model.requests[1]?.messages.filter((message) => message.role === "tool");
    expect(results?.map((message) => message.content)).toEqual(["a", "b", "c", "d", "e"]);
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-5] ends with max_steps when the model never stops calling", async () => {
    const { tool } = echoTool();
    const h = new Harness(() => ({ calls: [call("again")] }), { tools: [tool], maxSteps: 3 });
    await h.start("go");
    await h.finish();
    expect(h.model.requests).toHaveLength(3);
    expect(h.last("agent_stop")).toMatchObject({ reason: "max_steps", cause: "policy" });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-6] ends with budget before the model call that would exceed it", async () => {
    const { tool } = echoTool();
    const usage = { input: 60, output: 0, cachedInput: 0, reasoning: 0 };
    const h = new Harness(() => ({ calls: [call("again")], usage }), {
      tools: [tool],
      budget: { turnTokens: 100 },
    });
    await h.start("go");
    await h.finish();
    // The first call tells what the next one is expected to take.
    expect(h.model.requests).toHaveLength(1);
    expect(h.last("agent_stop")).toMatchObject({ reason: "budget", cause: "policy", usage: { input: 60 } });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-6] makes the first call of a turn with whatever is left, and none once nothing is", async () => {
    const usage = { input: 60, output: 20, cachedInput: 50, reasoning: 10 };
    const h = new Harness(() => ({ text: "ok", usage }), { budget: { sessionTokens: 100 } });
    for (const prompt of ["one", "two", "three"]) {
      await h.start(prompt);
      await h.finish();
    }
    // Cached and reasoning tokens are parts of the others and count once.
    expect(h.all("agent_stop").map(({ reason }) => reason)).toEqual(["stop", "stop", "budget"]);
    expect(h.agent.fold.usage).toMatchObject({ input: 120, output: 40 });
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-46] estimates what the provider does not count, and says so in the trace", async () => {
    const { tool } = echoTool();
    const h = new Harness(() => ({ calls: [call("again")] }), { tools: [tool], budget: { turnTokens: 200 } });
    await h.start("word ".repeat(100));
    await h.finish();
    const traces = h.all("agent_trace");
    expect(traces.every(({ estimated }) => estimated)).toBe(true);
    expect(traces[0]?.usage.input).toBeGreaterThan(100);
    expect(h.last("agent_stop").reason).toBe("budget");
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-46] estimates what a call has used that is stopped before it shows anything", async () => {
    const h = new Harness([{ end: "hang" }]);
    await h.start("word ".repeat(100));
    await h.agent.interrupt("enough");
    await h.finish();
    expect(h.types).toEqual(["input", "interrupt", "agent_trace", "agent_stop"]);
    expect(h.last("agent_trace")).toMatchObject({ finishReason: "interrupted", estimated: true });
    expect(h.last("agent_stop").usage.input).toBeGreaterThan(100);
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-46] counts nothing for a call that is stopped between two tries, the first refused", async () => {
    const h = new Harness([{ error: new ModelError("model_unavailable", "down") }]);
    await h.start("go");
    await h.agent.interrupt("enough");
    await h.finish();
    expect(h.types).toEqual(["input", "interrupt", "agent_stop"]);
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-5] keeps calls apart whose provider gives the same ids in every reply", async () => {
    const { tool } = echoTool();
    const calls = ["a", "b"].map((text) => ({ ...call(text), id: "call_0" }));
    const h = new Harness([{ calls }, { calls }, { text: "ok" }, { calls }, { text: "ok" }], {
      tools: [tool],
    });
    for (const prompt of ["one", "two"]) {
      await h.start(prompt);
      await h.finish();
    }
    const results = h.log.flatMap((event) => (event.type === "tool_result" ? [event.callId] : []));
    expect(new Set(results).size).toBe(6);
    const { messages } = h.model.requests.at(-1) ?? { messages: [] };
    const pairs = messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));
    expect(pairs).toEqual(["a", "b", "a", "b", "a", "b"]);
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-46] estimates what a stopped call has used", async () => {
    const h = new Harness([{ text: "word ".repeat(100), end: "hang" }]);
    await h.start("go");
    await h.agent.interrupt("enough");
    await h.finish();
    expect(h.last("agent_trace")).toMatchObject({ finishReason: "interrupted", estimated: true });
    expect(h.last("agent_trace").usage.output).toBeGreaterThan(100);
    expect(h.last("agent_stop").usage).toEqual(h.last("agent_trace").usage);
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-7] withdraws the text of a failed attempt and tries again", async () => {
    const h = new Harness([
      { text: ["par", "tial"], error: new ModelError("model_transport", "lost") },
      { text: "whole" },
    ]);
    await h.start("go");
    await h.finish();
    expect(h.last("attempt_reset")).toMatchObject({ attempt: 1, reason: "model_transport" });
    expect(h.all("error")).toMatchObject([{ code: "model_transport", fatal: false }]);
    expect(h.last("output")).toMatchObject({ text: "whole", attempt: 2 });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-8] keeps the last attempt's text, marked as interrupted, before the error that ends the turn", async () => {
    const failing = { text: "par", error: new ModelError("model_transport", "lost") };
    const h = new Harness(() => failing);
    await h.start("go");
    await h.finish();
    expect(h.model.requests).toHaveLength(4);
    expect(h.types).toEqual(["input", "output", "agent_trace", "error", "agent_stop"]);
    expect(h.last("output")).toMatchObject({ text: "par", interrupted: true, attempt: 4 });
    expect(h.last("agent_stop")).toMatchObject({ reason: "error", cause: "model", message: "lost" });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-8] stops at once on a failure that would come again", async () => {
    const h = new Harness([{ error: new ModelError("model_auth", "The key was refused.") }]);
    await h.start("go");
    await h.finish();
    expect(h.model.requests).toHaveLength(1);
    expect(h.types).toEqual(["input", "error", "agent_stop"]);
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-9] runs no call of a reply that was cut by its length, and gives up after three in a row", async () => {
    const { tool, runs } = echoTool();
    const h = new Harness(() => ({ calls: [call("a")], finishReason: "length" }), { tools: [tool] });
    await h.start("go");
    await h.finish();
    expect(runs).toEqual([]);
    expect(h.model.requests).toHaveLength(3);
    expect(h.all("tool_result").map(({ code }) => code)).toEqual(["truncated", "truncated", "truncated"]);
    expect(h.last("step_end").stopReason).toBe("max_tokens");
    expect(h.last("agent_stop")).toMatchObject({ reason: "error", cause: "runtime" });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-14] chooses what a fold of the log chooses, before every commit", async () => {
    const { tool } = echoTool();
    const h = new Harness(
      [{ calls: [call("a"), call("b")] }, { text: "x", calls: [call("c")] }, { text: "ok" }],
      { tools: [tool] },
    );
    const heads: number[] = [];
    h.agent.subscribe(({ events }) => {
      const last = events.at(-1);
      if (last) heads.push(last.seq);
    });
    await h.start("go");
    await h.finish();
    const settings = {
      waiting: [],
      maxSteps: 50,
      parallelCalls: 10,
      budget: {},
      compactAt: null,
      stalls: 0,
      maxStalls: 5,
      gate: null,
      remembered: new Set<string>(),
      now: 0,
      requestMs: 1,
      tool: () => ({ parallel: true }),
    };
    const chosen = heads.map((head) => nextAction(foldSession(h.log.slice(0, head)), settings).type);
    expect(chosen).toEqual([
      "call_model",
      "finish_calls",
      "call_model",
      "finish_calls",
      "call_model",
      "rest",
    ]);
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-15] commits results that end together as one, and a step as two commits", async () => {
    const { tool } = echoTool();
    const h = new Harness([{ calls: [call("a"), call("b"), call("c")] }, { text: "ok" }], { tools: [tool] });
    const commits: number[] = [];
    h.agent.subscribe(({ events }) => {
      if (events.length > 0) commits.push(events.length);
    });
    await h.start("go");
    await h.finish();
    // input · calls, trace, three starts · three results · output, trace, stop
    expect(commits).toEqual([1, 5, 3, 3]);
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-16] fails the turn when the prompt's model does not exist, and tells why", async () => {
    const h = new Harness([], {
      model: () => {
        throw new ModelError("model_rejected", "No such model.");
      },
    });
    await h.start({ text: "go", model: "none/such" });
    await h.finish();
    expect(h.last("agent_stop")).toMatchObject({ reason: "error", message: "No such model." });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-18] waits in place for a short Retry-After, parked for a long one, and not at all beyond an hour", async () => {
    const limited = (retryAfterMs: number) =>
      new ModelError("rate_limited", "slow down", { status: 429, retryAfterMs });
    const h = new Harness([
      { error: limited(5_000) },
      { text: "lost", error: limited(600_000) },
      { text: "ok" },
    ]);
    await h.start("go");
    await h.time.pass(5_000);
    expect(h.model.requests).toHaveLength(2);
    expect(h.agent.getState().status).toBe("waiting");
    expect(h.agent.isAbandoned).toBe(false);
    expect(h.last("attempt_reset").reason).toBe("rate_limited");
    await h.submit({ text: "next", promptId: "next" });
    await h.time.pass(599_999);
    expect(h.model.requests).toHaveLength(2);
    await h.finish();
    expect(h.last("output")).toMatchObject({ text: "ok", attempt: 1001 });
    expect(h.violations()).toEqual([]);

    const beyond = new Harness([{ error: limited(3_600_001) }]);
    await beyond.start("go");
    await beyond.finish();
    expect(beyond.last("agent_stop")).toMatchObject({ reason: "error", cause: "model" });
    expect(beyond.violations()).toEqual([]);

    const stopped = new Harness([{ error: limited(600_000) }]);
    await stopped.start("go");
    await stopped.agent.interrupt("enough");
    await stopped.finish();
    expect(stopped.last("agent_stop").reason).toBe("aborted");
    expect(stopped.violations()).toEqual([]);
  });

  it("[TURN-19] fails a reply that is longer than allowed, before anybody is shown it", async () => {
    const h = new Harness([{ text: ["fits", "x".repeat(600 * 1024)] }]);
    await h.start("go");
    await h.finish();
    expect(h.model.requests).toHaveLength(1);
    expect(h.all("text_delta").map(({ text }) => text)).toEqual(["fits"]);
    expect(h.types).toEqual(["input", "output", "agent_trace", "error", "agent_stop"]);
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-19] allows no reply whose JSON would not fit a row, whatever it is made of", async () => {
    for (const unit of ["\u0001", "\ud800", "\u4e00"]) {
      const h = new Harness([{ text: Array.from({ length: 40 }, () => unit.repeat(16 * 1024)) }]);
      await h.start("go");
      await h.finish();
      expect(h.last("agent_stop").reason).toBe("error");
      const bytes = new TextEncoder().encode(JSON.stringify(h.all("output"))).length;
      expect(bytes).toBeLessThan(1_900_000);
    }
  });
});
