import { LightAgentError } from "../runtime/protocol/errors.ts";
import { BINARY_PROBE_BYTES, isBinary, withoutBom } from "../runtime/workspace/text-file.ts";

/** The content that one window shows, in bytes. */
export const WINDOW_BYTES = 100 * 1024;
/** Read in one go. */
const CHUNK_BYTES = 1024 * 1024;
/** Beyond this size the lines after the window are not counted. */
const COUNTED_BYTES = 16 * 1024 * 1024;
const LINE_FEED = 10;

/** Reads bytes of a file that does not change meanwhile; fewer at its end. */
export type ReadBytes = (offset: number, length: number) => Promise<Uint8Array>;

export interface WindowRequest {
  /** From 1. */
  readonly startLine: number;
  /** Inclusive. */
  readonly endLine: number;
  /** Bytes of the first line to leave out. */
  readonly byteOffset: number;
}

export interface LineWindow {
  /** Whole lines without their ends, but for what {@link nextByte} says. */
  readonly lines: readonly string[];
  /** Undefined where the file is too large to count. */
  readonly totalLines: number | undefined;
  /** When the only line of the window did not fit: where in the line the next window begins. */
  readonly nextByte: number | undefined;
}

/**
 * Some lines of a file, as many as fit, without ever holding the whole of a large file.
 * @throws LightAgentError `binary_file`; `invalid_arguments` when the window begins beyond the end
 */
export async function readLineWindow(
  read: ReadBytes,
  size: number,
  { startLine, endLine, byteOffset }: WindowRequest,
): Promise<LineWindow> {
  if (isBinary(await read(0, Math.min(size, BINARY_PROBE_BYTES)))) {
    throw new LightAgentError("binary_file", "The file is binary.");
  }
  const found = await findLine(read, size, startLine, byteOffset > 0);
  if (size === 0 && startLine === 1) return { lines: [], totalLines: 0, nextByte: undefined };
  if (found.start === undefined) throw beyond(`the file has ${found.totalLines ?? 0} lines`);
  const offset = found.start + byteOffset;
  if (byteOffset > 0 && offset >= (found.end ?? size)) throw beyond("the line is shorter");
  const bytes = shownBytes(await read(offset, WINDOW_BYTES));
  const ends = lineEnds(bytes, offset + bytes.length >= size, endLine - startLine + 1);
  const last = ends.at(-1);
  if (last === undefined) {
    const part = bytes.subarray(0, characterBoundary(bytes));
    return {
      lines: [decode(part, offset)],
      totalLines: found.totalLines,
      nextByte: byteOffset + part.length,
    };
  }
  const lines = decode(bytes.subarray(0, last), offset).split("\n").slice(0, ends.length).map(withoutReturn);
  const atEnd = offset + last >= size;
  const totalLines = atEnd ? startLine + lines.length - 1 : found.totalLines;
  return { lines, totalLines, nextByte: undefined };
}

interface FoundLine {
  readonly start: number | undefined;
  /** Where the next line begins; undefined when there is none, or nobody asked. */
  readonly end: number | undefined;
  readonly totalLines: number | undefined;
}

/** Where a line begins (and ends, if that is wanted), and how many lines there are. */
async function findLine(read: ReadBytes, size: number, line: number, withEnd: boolean): Promise<FoundLine> {
  let start = line === 1 ? 0 : undefined;
  let end: number | undefined;
  let feeds = 0;
  let endsWithFeed = false;
  for (let offset = 0; offset < size;) {
    const found = (withEnd ? end : start) !== undefined;
    if (found && size > COUNTED_BYTES) return { start, end, totalLines: undefined };
    const chunk = await read(offset, CHUNK_BYTES);
    if (chunk.length === 0) break;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) {
      feeds += 1;
      const next = offset + at + 1;
      if (feeds === line - 1 && next < size) start = next;
      if (feeds === line) end = next;
    }
    endsWithFeed = chunk.at(-1) === LINE_FEED;
    offset += chunk.length;
  }
  return { start, end, totalLines: feeds + (size > 0 && !endsWithFeed ? 1 : 0) };
}

/** Each byte that is not UTF-8 is shown as three: then a third must do. */
function shownBytes(bytes: Uint8Array): Uint8Array {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return bytes;
  } catch {
    return bytes.subarray(0, Math.floor(WINDOW_BYTES / 3));
  }
}

/** Ends (exclusive, with the line feed) of the whole lines in some bytes, at most `count`. */
function lineEnds(bytes: Uint8Array, endsFile: boolean, count: number): number[] {
  const ends: number[] = [];
  let at = bytes.indexOf(LINE_FEED);
  for (; at >= 0 && ends.length < count; at = bytes.indexOf(LINE_FEED, at + 1)) ends.push(at + 1);
  const rest = (ends.at(-1) ?? 0) < bytes.length;
  if (at < 0 && endsFile && rest && ends.length < count) ends.push(bytes.length);
  return ends;
}

/** The length without a UTF-8 character that is cut at the end. */
function characterBoundary(bytes: Uint8Array): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && lead > 0 && ((bytes[lead] ?? 0) & 0xc0) === 0x80) lead -= 1;
  const first = bytes[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return lead > 0 && lead + length > bytes.length ? lead : bytes.length;
}

function decode(bytes: Uint8Array, offset: number): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true, fatal: false }).decode(bytes);
  return offset === 0 ? withoutBom(text) : text;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function beyond(why: string): LightAgentError {
  return new LightAgentError("invalid_arguments", `The range begins beyond the end: ${why}.`);
}
