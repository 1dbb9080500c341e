import { shownLine } from "../runtime/workspace/shown-line.ts";
import { nearestLines } from "./nearest-lines.ts";
import { block, fields, joined } from "./result-text.ts";

const CANDIDATES = 3;
const LINES_OF_CANDIDATE = 8;
const LINE_LENGTH = 300;
const PLACES_SHOWN = 10;

/** Where an edit stands in its call, and what it looks for, with line feeds alone. */
export interface FailedEdit {
  readonly path: string;
  /** From 1. */
  readonly number: number;
  readonly of: number;
  readonly old: string;
}

/** Tells a model that what it wants to replace is not there, and what is there instead. */
export function noMatchText(edit: FailedEdit, text: string): string {
  const lines = text.split("\n");
  const wanted = edit.old.split("\n");
  const key = wanted.reduce((best, line) => (line.trim().length > best.trim().length ? line : best), "");
  const offset = wanted.indexOf(key);
  const shown = Math.min(wanted.length, LINES_OF_CANDIDATE);
  const nearest = nearestLines(lines, key, CANDIDATES).map((index) => {
    const start = Math.max(0, index - Math.min(offset, LINES_OF_CANDIDATE - 1));
    return numbered(lines.slice(start, start + shown), start).join("\n");
  });
  return joined(
    fields(
      ["what", `Nothing was changed: ${nameOf(edit)} looks for text that is not in the file.`],
      ["path", edit.path],
    ),
    nearest.length > 0
      ? block(
          "nearest",
          nearest.flatMap((part, index) => (index > 0 ? ["--", part] : [part])),
        )
      : undefined,
    fields([
      "how",
      differsInBlanks(text, edit.old)
        ? "The text is there with other blanks or line breaks: copy it exactly, without line numbers."
        : "`old` must be exactly what the file has, without line numbers. Read the file again and copy it.",
    ]),
  );
}

/** Tells a model that what it wants to replace is there more than once. */
export function ambiguousText(edit: FailedEdit, text: string, places: readonly number[]): string {
  const lines = places.slice(0, PLACES_SHOWN).map((place) => text.slice(0, place).split("\n").length);
  const more = places.length > lines.length ? ", …" : "";
  return fields(
    [
      "what",
      `Nothing was changed: ${nameOf(edit)} looks for text that is in the file ${places.length} times.`,
    ],
    ["path", edit.path],
    ["lines", `${lines.join(", ")}${more}`],
    ["how", "Take more of the surrounding text into `old` (and `new`), or set `all` to replace every one."],
  );
}

function nameOf({ number, of }: FailedEdit): string {
  return of === 1 ? "the edit" : `edit ${number} of ${of}`;
}

function numbered(lines: readonly string[], start: number): string[] {
  return lines.map((line, index) => `${start + index + 1} | ${shownLine(line, 0, LINE_LENGTH)}`);
}

function differsInBlanks(text: string, old: string): boolean {
  const squeezed = squeeze(old);
  return squeezed !== "" && squeeze(text).includes(squeezed);
}

function squeeze(text: string): string {
  return text.split(/\s+/).join("");
}
