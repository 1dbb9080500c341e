import type * as OpenAiSdk from "openai";
import type { Dialect } from "../protocol/agent-definition.ts";
import type { ModelDelta, ModelReply, ModelRequest } from "./model-provider.ts";
import { toWireFormat, toWireMessages, toWireTools } from "./openai-wire.ts";
import type { WireOptions } from "./openai-wire.ts";
import { ReplyAccumulator } from "./reply-accumulator.ts";
import { ResponsesAccumulator } from "./responses-accumulator.ts";
import { toInputItems, toInstructions, toResponsesTools, toTextFormat } from "./responses-wire.ts";

/** What makes a reply of the events of one stream. */
export interface Accumulator {
  /** @throws ModelError for an error inside the stream */
  push(event: unknown): ModelDelta[];
  /** @throws ModelError when the stream did not come to a reply */
  finish(): ModelReply;
}

/** One call in one of OpenAI's wire formats: what to send, and what reads the answer. */
export interface DialectCall {
  readonly accumulator: Accumulator;
  open(client: OpenAiSdk.OpenAI, signal: AbortSignal): Promise<AsyncIterable<unknown>>;
}

export interface DialectOptions extends WireOptions {
  readonly model: string;
  readonly argumentBytes: number;
  readonly allowMissingFinishReason: boolean;
}

type Prepare = (request: ModelRequest, options: DialectOptions) => Promise<DialectCall>;

const DIALECTS: Readonly<Record<Dialect, Prepare>> = {
  async chat(request, options) {
    const messages = await toWireMessages(request, options);
    const tools = toWireTools(request.tools);
    const body = {
      model: options.model,
      messages,
      ...(tools ? { tools } : {}),
      ...toWireFormat(request.output),
      stream: true as const,
      stream_options: { include_usage: true },
    };
    return {
      accumulator: new ReplyAccumulator(options),
      open: (client, signal) => client.chat.completions.create(body, { signal }),
    };
  },

  async responses(request, options) {
    const { model, argumentBytes } = options;
    const input = await toInputItems(request.messages, model, options);
    const tools = toResponsesTools(request.tools);
    const body = {
      model,
      ...toInstructions(request),
      input,
      ...(tools.length > 0 ? { tools } : {}),
      ...toTextFormat(request.output),
      // The log is the only memory: reasoning comes back encrypted, and goes with the next request.
      include: ["reasoning.encrypted_content" as const],
      store: false,
      stream: true as const,
    };
    const calls = request.messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
    const knownCalls = new Set(calls.map(({ id }) => id));
    return {
      accumulator: new ResponsesAccumulator({ argumentBytes, model, knownCalls }),
      open: (client, signal) => client.responses.create(body, { signal }),
    };
  },
};

/** Prepares one call in a dialect. */
export function prepareCall(
  dialect: Dialect,
  request: ModelRequest,
  options: DialectOptions,
): Promise<DialectCall> {
  return DIALECTS[dialect](request, options);
}
