import { queryWordsOf, wordsOf } from "./words.ts";

/** A query counts by its first different words. */
export const QUERY_WORDS = 64;

/** The constants of BM25, as SQLite's FTS5 has them, so that both rank alike. */
const K1 = 1.2;
const B = 0.75;
/** Scores that agree in so many digits after the point are equal: the order of sums must not decide. */
export const SCORE_DIGITS = 9;
/** A word that more than half of all texts have still counts for a little. */
const LEAST_WEIGHT = 1e-6;

export interface Ranked<T> {
  readonly item: T;
  /** Above 0; the higher the better. Scores within one ranking compare, others do not. */
  readonly score: number;
}

/** The items that have at least one word of the query, the best first; of equals in the order in which they came. */
export function rank<T>(items: readonly T[], textOf: (item: T) => string, query: string): Ranked<T>[] {
  const texts = items.map((item) => countWords(wordsOf(textOf(item))));
  const average = texts.reduce((sum, { length }) => sum + length, 0) / Math.max(texts.length, 1);
  const weights = queryWordsOf(query, QUERY_WORDS).map((word) => {
    const having = texts.filter(({ counts }) => counts.has(word)).length;
    const weight = Math.log((texts.length - having + 0.5) / (having + 0.5));
    return { word, weight: Math.max(weight, LEAST_WEIGHT) };
  });
  const ranked = items.flatMap((item, index) => {
    const text = texts[index];
    const score = text ? scoreOf(text, weights, average) : 0;
    return score > 0 ? [{ item, score }] : [];
  });
  const rounded = ({ score }: Ranked<T>): number => Math.round(score * 10 ** SCORE_DIGITS);
  return ranked.sort((left, right) => rounded(right) - rounded(left));
}

interface CountedText {
  readonly length: number;
  readonly counts: ReadonlyMap<string, number>;
}

function countWords(words: readonly string[]): CountedText {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { length: words.length, counts };
}

function scoreOf(
  { length, counts }: CountedText,
  weights: readonly { word: string; weight: number }[],
  average: number,
): number {
  return weights.reduce((sum, { word, weight }) => {
    const count = counts.get(word) ?? 0;
    return sum + (weight * (count * (K1 + 1))) / (count + K1 * (1 - B + (B * length) / average));
  }, 0);
}
