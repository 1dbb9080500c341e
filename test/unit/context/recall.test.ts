import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContextBuilder } from "../../../src/runtime/context/context-builder.ts";
import { indexedResults } from "../../../src/runtime/context/indexed-results.ts";
import { withCodecNamed } from "../../../src/runtime/model/codec/codec-directory.ts";
import type { ModelRequest } from "../../../src/runtime/model/model-provider.ts";
import { createScriptedProvider } from "../../../src/runtime/model/scripted-provider.ts";
import type { ScriptedStep } from "../../../src/runtime/model/scripted-provider.ts";
import type { CodecName } from "../../../src/runtime/protocol/agent-definition.ts";
import { inForce } from "../../../src/runtime/protocol/conversation.ts";
import { estimateTokens } from "../../../src/runtime/protocol/token-estimate.ts";
import { defineTool } from "../../../src/runtime/tool/tool.ts";
import { createRecallIndexedTool } from "../../../src/tools/recall-indexed.ts";
import { Harness, echoTool } from "../support/agent-harness.ts";
import { wellFormedLogs } from "../support/log-generator.ts";

const call = (text: string) => ({ name: "echo", args: { text } });
const isSummariser = ({ system }: ModelRequest): boolean => system.startsWith("You summarise");
const textOf = (request: ModelRequest | undefined): string => JSON.stringify(request);
const sizeOf = (request: ModelRequest): number => estimateTokens(textOf(request));
const spent = (request: ModelRequest) => ({
  input: sizeOf(request),
  output: 10,
  cachedInput: 0,
  reasoning: 0,
});

/** What the recall tool answers in a session. */
async function recall(h: Harness, args: Record<string, unknown>): Promise<string> {
  const tool = h.agent.tool.get("recall_indexed");
  const site = {
    id: "call_0",
    name: "recall_indexed",
    turn: 1,
    step: 1,
    signal: new AbortController().signal,
  };
  const result = await tool?.execute(args, site);
  return result?.content ?? "";
}

/** All of an entry, part by part as each says what follows. */
async function recallAll(h: Harness, id: string): Promise<string> {
  let text = "";
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const part: string = await recall(h, { id, offset });
    const [head = "", content = ""] = part.split("\n[content]\n");
    text += content;
    const next: string | undefined = /\[next\] .*"offset":(\d+)/.exec(head)?.[1];
    offset = next === undefined ? undefined : Number(next);
  }
  return text;
}

/** A reply that calls the tool, or ends, as a model says it that has this codec. */
function replyIn(codec: CodecName, text: string | null): ScriptedStep {
  if (codec === "native") return text === null ? { text: "done" } : { calls: [call(text)] };
  if (text === null) return { text: JSON.stringify({ type: "final", text: "done" }) };
  return { text: JSON.stringify({ type: "tool_calls", calls: [{ name: "echo", input: { text } }] }) };
}

describe("a turn of 200 steps with 40 KB results in a window of 32,000 tokens", () => {
  for (const codec of ["native", "json"] as const) {
    it(`[CONTEXT-1] [CONTEXT-10] [CONTEXT-11] ends, fits, keeps what users demand, and can recall each result (${codec})`, async () => {
      const demands = new Map([
        [0, "Never touch the file secrets.txt."],
        [17, "答えは必ず日本語で書いてください。"],
        [58, "Indent with tabs, not spaces."],
        [131, "外部のサービスを呼び出してはいけません。"],
        [196, "Stop at the first failing test."],
      ]);
      const bodyOf = (run: number): string => `mark${run}x ${`${run} lorem ipsum `.repeat(2_700)} end${run}x`;
      const { tool } = echoTool({
        run: async (_, runs) => {
          const text = runs === 0 ? undefined : demands.get(runs);
          if (text) await h.submit({ text, mode: "steer", promptId: `s${runs}` });
          return { content: bodyOf(runs) };
        },
      });
      let step = 0;
      const scripted = createScriptedProvider((request) => {
        if (isSummariser(request)) return { text: "What was done.", usage: spent(request) };
        step += 1;
        return { ...replyIn(codec, step > 200 ? null : `r${step}`), usage: spent(request) };
      });
      const h: Harness = new Harness([], {
        model: withCodecNamed(scripted, codec),
        tools: [tool, createRecallIndexedTool()],
        context: { windowTokens: 32_000 },
        limits: { stepsPerTurn: 500 },
        maxSteps: 500,
      });
      await h.start({ text: demands.get(0) ?? "" });
      await h.waitFor(() => h.all("agent_stop").length === 1);
      expect(h.last("agent_stop").reason).toBe("stop");
      expect(step).toBe(201);
      expect(Math.max(...scripted.requests.map(sizeOf))).toBeLessThanOrEqual(32_000);
      for (const demand of demands.values()) expect(textOf(scripted.requests.at(-1))).toContain(demand);
      // Results make room long before anything is summarised.
      expect(h.all("agent_summary").length).toBeLessThan(20);
      const results = h.all("tool_result");
      expect(results).toHaveLength(200);
      for (const { callId, content } of results) expect(await recallAll(h, callId)).toBe(content);
      expect(await recall(h, { query: "mark7x" })).toContain("[id] call_1_7_0");
      expect(h.violations()).toEqual([]);
    });
  }
});

