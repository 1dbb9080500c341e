import type { Usage } from "../../protocol/usage.ts";
import type { ModelProvider, ModelReply, ModelRequest, ModelStream } from "../model-provider.ts";
import { nextStep } from "./next-step.ts";

/**
 * A model that needs no key, no account and no network: a few fixed rules that answer questions about the workspace
 * by the agent's own tools, and say so when they are asked anything else. Its usage is an estimate, one token for four
 * characters.
 */
export function createDemoProvider(): ModelProvider {
  return { id: "demo", stream: streamStep };
}

async function* streamStep(request: ModelRequest, signal: AbortSignal): ModelStream {
  const { say, call } = nextStep(request);
  for (const text of wordsOf(say)) {
    signal.throwIfAborted();
    yield { type: "delta", kind: "text", block: 0, text };
  }
  const args = call ? JSON.stringify(call.args) : "";
  if (call) yield { type: "delta", kind: "tool_args", block: 1, text: args, call: 0, name: call.name };
  signal.throwIfAborted();
  const reply: ModelReply = {
    blocks: [{ kind: "text", block: 0, text: say }],
    calls: call ? [{ providerId: "demo_0", ...call }] : [],
    finishReason: call ? "tool_calls" : "stop",
    usage: estimateUsage(request, say + args),
  };
  yield { type: "reply", reply };
}

/** A text in pieces of one word each, nothing lost. */
function wordsOf(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** Nothing here counts tokens; four characters a token is a common rule of thumb for English and code. */
function estimateUsage(request: ModelRequest, output: string): Usage {
  const input = request.system + JSON.stringify(request.messages) + JSON.stringify(request.tools);
  const tokens = (text: string): number => Math.ceil(text.length / 4);
  return { input: tokens(input), output: tokens(output), cachedInput: 0, reasoning: 0 };
}
