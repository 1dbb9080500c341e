import { anyCase, escapeLiteral } from "./character-window.ts";
import type { RequiredLiterals } from "./required-literals.ts";

/** The index of something in a text, at or after `from`, that only a line that may match holds; -1 for none. */
export type LineFinder = (text: string, from: number) => number;

/** Characters of a literal that most lines do not hold. */
const LONG = 3;

/** How much a window has to say to be looked for. */
const LEAST_BITS = 8;

/**
 * Looks for the literals that say most, or for successive characters where these say more. Undefined where nothing is
 * known of a pattern.
 *
 * JavaScript's own engine is quick and may be used here: it is given literals or character classes only, each of which
 * stands for one character. Without repetitions a place in the text costs it no more than all of them are long.
 */
export function lineFinder({ clauses, ignoreCase, window }: RequiredLiterals): LineFinder | undefined {
  const literals = clauses.toSorted((a, b) => shortestOf(b) - shortestOf(a))[0];
  if (window && window.bits >= LEAST_BITS && (!literals || shortestOf(literals) < LONG)) {
    return native(window.source);
  }
  if (!literals) return undefined;
  const [only, ...others] = literals;
  if (only !== undefined && others.length === 0 && !ignoreCase)
    return (text, from) => text.indexOf(only, from);
  const source = literals
    .map((literal) => Array.from(literal, ignoreCase ? anyCase : escapeLiteral).join(""))
    .join("|");
  return native(source);
}

function native(source: string): LineFinder {
  const expression = new RegExp(source, "g");
  return (text, from) => {
    expression.lastIndex = from;
    return expression.exec(text)?.index ?? -1;
  };
}

/** Whether few lines are likely to be found. */
export function isNarrow({ clauses, window }: RequiredLiterals): boolean {
  return (window?.bits ?? 0) >= LEAST_BITS || clauses.some((clause) => shortestOf(clause) >= LONG);
}

/** Code units of the shortest of the literals: how much less than others a clause is likely to be met by chance. */
function shortestOf(clause: readonly string[]): number {
  return Math.min(...clause.map((literal) => literal.length));
}
