import type * as OpenAiSdk from "openai";
import { isLightAgentError } from "../protocol/errors.ts";
import type { Dialect } from "../protocol/agent-definition.ts";
import { DEFAULT_LIMITS } from "../protocol/limits.ts";
import type { Clock, MaybePromise } from "../protocol/time.ts";
import { EventStreamFilter, isKeepAlive } from "./event-stream-filter.ts";
import { readErrorBody, readFailure } from "./failure.ts";
import type { FailureKind } from "./failure.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import type { FetchLike } from "./guarded-fetch.ts";
import { ModelError, isModelError } from "./model-error.ts";
import type { ModelDelta, ModelProvider, ModelRequest, ModelStream } from "./model-provider.ts";
import { prepareCall } from "./openai-dialects.ts";
import type { WireOptions } from "./openai-wire.ts";
import { classifyFailure } from "./stream-errors.ts";

/** A model behind one of OpenAI's APIs, Chat Completions or Responses, or behind any server that speaks it. */
export interface OpenAiProviderOptions extends WireOptions {
  /** What events and usage name the model. @default `openai/<model>` */
  readonly id?: string;
  /** Which wire format the server speaks. @default "chat" */
  readonly dialect?: Dialect;
  /** The model's name as the server knows it. */
  readonly model: string;
  /** The key, or what gives it when a call needs it. */
  readonly apiKey: string | (() => MaybePromise<string>);
  /** @default "https://api.openai.com/v1" */
  readonly baseUrl?: string;
  /** @default the platform's fetch */
  readonly fetch?: FetchLike;
  /** For a Retry-After that is a date. @default Date.now */
  readonly clock?: Clock;
  /** Most bytes of one call's arguments. @default the limit `argumentBytes` */
  readonly argumentBytes?: number;
  /** See ReplyAccumulatorOptions. @default false */
  readonly allowMissingFinishReason?: boolean;
}

/** The SDK's own time limit only ever cuts the time to the headers; all limits are the caller's, so it is out of the way. */
const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * A provider on the openai SDK's streams. The SDK neither retries nor logs: both are the caller's.
 * Errors hold no text of the server's, which may repeat the user's or the key.
 */
export function createOpenAiProvider(options: OpenAiProviderOptions): ModelProvider {
  return {
    id: options.id ?? `openai/${options.model}`,
    stream: (request, signal) => streamReply(options, request, signal),
  };
}

async function* streamReply(
  options: OpenAiProviderOptions,
  request: ModelRequest,
  signal: AbortSignal,
): ModelStream {
  signal.throwIfAborted();
  const sdk = await import("openai");
  const filter = new EventStreamFilter();
  const call = await prepareCall(options.dialect ?? "chat", request, {
    ...options,
    argumentBytes: options.argumentBytes ?? DEFAULT_LIMITS.argumentBytes,
    allowMissingFinishReason: options.allowMissingFinishReason ?? false,
  });
  const key = await readApiKey(options.apiKey);
  const gathered: ModelDelta[] = [];
  try {
    const chunks = await call.open(createClient(options, key, sdk, filter), signal);
    for await (const chunk of chunks) {
      if (signal.aborted) break;
      if (!isKeepAlive(chunk)) for (const delta of call.accumulator.push(chunk)) gather(gathered, delta);
      // What arrived together is shown together: each delta costs every layer above as much as a long one.
      if (filter.take()) continue;
      if (gathered.length === 0) yield { type: "alive" };
      for (const delta of gathered.splice(0)) yield delta;
    }
  } catch (caught) {
    signal.throwIfAborted();
    for (const delta of gathered) yield delta;
    if (isModelError(caught)) throw caught;
    const kind = kindOf(caught, sdk, filter.cut);
    throw classifyFailure(readFailure(caught, kind, (options.clock ?? Date.now)()));
  }
  // The SDK ends its stream without a word when it was aborted.
  signal.throwIfAborted();
  for (const delta of gathered) yield delta;
  const body = readErrorBody(filter.stray);
  if (body) throw classifyFailure(body);
  yield { type: "reply", reply: call.accumulator.finish() };
}

/** @throws ModelError `model_auth` when the key cannot be had */
async function readApiKey(apiKey: OpenAiProviderOptions["apiKey"]): Promise<string> {
  if (typeof apiKey === "string") return apiKey;
  try {
    return await apiKey();
  } catch (cause) {
    const message = isLightAgentError(cause) ? cause.message : "The provider's key cannot be read.";
    throw new ModelError("model_auth", message, { cause });
  }
}

/** A client for one call, which costs microseconds and ties the call to its filter. */
function createClient(
  options: OpenAiProviderOptions,
  apiKey: string,
  sdk: typeof OpenAiSdk,
  filter: EventStreamFilter,
): OpenAiSdk.OpenAI {
  return new sdk.OpenAI({
    apiKey,
    baseURL: options.baseUrl ?? "https://api.openai.com/v1",
    fetch: guardedFetch(options.fetch ?? ((url, init) => fetch(url, init)), filter),
    // In Node the SDK would take these from the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: NO_TIMEOUT,
    logLevel: "off",
  });
}

/** Adds a delta to those that wait, joined to the last if it goes on with the same block. */
function gather(deltas: ModelDelta[], delta: ModelDelta): void {
  const last = deltas.at(-1);
  if (last?.block === delta.block) deltas[deltas.length - 1] = { ...delta, text: last.text + delta.text };
  else deltas.push(delta);
}

/** What the SDK's error classes say; a plain error from a body that broke has none. */
function kindOf(caught: unknown, sdk: typeof OpenAiSdk, cut: boolean): FailureKind {
  if (caught instanceof sdk.APIConnectionTimeoutError) return "timeout";
  if (caught instanceof sdk.APIConnectionError) return "connection";
  if (caught instanceof sdk.APIError) return "answered";
  if (caught instanceof SyntaxError) return cut ? "incomplete" : "malformed";
  return caught instanceof sdk.OpenAIError ? "malformed" : "connection";
}
