import { ModelError } from "./model-error.ts";
import type { ModelProvider, ModelReply, ModelRequest, ModelStream } from "./model-provider.ts";

/**
 * A model's answer as a stream, whichever of `stream` and `generate` the provider has: a generated reply streams as
 * one delta per block.
 * @throws ModelError `model_rejected` while iterating, for a provider that has neither
 */
export function streamOf(provider: ModelProvider, request: ModelRequest, signal: AbortSignal): ModelStream {
  return provider.stream?.(request, signal) ?? streamGenerated(provider, request, signal);
}

async function* streamGenerated(
  provider: ModelProvider,
  request: ModelRequest,
  signal: AbortSignal,
): ModelStream {
  if (!provider.generate) {
    throw new ModelError("model_rejected", "The model provider has neither `stream` nor `generate`.");
  }
  const reply: ModelReply = await provider.generate(request, signal);
  signal.throwIfAborted();
  for (const { kind, block, text } of reply.blocks) {
    if (text !== "") yield { type: "delta", kind, block, text };
  }
  yield { type: "reply", reply };
}
