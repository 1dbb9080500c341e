import { textContent } from "../../protocol/content.ts";
import { DEFAULT_LIMITS } from "../../protocol/limits.ts";
import type { Limits } from "../../protocol/limits.ts";
import { BufferedCalls, textOf } from "../buffered-call.ts";
import { ModelError } from "../model-error.ts";
import type { ModelProvider, ModelReply, ModelRequest, ModelStream } from "../model-provider.ts";
import { assistantText } from "./encoded-history.ts";
import { CodecError } from "./tool-call-codec.ts";
import type { DecodedReply, ToolCallCodec } from "./tool-call-codec.ts";

export interface CodecOptions {
  /** @default the product's limits */
  readonly limits?: Pick<Limits, "repairCalls" | "replyChars">;
}

/** Most characters of an unreadable reply that the model sees again. */
const REPEATED_CHARS = 8_192;

/**
 * A model without tool calling as one that has it. Replies are held back until they are whole, then shown at once; one
 * that cannot be read is asked for again, `repairCalls` times, and what that uses is in the reply's usage.
 */
export function withCodec(
  provider: ModelProvider,
  codec: ToolCallCodec,
  { limits = DEFAULT_LIMITS }: CodecOptions = {},
): ModelProvider {
  return {
    id: provider.id,
    stream: (request, signal) => {
      const calls = new BufferedCalls(provider, signal, limits.replyChars);
      return streamDecoded(codec, request, calls, limits.repairCalls);
    },
  };
}

async function* streamDecoded(
  codec: ToolCallCodec,
  request: ModelRequest,
  calls: BufferedCalls,
  repairs: number,
): ModelStream {
  const encoded = codec.encode(request);
  const diagnostics: { code: string; message: string }[] = [];
  let ask = encoded;
  for (let repaired = 0; ; repaired++) {
    const reply = yield* calls.call(ask);
    diagnostics.push(...(reply.diagnostics ?? []));
    const decoded = await decode(codec, request, reply);
    if (!(decoded instanceof CodecError)) {
      yield* calls.shown(decoded.text);
      const told = diagnostics.length > 0 ? { diagnostics } : {};
      const finishReason = endingOf(reply, decoded);
      yield {
        type: "reply",
        reply: calls.reply(decoded.text, reply, { calls: decoded.calls, finishReason, ...told }),
      };
      return;
    }
    if (repaired >= repairs) {
      const message = "The model's reply is not in the form that its codec reads.";
      throw new ModelError("malformed_stream", message, { retryable: false });
    }
    diagnostics.push({ code: "reply_repaired", message: decoded.message });
    ask = { ...encoded, messages: [...encoded.messages, ...repairMessages(codec, textOf(reply), decoded)] };
  }
}

/** A reply that was cut is not repaired: what seems to be a call in it is one that must not run. */
async function decode(
  codec: ToolCallCodec,
  { tools }: ModelRequest,
  reply: ModelReply,
): Promise<DecodedReply | CodecError> {
  const text = textOf(reply);
  // Some models call tools natively in spite of it all.
  if (tools.length === 0 || reply.calls.length > 0 || reply.finishReason === "content_filter") {
    return { text, calls: reply.calls };
  }
  try {
    return await codec.decode(text);
  } catch (caught) {
    if (!(caught instanceof CodecError)) throw caught;
    if (reply.finishReason !== "length") return caught;
    if (caught.tool === null) return { text, calls: [] };
    const cut = { providerId: "cut", name: caught.tool || "unknown", args: {}, malformed: text };
    return { text: "", calls: [cut] };
  }
}

function endingOf({ finishReason }: ModelReply, { calls }: DecodedReply): ModelReply["finishReason"] {
  if (finishReason === "length" || finishReason === "content_filter") return finishReason;
  return calls.length > 0 ? "tool_calls" : "stop";
}

function repairMessages(codec: ToolCallCodec, raw: string, error: CodecError): ModelRequest["messages"] {
  const prompt = textContent(codec.repairPrompt(error));
  return [assistantText(raw.slice(0, REPEATED_CHARS)), { role: "user", content: prompt }];
}