describe("results that make room", () => {
  /** Each reply calls for a result of 4,000 characters, about 1,000 tokens, in a window of 10,000. */
  const growing = (steps: number): { h: Harness; requests: () => readonly ModelRequest[] } => {
    const { tool } = echoTool({ run: (result) => ({ content: `${result} ${"x".repeat(4_000)}` }) });
    let step = 0;
    const script = (request: ModelRequest): ScriptedStep => {
      step += 1;
      const reply = step > steps ? { text: "done" } : { calls: [call(`r${step}`)] };
      return { ...reply, usage: spent(request) };
    };
    const tools = [tool, createRecallIndexedTool()];
    const h = new Harness(script, { tools, context: { windowTokens: 10_000 } });
    return { h, requests: () => h.model.requests };
  };

  it("[CONTEXT-10] go many at once, the oldest first, and between such times the input only grows", async () => {
    const { h, requests } = growing(14);
    await h.start("go");
    await h.finish();
    const messages = requests().map((request) => request.messages.map((message) => JSON.stringify(message)));
    const kept = messages.slice(1).map((now, index) => {
      const before = messages[index] ?? [];
      return now.slice(0, before.length).join() === before.join();
    });
    expect(kept.filter((same) => !same)).toHaveLength(3);
    const last = textOf(requests().at(-1));
    expect(last).toContain("indexed_tool_result id=call_1_1_0 tool=echo");
    expect(last).toContain(`r14 ${"x".repeat(4_000)}`);
    expect(h.all("agent_summary")).toEqual([]);
    expect(h.violations()).toEqual([]);
  });

  it("[CONTEXT-10] are the same after a restart, and stay where the model could not see them again", async () => {
    const { h, requests } = growing(9);
    await h.start("go");
    await h.finish();
    const restarted = new Harness([{ text: "again" }], {
      session: h.session,
      tools: [echoTool().tool, createRecallIndexedTool()],
      context: { windowTokens: 10_000 },
    });
    await restarted.start({ text: "and?", promptId: "again" });
    await restarted.finish();
    const [again] = restarted.model.requests;
    const before = requests().at(-1)?.messages ?? [];
    expect(again?.messages.slice(0, before.length)).toEqual(before);
    const without = new Harness([{ text: "again" }], { session: h.session, tools: [echoTool().tool] });
    await without.start({ text: "and now?", promptId: "now" });
    await without.finish();
    expect(textOf(without.model.requests[0])).not.toContain("indexed_tool_result");
  });
});

