import { describe, expect, it } from "vitest";
import { findModel } from "../../../src/runtime/model/model-directory.ts";
import type { ModelRequest } from "../../../src/runtime/model/model-provider.ts";
import { streamOf } from "../../../src/runtime/model/stream-of.ts";
import type { AiBinding } from "../../../src/runtime/model/workers-ai/workers-ai-provider.ts";
import { ASK, readStream } from "./streamed.ts";
import type { Streamed } from "./streamed.ts";

const MODEL = "@cf/vendor/model-1";
const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;
const usage = { prompt_tokens: 7, completion_tokens: 3 };

function streamOfBytes(...pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

/** One call of a binding that answers like this. */
async function call(
  run: AiBinding["run"],
  request: ModelRequest = ASK,
  signal = new AbortController().signal,
): Promise<Streamed & { asked: unknown[] }> {
  const asked: unknown[] = [];
  const ai: AiBinding = {
    run: (model, input, options) => {
      asked.push(model, input);
      return run(model, input, options);
    },
  };
  const provider = findModel(`workers-ai/${MODEL}`, { ai });
  expect(provider.id).toBe(`workers-ai/${MODEL}`);
  return { ...(await readStream(streamOf(provider, request, signal))), asked };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const LEGACY = `${event({ response: "Hi " })}${event({ response: "🐎" })}${event({ response: "", usage })}data: [DONE]\n\n`;

describe("[MODEL-51] Workers AI", () => {
  it("[MODEL-51] is asked by its binding, in the form of Chat Completions", async () => {
    const { reply, asked } = await call(async () => streamOfBytes(bytes(LEGACY)));
    expect(reply).toMatchObject({
      blocks: [{ kind: "text", text: "Hi 🐎" }],
      finishReason: "stop",
      usage: { input: 7, output: 3 },
    });
    expect(asked).toEqual([
      MODEL,
      expect.objectContaining({
        stream: true,
        max_tokens: 4_096,
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Hello?" },
        ],
      }),
    ]);
  });

  it("[MODEL-51] gives the same reply cut in two at every byte", async () => {
    const all = bytes(LEGACY);
    for (let cut = 1; cut < all.length; cut++) {
      const { reply } = await call(async () => streamOfBytes(all.subarray(0, cut), all.subarray(cut)));
      expect(reply).toMatchObject({ blocks: [{ text: "Hi 🐎" }], finishReason: "stop" });
    }
  });

  it.each([
    [
      "as a stream of its own form",
      streamOfBytes(
        bytes(
          `${event({ response: "", tool_calls: [{ name: "read", arguments: { path: "a" } }] })}data: [DONE]\n\n`,
        ),
      ),
    ],
    ["as a whole", { response: null, tool_calls: [{ name: "read", arguments: { path: "a" } }] }],
    [
      "as a stream of Chat Completions",
      streamOfBytes(
        bytes(
          `${event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "c", function: { name: "read", arguments: '{"path":"a"}' } }] }, finish_reason: "tool_calls" }] })}data: [DONE]\n\n`,
        ),
      ),
    ],
  ])("[MODEL-51] calls tools %s", async (_, answer) => {
    const { reply } = await call(async () => answer);
    expect(reply).toMatchObject({
      finishReason: "tool_calls",
      calls: [{ name: "read", args: { path: "a" } }],
    });
  });

  it("[MODEL-51] a stream that does not say that it is over is cut, and an object as the answer is its JSON", async () => {
    const { error } = await call(async () => streamOfBytes(bytes(event({ response: "Hi" }))));
    expect(error?.modelCode).toBe("incomplete_stream");
    const { reply } = await call(async () => ({ response: { city: "Rome" } }));
    expect(reply?.blocks[0]?.text).toBe('{"city":"Rome"}');
  });

  it("[MODEL-51] is given no message without content", async () => {
    const said = { role: "assistant" as const, blocks: [], calls: [{ id: "c1", name: "read", args: {} }] };
    const { asked } = await call(async () => ({ response: "ok" }), { ...ASK, messages: [said] });
    expect(asked[1]).toMatchObject({ messages: [{ role: "system" }, { role: "assistant", content: "" }] });
  });

  it.each([
    ["AiError: 3036: you have used up your daily free allocation", "quota_exhausted"],
    ["AiError: 3040: Capacity temporarily exceeded", "rate_limited"],
    ["AiError: 5007: No such model", "model_rejected"],
    ["AiError: 5018: not allowed", "model_auth"],
    ["AiError: 3006: Request is too large", "context_overflow"],
    ["AiError: 5006: required properties", "model_rejected"],
    ["AiError: 5021: the estimated number of tokens exceeded the context window", "context_overflow"],
    ["AiError: 3007: request timed out", "model_timeout"],
    ["something broke", "model_unavailable"],
  ])("[MODEL-51] %s is %s", async (message, code) => {
    const { error } = await call(() => Promise.reject(new Error(message)));
    expect(error?.modelCode).toBe(code);
    expect(error?.message).not.toContain("AiError");
  });

  it("[MODEL-51] needs the binding", () => {
    const missing = expect.objectContaining({
      code: "not_configured",
      message: expect.stringContaining("AI"),
    });
    expect(() => findModel(`workers-ai/${MODEL}`, {})).toThrow(missing);
  });

  it("[MODEL-17] an abort ends the call and the binding's stream", async () => {
    const controller = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    const ai: AiBinding = {
      run: async () => new ReadableStream({ pull: () => undefined, cancel: () => cancelled.resolve() }),
    };
    const provider = findModel(`workers-ai/${MODEL}`, { ai });
    const reading = readStream(streamOf(provider, ASK, controller.signal));
    setTimeout(() => controller.abort(new Error("stop")), 10);
    await expect(reading).rejects.toThrow("stop");
    await cancelled.promise;
  });
});
