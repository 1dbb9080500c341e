import { estimateTokens } from "../protocol/token-estimate.ts";

/** The beginning and the end of a text that is more than so many characters, and how many lie between. */
export function shortened(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const half = Math.floor(characters / 2);
  const [begin, end] = [text.slice(0, half), text.slice(text.length - half)].map((part) =>
    part.toWellFormed(),
  );
  return `${begin} [… ${text.length - 2 * half} characters left out …] ${end}`;
}

/** The same for about so many tokens; at the least a mark that something was there. */
export function shortenedToTokens(text: string, tokens: number): string {
  const size = estimateTokens(text);
  if (size <= tokens) return text;
  // Characters are worth about the same all through a text; ends that are worth more are halved until they fit.
  for (let room = Math.floor((text.length * tokens) / size); room > 0; room = Math.floor(room / 2)) {
    const short = shortened(text, room);
    if (estimateTokens(short) <= tokens) return short;
  }
  return "[…]";
}
