import { literalLength } from "../runtime/workspace/required-literals.ts";
import type { RequiredLiterals } from "../runtime/workspace/required-literals.ts";

/** The least that the index can look for. */
const TRIGRAM = 3;

/** More trigrams of one literal, alternatives of a clause, or trigrams in all narrow little and cost time. */
const TRIGRAMS_OF_LITERAL = 12;
const ALTERNATIVES = 16;
const TRIGRAMS = 96;

/**
 * The FTS5 query for texts that may hold the literals; null when it would say nothing. It asks for trigrams anywhere in
 * the text, so it finds every text that holds the literals and some that do not. Case needs no thought here: the
 * index folds it on both sides.
 */
export function trigramQuery({ clauses }: RequiredLiterals): string | null {
  const usable = clauses
    .filter((clause) => clause.length <= ALTERNATIVES && shortest(clause) >= TRIGRAM)
    .toSorted((a, b) => shortest(b) - shortest(a));
  const terms: string[] = [];
  let left = TRIGRAMS;
  for (const clause of usable) {
    const alternatives = clause.map((literal) => trigramsOf(literal));
    left -= alternatives.flat().length;
    if (left < 0 && terms.length > 0) break;
    terms.push(`(${alternatives.map((trigrams) => `(${trigrams.join(" AND ")})`).join(" OR ")})`);
  }
  return terms.length === 0 ? null : terms.join(" AND ");
}

/** Quoted; of a long literal some, evenly spread. */
function trigramsOf(literal: string): string[] {
  const chars = Array.from(literal);
  const all = chars.slice(TRIGRAM - 1).map((_, at) => chars.slice(at, at + TRIGRAM).join(""));
  const distinct = [...new Set(all)];
  const step = Math.max(1, distinct.length / TRIGRAMS_OF_LITERAL);
  const chosen = distinct.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
  return chosen.map((trigram) => `"${trigram.replaceAll('"', '""')}"`);
}

function shortest(clause: readonly string[]): number {
  return Math.min(...clause.map((literal) => literalLength(literal)));
}
