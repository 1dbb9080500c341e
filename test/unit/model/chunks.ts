import { ReplyAccumulator } from "../../../src/runtime/model/reply-accumulator.ts";
import type { ReplyAccumulatorOptions } from "../../../src/runtime/model/reply-accumulator.ts";
import type { ModelDelta, ModelReply, ReplyCall } from "../../../src/runtime/model/model-provider.ts";

/** A fragment of a tool call as a server sends it. */
export function fragment(call: { index?: unknown; id?: unknown; name?: unknown; args?: unknown }): object {
  const { index, id, name, args } = call;
  return {
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
  };
}

/** A chunk with tool call fragments. */
export function callChunk(...fragments: readonly object[]): object {
  return { choices: [{ index: 0, delta: { tool_calls: fragments }, finish_reason: null }] };
}

/** A chunk with some delta. */
export function deltaChunk(delta: unknown): object {
  return { choices: [{ index: 0, delta, finish_reason: null }] };
}

/** A chunk that ends the reply. */
export function endChunk(finishReason: string): object {
  return { choices: [{ index: 0, delta: {}, finish_reason: finishReason }] };
}

/** What an accumulator makes of some chunks. */
export function accumulate(
  chunks: readonly unknown[],
  options: Partial<ReplyAccumulatorOptions> = {},
): { deltas: ModelDelta[]; reply: ModelReply } {
  const accumulator = new ReplyAccumulator({ argumentBytes: 1_000, ...options });
  const deltas = chunks.flatMap((chunk) => accumulator.push(chunk));
  return { deltas, reply: accumulator.finish() };
}

/** The calls that fragments, one chunk each, come to. */
export function callsOf(fragments: readonly object[], finishReason = "tool_calls"): readonly ReplyCall[] {
  const chunks = [...fragments.map((part) => callChunk(part)), endChunk(finishReason)];
  return accumulate(chunks).reply.calls;
}