describe("the context of any log", () => {
  it("[CONTEXT-10] is the same again, parts no call from its result, and only ever takes more results out", () => {
    const room = fc.integer({ min: 20, max: 5_000 });
    fc.assert(
      fc.property(wellFormedLogs, room, fc.nat(), fc.nat(), (written, windowTokens, first, second) => {
        // Results of a size that counts.
        const log = written.map((event) =>
          event.type === "tool_result" ? { ...event, content: event.content.padEnd(1_500, "lorem ") } : event,
        );
        const [short, long] = [first, second]
          .map((at) => at % (log.length + 1))
          .toSorted((left, right) => left - right)
          .map((at) => log.slice(0, at));
        const builder = createContextBuilder([]);
        const built = builder.build(long ?? [], windowTokens);
        expect(JSON.stringify(builder.build(structuredClone(long ?? []), windowTokens))).toBe(
          JSON.stringify(built),
        );
        const whole = builder.build(long ?? [], null);
        const shapeOf = ({ messages }: typeof built) =>
          messages.map((message) => (message.role === "tool" ? { ...message, content: "" } : message));
        expect(shapeOf(built)).toEqual(shapeOf(whole));
        expect(estimateTokens(textOf({ ...built, tools: [] }))).toBeLessThanOrEqual(
          estimateTokens(textOf({ ...whole, tools: [] })),
        );
        const later = long?.slice(short?.length) ?? [];
        if (later.some(({ type }) => type === "agent_summary" || type === "checkpoint_restore")) return;
        const before = indexedResults(inForce(short ?? []), windowTokens).callIds;
        const now = indexedResults(inForce(long ?? []), windowTokens).callIds;
        // What is about to go out goes out when the model is asked: something may come before that.
        const asked = later.some(
          ({ type }) => type === "thought" || type === "output" || type === "agent_trace",
        );
        if (asked) expect([...before].filter((id) => !now.has(id))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("recall_indexed", () => {
  const recalling = { tools: [echoTool().tool, createRecallIndexedTool()], context: { windowTokens: 8_000 } };

  it("[CONTEXT-11] finds what a summary stands for in every script, and not what is still there", async () => {
    const script: ScriptedStep[] = [
      { text: "The port is 5432." },
      { text: "銀行の口座は閉鎖されました。" },
      { text: "A summary." },
      { text: "Later words about the port." },
    ];
    const h = new Harness(script, recalling);
    await h.start("Which port does the database have?");
    await h.start("口座は?");
    await h.agent.compact();
    await h.start("And later?");
    expect(await recall(h, { query: "port" })).toMatch(
      /\[found\] 2 parts\n\[id\] e\d+\n\[what\] Your words, turn 1/,
    );
    expect(await recall(h, { query: "口座" })).toContain("閉鎖されました");
    expect(await recall(h, { query: "later" })).toContain("[found] 0 parts");
    const id = /\[id\] (e\d+)/.exec(await recall(h, { query: "5432" }))?.[1] ?? "";
    expect(await recallAll(h, id)).toBe("The port is 5432.");
  });

  it("[CONTEXT-11] does not show what a restore has taken back, nor what there is not", async () => {
    const h = new Harness([{ text: "one" }, { text: "two secret words" }, { text: "A summary." }], recalling);
    await h.start("first");
    const { head } = h.agent.fold;
    await h.start("second");
    const secret = h.all("output").at(-1)?.seq;
    expect(await recall(h, { id: `e${secret}` })).toContain("two secret words");
    await h.agent.history.restore({
      toSeq: head,
      conversation: true,
      files: false,
      skipped: [],
      by: { kind: "user", id: "a" },
    });
    await h.agent.compact();
    expect(await recall(h, { query: "secret" })).toContain("[found] 0 parts");
    expect(await recall(h, { id: `e${secret}` })).toContain("There is nothing with the id");
    expect(await recall(h, {})).toContain("Give either an id or a query");
    expect(await recall(h, { id: "e1", query: "a" })).toContain("Give either an id or a query");
    expect(await recall(h, { id: `e${h.all("input")[0]?.seq}`, offset: 99 })).toContain("beyond the end");
  });

  it("[CONTEXT-11] reads an artifact where the whole is, and splits no character", async () => {
    const whole = "é日😀".repeat(9_000);
    const bytes = new TextEncoder().encode(whole);
    const read: [number, number][] = [];
    const tool = defineTool({ ...echoTool().tool, execute: () => ({ content: whole }) });
    const h = new Harness([{ calls: [call("a")] }, { text: "ok" }], {
      ...recalling,
      tools: [tool, createRecallIndexedTool()],
      keepResult: async (result, ref) => ({
        ...result,
        content: "both ends",
        artifact: { ref, size: bytes.length, mediaType: "text/plain" },
      }),
      readArtifact: async ({ ref }, seq, { offset, length }) => {
        expect([ref, seq]).toEqual(["call_1_1_0", h.all("tool_result")[0]?.seq]);
        read.push([offset, length]);
        return bytes.subarray(offset, offset + length);
      },
    });
    await h.start("go");
    await h.finish();
    expect(await recallAll(h, "call_1_1_0")).toBe(whole);
    expect(Math.max(...read.map(([, length]) => length))).toBe(2_000);
  });
});
