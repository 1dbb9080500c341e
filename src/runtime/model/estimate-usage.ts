import type { Usage } from "../protocol/usage.ts";

/** Characters of one token, about: for text of Latin letters, and for all others, of which most are a token each. */
const LATIN_CHARS = 4;
const OTHER = /[\u0250-\uffff]/g;

/** About how many tokens a text is: rather too many than too few for words, numbers and code. */
function estimateTokens(text: string): number {
  const others = text.match(OTHER)?.length ?? 0;
  return Math.ceil((text.length - others) / LATIN_CHARS) + others;
}

/**
 * What a call has probably used whose provider did not say, or that was cut: without it, a budget would be bypassed.
 * @param sent the request, whatever has to be sent of it
 * @param received what came of the reply
 */
export function estimateUsage(sent: unknown, received: unknown): Usage {
  const [input, output] = [sent, received].map((part) => estimateTokens(JSON.stringify(part) ?? ""));
  return { input: input ?? 0, output: output ?? 0, cachedInput: 0, reasoning: 0 };
}
