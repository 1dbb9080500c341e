import type { ReplyBlock } from "../protocol/model-messages.ts";
import type { Usage } from "../protocol/usage.ts";
import { readChunk } from "./chat-chunk.ts";
import { readErrorObject } from "./failure.ts";
import { endingOf } from "./finish-reason.ts";
import type { Ending } from "./finish-reason.ts";
import { ModelError } from "./model-error.ts";
import type { ModelDelta, ModelReply } from "./model-provider.ts";
import { classifyFailure } from "./stream-errors.ts";
import { ToolCallSlots } from "./tool-call-slots.ts";

export interface ReplyAccumulatorOptions {
  /** Most bytes of one call's arguments; a call with more is malformed. */
  readonly argumentBytes: number;
  /**
   * Takes the stream's end for the reply's end when no finish reason came: for old servers that send `[DONE]` alone.
   * A cut stream then passes for a complete one.
   * @default false
   */
  readonly allowMissingFinishReason?: boolean;
}

type Block = ReplyBlock & { readonly block: number };

/**
 * Makes a reply from the chunks of one Chat Completions stream. All text goes to one block and all reasoning to
 * another, each tool call to its own, numbered in order of first appearance. Nothing in it runs or is trusted before
 * `finish`, which accepts only a stream that said how it ended.
 */
export class ReplyAccumulator {
  readonly #options: ReplyAccumulatorOptions;
  readonly #slots: ToolCallSlots;
  readonly #blocks: Block[] = [];
  #nextBlock = 0;
  #chunks = 0;
  #finishReason: string | null = null;
  #usage: Usage | null = null;

  constructor(options: ReplyAccumulatorOptions) {
    this.#options = options;
    this.#slots = new ToolCallSlots(options.argumentBytes, () => this.#nextBlock++);
  }

  /**
   * Takes one raw chunk in and returns what it adds.
   * @throws ModelError when the chunk is an error that the provider sent inside its stream
   */
  push(raw: unknown): ModelDelta[] {
    this.#chunks++;
    const chunk = readChunk(raw);
    if (chunk.error !== undefined) throw classifyFailure(readErrorObject(chunk.error));
    this.#finishReason = chunk.finishReason ?? this.#finishReason;
    // Servers that report usage on every chunk report sums, so the last one stands and nothing is added up.
    this.#usage = chunk.usage ?? this.#usage;
    const deltas: ModelDelta[] = [];
    if (chunk.thought !== "") deltas.push(this.#addText("thought", chunk.thought));
    if (chunk.text !== "") deltas.push(this.#addText("text", chunk.text));
    for (const call of chunk.toolCalls) {
      const delta = this.#slots.push(call);
      if (delta) deltas.push(delta);
    }
    return deltas;
  }

  /**
   * The complete reply, once the stream has ended.
   * @throws ModelError `incomplete_stream`, `malformed_stream`, `empty_reply`, `content_filter`, `context_overflow`
   *   or `model_error`
   */
  finish(): ModelReply {
    if (this.#chunks === 0) {
      throw new ModelError("malformed_stream", "The provider answered without a single piece of a reply.");
    }
    const ending = this.#ending();
    const { calls, diagnostics } = this.#slots.finish(ending !== "unknown");
    const hasText = this.#blocks.some((block) => block.kind === "text");
    if (!hasText && calls.length === 0) throw emptyReply(ending);
    if (ending === "unknown") diagnostics.push(unknownFinishReason(this.#finishReason));
    if (ending === "tool_calls" && calls.length === 0) {
      diagnostics.push({
        code: "calls_missing",
        message: "The reply ended for tool calls and has none; it counts as stop.",
      });
    }
    return {
      blocks: this.#blocks.map((block) => ({ ...block })),
      calls,
      finishReason: finishReasonOf(ending, calls.length > 0),
      usage: this.#usage,
      ...(diagnostics.length > 0 ? { diagnostics } : {}),
    };
  }

  /** How the reply ended, once that is an ending which a reply can have. */
  #ending(): Exclude<Ending, "error" | "overflow"> {
    const reason = this.#finishReason;
    if (reason === null) {
      if (this.#options.allowMissingFinishReason === true) return "stop";
      throw new ModelError(
        "incomplete_stream",
        "The stream ended without saying that the reply was complete.",
      );
    }
    const ending = endingOf(reason);
    if (ending === "error")
      throw new ModelError("model_error", "The provider ended the reply with an error.");
    if (ending === "overflow") {
      throw new ModelError("context_overflow", "The request does not fit the model's context window.");
    }
    return ending;
  }

  /** Appends to the one block of this kind, which the first text opens. */
  #addText(kind: "text" | "thought", text: string): ModelDelta {
    let block = this.#blocks.find((candidate) => candidate.kind === kind);
    if (!block) {
      block = { kind, text: "", block: this.#nextBlock++ };
      this.#blocks.push(block);
    }
    block.text += text;
    return { type: "delta", kind, block: block.block, text };
  }
}

/** Calls decide: `stop` with calls is tool use, `tool_calls` without any is not. */
function finishReasonOf(
  ending: Exclude<Ending, "error" | "overflow">,
  calls: boolean,
): ModelReply["finishReason"] {
  if (ending === "unknown") return "stop";
  if (ending === "stop" || ending === "tool_calls") return calls ? "tool_calls" : "stop";
  return ending;
}

/** What a reply without text and calls comes to. */
export function emptyReply(ending: Ending): ModelError {
  if (ending === "content_filter") {
    return new ModelError("content_filter", "The provider's content filter withheld the reply.");
  }
  if (ending === "length") {
    // A reasoning model can burn the whole output budget without a word; the same request would burn it again.
    const message = "The model used up its output limit before it gave text or a call.";
    return new ModelError("empty_reply", message, { retryable: false });
  }
  return new ModelError("empty_reply", "The model ended without text and without a call.");
}

function unknownFinishReason(reason: string | null): { code: string; message: string } {
  // The reason is the provider's text: shown only when it looks like a name.
  const named = reason !== null && /^[\w.-]{1,64}$/.test(reason) ? ` \`${reason}\`` : "";
  return {
    code: "unknown_finish_reason",
    message: `The provider gave the unknown finish reason${named}; no call of the reply runs.`,
  };
}
