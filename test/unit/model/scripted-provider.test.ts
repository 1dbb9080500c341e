import { describe, expect, it } from "vitest";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import { createScriptedProvider } from "../../../src/runtime/model/scripted-provider.ts";
import { streamOf } from "../../../src/runtime/model/stream-of.ts";
import { FakeTime, settled } from "../support/fake-time.ts";
import { ASK, readStream } from "./streamed.ts";

const live = (): AbortSignal => new AbortController().signal;

describe("[MODEL-28] the scripted model", () => {
  it("[MODEL-28] streams what a step says, in its pieces, and replies with the same", async () => {
    const provider = createScriptedProvider([
      {
        thought: ["h", "m"],
        text: "yes",
        calls: [
          { name: "read", args: { path: "a" }, deltas: ['{"path"', ':"a"}'] },
          { name: "write", malformed: '{"pa', id: "w" },
        ],
        usage: { input: 1, output: 2, cachedInput: 0, reasoning: 0 },
      },
    ]);
    const { deltas, reply } = await readStream(streamOf(provider, ASK, live()));
    expect(deltas.map(({ kind, block, text }) => [kind, block, text])).toEqual([
      ["thought", 0, "h"],
      ["thought", 0, "m"],
      ["text", 1, "yes"],
      ["tool_args", 2, '{"path"'],
      ["tool_args", 2, ':"a"}'],
      ["tool_args", 3, '{"pa'],
    ]);
    expect(reply).toEqual({
      blocks: [
        { kind: "thought", block: 0, text: "hm" },
        { kind: "text", block: 1, text: "yes" },
      ],
      calls: [
        { providerId: "scripted_0", name: "read", args: { path: "a" } },
        { providerId: "w", name: "write", args: {}, malformed: '{"pa' },
      ],
      finishReason: "tool_calls",
      usage: { input: 1, output: 2, cachedInput: 0, reasoning: 0 },
    });
  });

  it("[MODEL-28] records requests as they were, and chooses steps by a function too", async () => {
    const provider = createScriptedProvider((request, index) => ({ text: `${index}: ${request.system}` }));
    const request = { ...ASK, messages: [...ASK.messages] };
    await readStream(streamOf(provider, request, live()));
    request.messages.pop();
    const { reply } = await readStream(streamOf(provider, { ...ASK, system: "Other." }, live()));
    expect(provider.requests).toEqual([ASK, { ...ASK, system: "Other." }]);
    expect(reply?.blocks[0]?.text).toBe("1: Other.");
  });

  it("[MODEL-28] a call beyond the script fails for good", async () => {
    const { error } = await readStream(streamOf(createScriptedProvider([]), ASK, live()));
    expect([error?.modelCode, error?.retryable]).toEqual(["model_rejected", false]);
  });

  it("[MODEL-28] fails as told, after what it shows", async () => {
    const error = new ModelError("rate_limited", "no");
    const failed = await readStream(streamOf(createScriptedProvider([{ text: "a", error }]), ASK, live()));
    expect([failed.deltas.length, failed.error]).toEqual([1, error]);
  });

  it("[MODEL-28] delays by the injected timers, and an abort ends a delay", async () => {
    const time = new FakeTime();
    const provider = createScriptedProvider([{ text: ["a", "b"], delayMs: 5 }], { timers: time });
    const controller = new AbortController();
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const item of streamOf(provider, ASK, controller.signal)) seen.push(item);
    })();
    await time.pass(4);
    expect(seen).toHaveLength(0);
    await time.pass(1);
    expect(seen).toHaveLength(1);
    controller.abort(new Error("stop"));
    await expect(reading).rejects.toThrow("stop");
    expect([seen.length, time.pending]).toEqual([1, 0]);
  });

  it("[MODEL-28] hangs until the abort, or beyond it", async () => {
    for (const end of ["hang", "hang_ignoring_abort"] as const) {
      const controller = new AbortController();
      let ended = false;
      const reading = readStream(streamOf(createScriptedProvider([{ end }]), ASK, controller.signal));
      reading.then(
        () => (ended = true),
        () => (ended = true),
      );
      await settled();
      expect(ended).toBe(false);
      controller.abort();
      await settled();
      expect(ended).toBe(end === "hang");
    }
  });
});

describe("[MODEL-24] a provider with `generate` alone", () => {
  const reply = {
    blocks: [
      { kind: "thought", block: 0, text: "hm" },
      { kind: "text", block: 1, text: "yes" },
    ],
    calls: [],
    finishReason: "stop",
    usage: null,
  } as const;

  it("[MODEL-24] streams its reply, a delta per block", async () => {
    const streamed = await readStream(streamOf({ id: "x", generate: () => reply }, ASK, live()));
    expect(streamed.deltas).toEqual([
      { type: "delta", kind: "thought", block: 0, text: "hm" },
      { type: "delta", kind: "text", block: 1, text: "yes" },
    ]);
    expect(streamed.reply).toBe(reply);
  });

  it("[MODEL-24] and an abort while it works gives no reply", async () => {
    const controller = new AbortController();
    const generate = async (): Promise<typeof reply> => {
      controller.abort();
      return reply;
    };
    await expect(readStream(streamOf({ id: "x", generate }, ASK, controller.signal))).rejects.toThrow();
  });

  it("[MODEL-24] a provider with neither is refused", async () => {
    const { error } = await readStream(streamOf({ id: "x" }, ASK, live()));
    expect(error?.modelCode).toBe("model_rejected");
  });
});
