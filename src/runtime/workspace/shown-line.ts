const ELLIPSIS = "…";
/** The most characters shown before the match. */
const LEAD = 100;

/** The line, or at most `length` characters of it from a little before `at` on, with an ellipsis where it was cut. */
export function shownLine(line: string, at: number, length: number): string {
  if (line.length <= length) return line;
  const lead = Math.min(LEAD, Math.floor(length / 4));
  const begin = Math.max(0, Math.min(at - lead, line.length - (length - 1)));
  const head = begin > 0 ? ELLIPSIS : "";
  const rest = line.slice(begin);
  if (head.length + rest.length <= length) return head + wholeCharacters(rest);
  return head + wholeCharacters(rest.slice(0, length - head.length - ELLIPSIS.length)) + ELLIPSIS;
}

/** Without the half of a surrogate pair that a cut has left at either end. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, "").replace(/[\uD800-\uDBFF]$/, "");
}
