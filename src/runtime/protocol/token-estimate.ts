/** Characters of one token, about: for text of Latin letters, and for all others, of which most are a token each. */
const LATIN_CHARS = 4;
const OTHER = /[\u0250-\uffff]/g;

/** About how many tokens a text is: rather too many than too few for words, numbers and code. */
export function estimateTokens(text: string): number {
  const others = text.match(OTHER)?.length ?? 0;
  return Math.ceil((text.length - others) / LATIN_CHARS) + others;
}
