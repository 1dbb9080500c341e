import { describe, expect, it } from "vitest";
import type { ScriptedStep } from "../../../src/runtime/model/scripted-provider.ts";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import type { ModelRequest } from "../../../src/runtime/model/model-provider.ts";
import { toModelMessages } from "../../../src/runtime/protocol/model-messages.ts";
import { estimateTokens } from "../../../src/runtime/protocol/token-estimate.ts";
import { Harness, echoTool, gate } from "../support/agent-harness.ts";
import { settled } from "../support/fake-time.ts";

const call = (text: string) => ({ name: "echo", args: { text } });
const isSummariser = ({ system }: ModelRequest): boolean => system.startsWith("You summarise");
const sizeOf = (request: ModelRequest): number => estimateTokens(JSON.stringify(request));
const spent = (request: ModelRequest) => ({
  input: sizeOf(request),
  output: 10,
  cachedInput: 0,
  reasoning: 0,
});

/** Every call has its result, directly after its message. */
function paired({ messages }: ModelRequest): boolean {
  const open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (open.shift() !== message.callId) return false;
    } else if (open.length > 0) return false;
    else if (message.role === "assistant") open.push(...message.calls.map(({ id }) => id));
  }
  return open.length === 0;
}

describe("a turn that outgrows its model's window", () => {
  it("[CONTEXT-1] of 200 steps with 40 KB results ends, fits at each step, and keeps what the user demanded", async () => {
    const demands = [
      "Never touch the file secrets.txt.",
      "答えは必ず日本語で書いてください。",
      "Use tabs, not spaces.",
    ];
    const { tool } = echoTool({
      run: async (result, runs) => {
        const text = demands[runs];
        if (text) await h.submit({ text, mode: "steer", promptId: `s${runs}` });
        return { content: `${result} ${"lorem ipsum ".repeat(3_400)}` };
      },
    });
    let step = 0;
    const script = (request: ModelRequest): ScriptedStep => {
      if (isSummariser(request)) return { text: `Summary ${step}.`, usage: spent(request) };
      step += 1;
      return step > 200
        ? { text: "done", usage: spent(request) }
        : { calls: [call(`r${step}`)], usage: spent(request) };
    };
    const h: Harness = new Harness(script, {
      tools: [tool],
      context: { windowTokens: 32_000 },
      limits: { stepsPerTurn: 500 },
      maxSteps: 500,
    });
    await h.start({ text: demands[0] ?? "" });
    // Not `finish`: fake time must not outrun the hashing of a steer.
    await h.waitFor(() => h.all("agent_stop").length === 1);
    expect(h.last("agent_stop")).toMatchObject({ reason: "stop", promptIds: ["p1", "s1", "s2"] });
    expect(step).toBe(201);
    expect(h.model.requests.every((request) => sizeOf(request) <= 32_000)).toBe(true);
    expect(h.model.requests.every(paired)).toBe(true);
    const last = h.model.requests.findLast((request) => !isSummariser(request));
    const sent = last?.messages.flatMap((message) => (message.role === "user" ? message.content : []));
    const text = sent?.map((part) => (part.type === "text" ? part.text : "")).join("\n") ?? "";
    for (const demand of demands) expect(text).toContain(demand);
    expect(h.all("agent_summary").length).toBeGreaterThan(50);
    // The results that the model has not seen are whole.
    expect(JSON.stringify(last)).toContain(`r200 ${"lorem ipsum ".repeat(3_400)}`);
    expect(h.violations()).toEqual([]);
  });

  it("[CONTEXT-2] summarises once and asks again when the provider says that it does not fit, then fails", async () => {
    const overflow = new ModelError("context_overflow", "too long");
    const { tool } = echoTool();
    const script: ScriptedStep[] = [
      { calls: [call("a")] },
      { calls: [call("b")] },
      { error: overflow },
      { text: "What happened so far." },
      { text: "fine" },
    ];
    const h = new Harness(script, { tools: [tool] });
    await h.start("go");
    await h.finish();
    expect(h.last("agent_stop").reason).toBe("stop");
    expect(h.last("agent_summary")).toMatchObject({ kind: "overflow", model: "scripted/model" });
    expect(h.all("model_call_start").map(({ step, attempt }) => [step, attempt])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [3, 2],
    ]);
    expect(h.all("step_start").map(({ step }) => step)).toEqual([1, 2, 3]);
    expect(h.violations()).toEqual([]);

    const again = new Harness([...script.slice(0, 4), { error: overflow }], { tools: [tool] });
    await again.start("go");
    await again.finish();
    expect(again.last("agent_stop").reason).toBe("error");
    expect(again.last("error")).toMatchObject({ code: "context_overflow", fatal: true });
    expect(again.violations()).toEqual([]);
  });

  it("[CONTEXT-12] keeps to the window that the provider says to serve, also after a restart", async () => {
    const overflow = new ModelError("context_overflow", "too long", { windowTokens: 2_000 });
    const { tool } = echoTool({ run: (result) => ({ content: `${result} ${"x".repeat(2_000)}` }) });
    const script = (request: ModelRequest): ScriptedStep => {
      if (isSummariser(request)) return { text: "What happened so far.", usage: spent(request) };
      const isLarge = sizeOf(request) > 2_000;
      if (isLarge) return { error: overflow };
      const isNew = request.messages.at(-1)?.role === "user";
      return isNew ? { calls: [call("a")], usage: spent(request) } : { text: "fine", usage: spent(request) };
    };
    const h = new Harness(script, { tools: [tool], limits: { replyTokens: 200 } });
    for (const text of ["one", "two", "three", "four"]) {
      await h.start(text);
      await h.finish();
    }
    expect(h.all("agent_summary")[0]).toMatchObject({
      kind: "overflow",
      served: { model: "scripted/model", tokens: 2_000 },
    });
    expect(h.agent.fold.servedWindows).toEqual({ "scripted/model": 2_000 });
    const restarted = new Harness(script, {
      session: h.session,
      tools: [tool],
      limits: { replyTokens: 200 },
    });
    for (const promptId of ["five", "six", "seven", "eight"]) {
      await restarted.start({ text: "more", promptId });
      await restarted.finish();
    }
    const kinds = [...h.all("agent_summary"), ...restarted.all("agent_summary")].map(({ kind }) => kind);
    expect(kinds.length).toBeGreaterThan(2);
    expect(kinds.filter((kind) => kind === "overflow")).toHaveLength(1);
    expect(restarted.violations()).toEqual([]);
  });

  it("[CONTEXT-2] fails with what the provider said where nothing can be summarised", async () => {
    const h = new Harness([{ error: new ModelError("context_overflow", "too long") }]);
    await h.start("a prompt that is too long by itself");
    await h.finish();
    expect(h.types).toEqual(["input", "error", "agent_stop"]);
    expect(h.violations()).toEqual([]);
  });

  it("[CONTEXT-3] does without the summariser's words when it fails, and never summarises twice in a row", async () => {
    const { tool } = echoTool({ run: () => ({ content: "x".repeat(8_000) }) });
    let steps = 0;
    const script = (request: ModelRequest): ScriptedStep => {
      if (isSummariser(request))
        return { error: new ModelError("model_rejected", "no", { retryable: false }) };
      steps += 1;
      return steps > 6
        ? { text: "done", usage: spent(request) }
        : { calls: [call(`${steps}`)], usage: spent(request) };
    };
    const h = new Harness(script, { tools: [tool], context: { windowTokens: 4_000 } });
    await h.start("go");
    await h.finish();
    expect(h.last("agent_stop").reason).toBe("stop");
    const summaries = h.all("agent_summary");
    expect(summaries.length).toBeGreaterThan(1);
    expect(summaries[0]?.text).toContain("echo 1×");
    const order = h.log
      .filter(({ type }) => type === "agent_summary" || type === "agent_trace")
      .map(({ type }) => type);
    expect(order.join(" ")).not.toContain("agent_summary agent_summary");
    expect(h.violations()).toEqual([]);
  });

  it("[CONTEXT-4] is stopped in the middle of a summary, and a steer that comes meanwhile is read after it", async () => {
    const { tool } = echoTool({ run: () => ({ content: "x".repeat(20_000) }) });
    const make = (held: { opened: Promise<void> }) => {
      let steps = 0;
      return new Harness(
        async (request: ModelRequest): Promise<ScriptedStep> => {
          if (isSummariser(request)) {
            await held.opened;
            return { text: "so far", usage: spent(request) };
          }
          steps += 1;
          return steps > 2
            ? { text: "done", usage: spent(request) }
            : { calls: [call("a")], usage: spent(request) };
        },
        { tools: [tool], context: { windowTokens: 8_000 } },
      );
    };
    const held = gate();
    const h = make(held);
    await h.start("go");
    await h.waitFor(() => h.all("compaction").length === 1);
    await h.start({ text: "and this", mode: "steer", promptId: "s" });
    held.open();
    await h.finish();
    expect(h.last("agent_stop").promptIds).toEqual(["p1", "s"]);
    const at = h.types.indexOf("agent_summary");
    expect(h.types.slice(at, at + 2)).toEqual(["agent_summary", "steer"]);
    expect(h.violations()).toEqual([]);

    const stopped = make(gate());
    await stopped.start("go");
    await stopped.waitFor(() => stopped.all("compaction").length === 1);
    await stopped.agent.interrupt("enough");
    await stopped.finish();
    expect(stopped.types.slice(-2)).toEqual(["interrupt", "agent_stop"]);
    expect(stopped.types).not.toContain("agent_summary");
    expect(stopped.violations()).toEqual([]);
  });

  it("[CONTEXT-5] is asked the same after a restart, byte for byte", async () => {
    const { tool } = echoTool({ run: (text) => ({ content: text + "y".repeat(9_000) }) });
    let steps = 0;
    const script = (request: ModelRequest): ScriptedStep => {
      if (isSummariser(request)) return { text: "so far", usage: spent(request) };
      steps += 1;
      return steps > 5
        ? { text: "done", usage: spent(request) }
        : { calls: [call(`${steps}`)], usage: spent(request) };
    };
    const h = new Harness(script, { tools: [tool], context: { windowTokens: 8_000 } });
    await h.start("go");
    await h.finish();
    const asked = h.model.requests
      .filter((request) => !isSummariser(request))
      .map(({ messages }) => JSON.stringify(messages));
    const traces = h.log.filter(({ type }) => type === "agent_trace");
    const built = traces.map(({ seq, step, turn }) => {
      const before = h.log.filter(
        (event) =>
          event.seq < seq &&
          !(
            event.turn === turn &&
            event.step === step &&
            event.type !== "agent_summary" &&
            event.type !== "steer"
          ),
      );
      return JSON.stringify(toModelMessages(before));
    });
    expect(built).toEqual(asked);
  });
});

