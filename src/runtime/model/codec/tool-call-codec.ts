import type { MaybePromise } from "../../protocol/time.ts";
import type { ModelRequest, ReplyCall } from "../model-provider.ts";

/** What a text stands for: an answer, or calls with what was said before them. */
export interface DecodedReply {
  readonly text: string;
  readonly calls: readonly ReplyCall[];
}

/**
 * Writes tools and their calls as text, for a model that has no tool calling of its own, and reads its replies back.
 * Pure: the same request is encoded the same, so that the static part of the prompt stays byte-stable.
 */
export interface ToolCallCodec {
  /** The request without tools, calls and results: all of them are text. */
  encode(request: ModelRequest): ModelRequest;
  /**
   * Reads a whole reply.
   * @throws CodecError when it tries to be a call or an answer in the codec's form and is not
   */
  decode(text: string): MaybePromise<DecodedReply>;
  /** Tells the model what was wrong with its reply and how to put it right. */
  repairPrompt(error: CodecError): string;
}

/** A reply that cannot be read. Its message is ours and is shown to the model. */
export class CodecError extends Error {
  /** The tool that the reply seems to call; null for what looks like an answer. */
  readonly tool: string | null;

  constructor(message: string, tool: string | null) {
    super(message);
    this.name = "CodecError";
    this.tool = tool;
  }
}
