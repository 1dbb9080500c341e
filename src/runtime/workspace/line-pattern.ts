import type { Limits } from "../protocol/limits.ts";
import { isNarrow, lineFinder } from "./line-finder.ts";
import type { LineFinder } from "./line-finder.ts";
import { compileRe2, invalidPattern } from "./re2.ts";
import { requiredLiterals } from "./required-literals.ts";
import type { RequiredLiterals } from "./required-literals.ts";
import { withLineFeeds } from "./text-file.ts";
import type { SearchQuery } from "./workspace.ts";

/** Finds the lines of a text that a query is about. */
export interface LinePattern {
  /** What an index may look for first. */
  readonly literals: RequiredLiterals;
  /** Leads to the lines that may match, from the beginning of a line on; all others certainly do not. */
  readonly next: LineFinder;
  matches(line: string): boolean;
  /** Where in a line that matches the first match begins. */
  matchStart(line: string): number;
  /** What a byte of text costs at worst, in steps. */
  readonly work: number;
}

/** Characters that words are made of, in any script, as Unicode has it: RE2's `\b` knows ASCII only. */
const WORD =
  "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200C}\\x{200D}" +
  // Letters in circles and squares are symbols that count as letters.
  "\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}";

/** `\A`, `\z` and `(?-m)` mean the ends of what is tested, so that a text as a whole says nothing about its lines. */
const TEXT_ANCHOR = /\\[Az]|\(\?[A-Za-z]*-/;

const LINE_BREAK = /[\r\n]|(?:^|[^\\])(?:\\\\)*\\n/;

/** @throws LightAgentError `invalid_pattern` */
export async function linePattern(query: SearchQuery, limits: Limits): Promise<LinePattern> {
  const { pattern, fixed = false, caseSensitive = true, word = false } = query;
  checkForm(pattern, fixed, limits);
  // Half a character could be found in the middle of another one; texts have no halves.
  if (fixed && caseSensitive && !word && pattern.isWellFormed()) return plainText(query);
  const options = { caseSensitive, fixed, maxProgram: limits.searchProgram };
  let compiled = await compileRe2(pattern, options);
  if (word) {
    // The neighbours are part of the match, since RE2 cannot look around; only whether a line matches counts.
    const source = fixed ? escapeRe2(pattern) : pattern;
    const bounded = `(?:^|[^${WORD}])(?:${source})(?:$|[^${WORD}])`;
    compiled = await compileRe2(bounded, { ...options, fixed: false });
  }
  const linewise = !fixed && TEXT_ANCHOR.test(pattern);
  const literals = requiredLiterals(query);
  const mayContain = containing(literals);
  const find = lineFinder(literals) ?? everyLine;
  // Then few lines hold the literals, and the automaton need not run over the others.
  const narrow = isNarrow(literals);
  const mayMatch = (text: string): boolean =>
    mayContain(text) && (linewise || narrow || compiled.test(withLineFeeds(text)));
  return {
    literals,
    next: (text, from) => (from > 0 || mayMatch(text) ? find(text, from) : -1),
    matches: (line) => mayContain(line) && compiled.test(line),
    matchStart: (line) => {
      const matcher = compiled.matcher(line);
      return matcher.find() ? matcher.start() : 0;
    },
    work: fixed ? 1 : compiled.programSize(),
  };
}

/** A fixed string needs no automaton. */
function plainText(query: SearchQuery): LinePattern {
  const { pattern } = query;
  return {
    literals: requiredLiterals(query),
    next: (text, from) => text.indexOf(pattern, from),
    matches: (line) => line.includes(pattern),
    matchStart: (line) => line.indexOf(pattern),
    work: 1,
  };
}

/** Whether a text has all that must be there, as far as that is quick to say. */
function containing({ clauses, ignoreCase }: RequiredLiterals): (text: string) => boolean {
  if (ignoreCase) return () => true;
  return (text) => clauses.every((clause) => clause.some((literal) => text.includes(literal)));
}

const everyLine: LineFinder = (_text, from) => from;

function checkForm(pattern: string, fixed: boolean, limits: Limits): void {
  if (pattern === "") throw invalidPattern("The pattern is empty: it would match every line.");
  if (new TextEncoder().encode(pattern).length > limits.patternBytes) {
    throw invalidPattern(`The pattern is longer than ${limits.patternBytes} bytes.`);
  }
  if (fixed ? /[\r\n]/.test(pattern) : LINE_BREAK.test(pattern)) {
    throw invalidPattern("The pattern contains a line break: lines are searched one by one.");
  }
}

function escapeRe2(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}