describe("a summary that somebody asks for", () => {
  it("[CONTEXT-6] stands for the whole conversation, heeds instructions, and is refused when there is nothing or a turn runs", async () => {
    const h = new Harness([
      { text: "one" },
      { text: "two" },
      { text: "The gist." },
      { text: "three", delayMs: 50 },
    ]);
    await expect(h.agent.compact()).rejects.toMatchObject({ code: "invalid_request" });
    for (const text of ["first", "second"]) {
      await h.start(text);
      await h.finish();
    }
    const { before, after } = await h.agent.compact("mind the names");
    const throughSeq = h.log.length - 1;
    expect(h.log.at(-1)).toMatchObject({ type: "agent_summary", kind: "manual", throughSeq, before, after });
    await expect(h.agent.compact()).rejects.toMatchObject({ code: "invalid_request" });
    expect(JSON.stringify(h.model.requests.at(-1))).toContain("Heed this in the summary: mind the names");
    await h.start("third");
    await expect(h.agent.compact()).rejects.toMatchObject({ code: "busy" });
    await h.finish();
    const sent = JSON.stringify(h.model.requests.at(-1)?.messages);
    expect(sent).toContain("The gist.");
    for (const said of ["first", "second", "third"]) expect(sent).toContain(said);
    expect(h.violations()).toEqual([]);
  });

  it("[CONTEXT-6] is made once at a time, and not at all when the model fails, says nothing or the agent is closed", async () => {
    const held = gate();
    const replies: ScriptedStep[] = [
      { text: "one" },
      { error: new ModelError("model_rejected", "no", { retryable: false }) },
      { text: " \n" },
      { text: "The gist." },
    ];
    let asked = 0;
    const h = new Harness(async () => {
      const reply = replies[asked++];
      if (asked === replies.length) await held.opened;
      return reply ?? { text: "more" };
    });
    await h.start("first");
    await h.finish();
    const before = h.log.length;
    await expect(h.agent.compact()).rejects.toMatchObject({ code: "model_rejected" });
    await expect(h.agent.compact()).rejects.toMatchObject({ code: "empty_reply" });
    const compacting = h.agent.compact();
    compacting.catch(() => undefined);
    await expect(h.agent.compact()).rejects.toMatchObject({ code: "busy" });
    await settled();
    await h.agent.close();
    held.open();
    await expect(compacting).rejects.toMatchObject({ code: "unavailable" });
    expect(h.log.length).toBe(before);
    expect(h.all("compaction").map(({ phase }) => phase)).toEqual([
      "start",
      "error",
      "start",
      "error",
      "start",
      "error",
    ]);
    expect(h.violations()).toEqual([]);
  });

  it("[CONTEXT-6] changes nothing when the session goes on meanwhile", async () => {
    const held = gate();
    const h = new Harness(async (request) => {
      if (isSummariser(request)) await held.opened;
      return { text: "ok" };
    });
    await h.start("first");
    await h.finish();
    const compacting = h.agent.compact();
    compacting.catch(() => undefined);
    await settled();
    await h.start("second");
    await h.finish(1);
    held.open();
    await expect(compacting).rejects.toMatchObject({ code: "busy" });
    expect(h.types).not.toContain("agent_summary");
    expect(h.violations()).toEqual([]);
  });
});
