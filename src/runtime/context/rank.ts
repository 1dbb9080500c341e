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

/** A text by what a search needs to know of it, so that the text need not be kept. */
export interface CountedText {
  /** Its words. */
  readonly length: number;
  /** How often it has each word of the query that it has. */
  readonly counts: ReadonlyMap<string, number>;
}

/** @param wanted the words of the query */
export function countWords(text: string, wanted: ReadonlySet<string>): CountedText {
  const words = wordsOf(text);
  const counts = new Map<string, number>();
  for (const word of words) if (wanted.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { length: words.length, counts };
}

/** The items that have at least one word of the query, the best first; of equals in the order in which they came. */
export function rank<T>(items: readonly T[], textOf: (item: T) => string, query: string): Ranked<T>[] {
  const wanted = new Set(queryWordsOf(query, QUERY_WORDS));
  const counted = items.map((item) => ({ item, text: countWords(textOf(item), wanted) }));
  return rankCounted(counted, wanted);
}

/** The same of texts that have been counted, with all words of the query. */
export function rankCounted<T>(
  texts: readonly { readonly item: T; readonly text: CountedText }[],
  wanted: ReadonlySet<string>,
): Ranked<T>[] {
  const average = texts.reduce((sum, { text }) => sum + text.length, 0) / Math.max(texts.length, 1);
  const weights = [...wanted].map((word) => {
    const having = texts.filter(({ text }) => text.counts.has(word)).length;
    const weight = Math.log((texts.length - having + 0.5) / (having + 0.5));
    return { word, weight: Math.max(weight, LEAST_WEIGHT) };
  });
  const ranked = texts.flatMap(({ item, text }) => {
    const score = scoreOf(text, weights, average);
    return score > 0 ? [{ item, score }] : [];
  });
  const rounded = ({ score }: Ranked<T>): number => Math.round(score * 10 ** SCORE_DIGITS);
  return ranked.sort((left, right) => rounded(right) - rounded(left));
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
