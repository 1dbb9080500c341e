/** A NUL in so many first bytes makes a file binary, as for git and grep. */
export const BINARY_PROBE_BYTES = 8 * 1024;

const BOM = "\uFEFF";

// With `ignoreBOM` a byte order mark is kept, so that an edit can write it back.
const lenient = new TextDecoder("utf-8", { ignoreBOM: true, fatal: false });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** @param head The first bytes of the file, at least {@link BINARY_PROBE_BYTES} where it has them. */
export function isBinary(head: Uint8Array): boolean {
  return head.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** The text of a file for reading: without byte order mark, what is not UTF-8 as U+FFFD; null for a binary file. */
export function readableText(bytes: Uint8Array): string | null {
  return isBinary(bytes) ? null : withoutBom(lenient.decode(bytes));
}

/** The text of a file for changing it, byte for byte the same when encoded again; null where that cannot be. */
export function exactText(bytes: Uint8Array): string | null {
  if (isBinary(bytes)) return null;
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

export function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(BOM.length) : text;
}

/** The text with a line feed alone at the end of each line. A carriage return elsewhere is content. */
export function withLineFeeds(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/** The lines without their ends. A line end at the end of the text begins no further line; the empty text has none. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = withLineFeeds(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** One line of a text. */
export interface TextLine {
  /** Where it begins. */
  readonly begin: number;
  /** Where the next one begins, or the text's length. */
  readonly next: number;
  /** Without its end. */
  readonly text: string;
}

/** The line that holds an index of a text. */
export function lineAt(text: string, index: number): TextLine {
  const begin = index === 0 ? 0 : text.lastIndexOf("\n", index - 1) + 1;
  const feed = text.indexOf("\n", index);
  if (feed < 0) return { begin, next: text.length, text: text.slice(begin) };
  const end = feed > begin && text.charAt(feed - 1) === "\r" ? feed - 1 : feed;
  return { begin, next: feed + 1, text: text.slice(begin, end) };
}

/** How many lines begin after `from`, up to `to`, which is the beginning of one. */
export function linesBetween(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Up to so many lines before the one that begins at an index. */
export function linesBefore(text: string, begin: number, count: number): string[] {
  const lines: string[] = [];
  for (let at = begin; at > 0 && lines.length < count;) {
    const line = lineAt(text, at - 1);
    lines.unshift(line.text);
    at = line.begin;
  }
  return lines;
}

/** Up to so many lines from the one that begins at an index on. */
export function linesFrom(text: string, begin: number, count: number): string[] {
  const lines: string[] = [];
  for (let at = begin; at < text.length && lines.length < count;) {
    const line = lineAt(text, at);
    lines.push(line.text);
    at = line.next;
  }
  return lines;
}
