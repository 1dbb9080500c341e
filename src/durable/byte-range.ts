import type { ByteRange } from "./object-storage.ts";

/**
 * What a Range header asks of `size` bytes (RFC 9110, section 14). A header that is malformed or names several spans
 * counts as absent, as the standard allows.
 */
export function byteRangeOf(header: string | null, size: number): ByteRange | "all" | "unsatisfiable" {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return "all";
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { offset: size - length, length };
  }
  const offset = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < offset) return "all";
  return offset >= size ? "unsatisfiable" : { offset, length: end - offset };
}
