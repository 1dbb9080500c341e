import { estimateTokens } from "../protocol/token-estimate.ts";
import type { Usage } from "../protocol/usage.ts";

/**
 * What a call has probably used whose provider did not say, or that was cut: without it, a budget would be bypassed.
 * @param sent the request, whatever has to be sent of it
 * @param received what came of the reply
 */
export function estimateUsage(sent: unknown, received: unknown): Usage {
  const [input, output] = [sent, received].map((part) => estimateTokens(JSON.stringify(part) ?? ""));
  return { input: input ?? 0, output: output ?? 0, cachedInput: 0, reasoning: 0 };
}
