import { isObject, parseObject, stringOr } from "../json-value.ts";
import type { FetchLike } from "../guarded-fetch.ts";
import type { ModelProvider } from "../model-provider.ts";
import { createOpenAiProvider } from "../openai-provider.ts";
import { eventsOfAnswer, toChatEvents } from "./chat-events.ts";

/** The binding to Workers AI, as far as it is used here. */
export interface AiBinding {
  run(model: string, input: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<unknown>;
}

/** Without it replies end after 256 tokens. */
const MAX_TOKENS = 4_096;

/**
 * A model of Workers AI, called by its binding, which takes requests in the form of Chat Completions. Old models answer
 * in a form of their own, which is rewritten; everything else is as with any server.
 * @param model for instance `@cf/meta/llama-3.3-70b-instruct-fp8-fast`
 */
export function createWorkersAiProvider(binding: AiBinding, model: string): ModelProvider {
  return createOpenAiProvider({
    id: `workers-ai/${model}`,
    model,
    // Neither leaves the Worker: the binding needs no key and has no address.
    apiKey: "workers-ai",
    baseUrl: "https://workers-ai.invalid/v1",
    fetch: fetchOf(binding),
  });
}

/** The binding as the `fetch` that the SDK is given. */
function fetchOf(binding: AiBinding): FetchLike {
  return async (_url, { body, signal }) => {
    const { model, ...input } = parseObject(stringOr(body)) ?? {};
    let answer: unknown;
    try {
      const asked = { max_tokens: MAX_TOKENS, ...withTextContent(input) };
      answer = await binding.run(stringOr(model), asked, signal ? { signal } : {});
    } catch (caught) {
      signal?.throwIfAborted();
      return errorResponse(caught);
    }
    const events = answer instanceof ReadableStream ? toChatEvents(answer) : eventsOfAnswer(answer);
    return new Response(events, { headers: { "content-type": "text/event-stream" } });
  };
}

/** Its models refuse a message without content, which a reply of calls alone is. */
function withTextContent(input: Record<string, unknown>): Record<string, unknown> {
  const { messages } = input;
  if (!Array.isArray(messages)) return input;
  const filled = messages.map((message: unknown) =>
    isObject(message) && message["content"] === null ? { ...message, content: "" } : message,
  );
  return { ...input, messages: filled };
}

/** What the binding's errors mean as an HTTP status, by the numbers of Workers AI's table of errors; the first applies. */
const STATUSES: readonly (readonly [pattern: RegExp, status: number, code?: string])[] = [
  [/\b3036\b/, 429, "insufficient_quota"],
  [/\b3040\b/, 429],
  [/\b300[78]\b/, 408],
  [/\b(?:3023|3041|5016|5018)\b/, 403],
  [/\b(?:3042|5007)\b/, 404],
  [/\b3006\b|context (?:window|length)/i, 413, "context_length_exceeded"],
  [/\b(?:3003|3039|5004|5005|5006|5019)\b/, 400],
];

/** A failure of the binding as the error that a server would answer with, so that one table classifies all. */
function errorResponse(caught: unknown): Response {
  const message = caught instanceof Error ? caught.message : "";
  const [, status, code] = STATUSES.find(([pattern]) => pattern.test(message)) ?? [null, 500];
  const error = { message: "Workers AI failed.", ...(code === undefined ? {} : { code }) };
  return Response.json({ error }, { status });
}
