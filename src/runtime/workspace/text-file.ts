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
