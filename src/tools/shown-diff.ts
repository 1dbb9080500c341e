import { createTwoFilesPatch, OMIT_HEADERS } from "diff";
import { shownLine } from "../runtime/workspace/shown-line.ts";

const LINES_SHOWN = 300;
const LINE_LENGTH = 300;
/** Beyond so many changed lines a difference takes long to find and nobody reads it. */
const MOST_CHANGES = 1_000;

/** A unified diff of two texts, as far as it is worth showing. */
export function shownDiff(path: string, before: string, after: string): string[] {
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, {
    context: 3,
    headerOptions: OMIT_HEADERS,
    maxEditLength: MOST_CHANGES,
  });
  if (patch === undefined) return ["(too many lines changed to show them)"];
  const lines = patch.trimEnd().split("\n");
  const shown = lines.slice(0, LINES_SHOWN).map((line) => shownLine(line, 0, LINE_LENGTH));
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, `(${left} more lines)`] : shown;
}
