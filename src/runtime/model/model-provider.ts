import type { DurablePayload } from "../protocol/durable-events.ts";
import type { MaybePromise } from "../protocol/time.ts";
import type { ModelMessage, ReplyBlock } from "../protocol/model-messages.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";
import type { Usage } from "../protocol/usage.ts";
import type { ModelError } from "./model-error.ts";

/** One model call: everything that the model sees. */
export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** Asks for JSON as the reply, of a provider that can ask for it; the others leave it out. */
  readonly output?: OutputFormat;
}

/** How a server is asked for JSON: by its schema, or as any JSON object. */
export interface OutputFormat {
  readonly mode: "json_schema" | "json_object";
  readonly schema: Readonly<Record<string, unknown>>;
}

/**
 * A piece of a reply as it streams. `block` numbers the pieces of one reply from 0 across kinds, in the order in
 * which they began; the deltas of one block, joined, are its text.
 */
export type ModelDelta =
  | { type: "delta"; kind: "text" | "thought"; block: number; text: string }
  | { type: "delta"; kind: "tool_args"; block: number; text: string; call: number; name: string };

/** One call of a reply. `malformed` holds the raw arguments of a call that must not run. */
export interface ReplyCall {
  /** The provider's id, for display only: calls are stored under an id of our own. */
  readonly providerId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly malformed?: string;
}

/** How a complete reply ended. With `length` and `content_filter` no call may run. */
export type FinishReason = Exclude<DurablePayload<"agent_trace">["finishReason"], "interrupted" | "error">;

/** A complete reply. */
export interface ModelReply {
  /** In order of `block`; texts equal the joined deltas. */
  readonly blocks: readonly (ReplyBlock & { readonly block: number })[];
  readonly calls: readonly ReplyCall[];
  readonly finishReason: FinishReason;
  /** What the provider counted; null when it did not say. */
  readonly usage: Usage | null;
  /** The text is JSON that fits the schema which was asked for. */
  readonly structured?: true;
  /** Facts about the stream that do not change it (an unknown finish reason, a repaired id). */
  readonly diagnostics?: readonly { readonly code: string; readonly message: string }[];
}

/**
 * The provider is there and has nothing to show yet: a keep-alive, no part of the reply; or, with `begun`, a part of
 * the reply that is held back until it is whole, so that the time to the first delta is over.
 */
export interface ModelAlive {
  type: "alive";
  begun?: true;
}

/**
 * What a model answers with: deltas, then exactly one `reply`, last. The signal's abort must end the stream (by
 * throwing or by returning) and close the connection behind it. Every failure is thrown as a ModelError.
 */
export type ModelStream = AsyncIterable<ModelDelta | ModelAlive | { type: "reply"; reply: ModelReply }>;

/** A model. A provider that has `generate` alone serves streams too, through `streamOf`. */
export interface ModelProvider {
  /** `<provider>/<model>`, as events and usage name it. */
  readonly id: string;
  stream?(request: ModelRequest, signal: AbortSignal): ModelStream;
  generate?(request: ModelRequest, signal: AbortSignal): MaybePromise<ModelReply>;
  /** Set where the provider is one of several. */
  readonly route?: RouteStep;
}

/** What ties a provider to the others that may serve in its place. */
export interface RouteStep {
  /** Told how each attempt ended, unless the caller stopped it. */
  settled(outcome: ModelReply | ModelError): void;
  /** Who takes the next try after this failure; null for nobody. */
  next(error: ModelError): ModelProvider | null;
}
