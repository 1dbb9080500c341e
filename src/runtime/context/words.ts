/** Runs of letters, digits and the marks on them, of any script. */
const RUNS = /[\p{L}\p{N}\p{M}]+/gu;

/** Scripts that put no space between words, or none that tells words apart. Each character and each pair is a word. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;

/** Accents on Latin letters: people leave them out. Marks of other scripts can be vowels, and stay. */
const ACCENTS = /(?<=\p{Script=Latin}\p{M}*)[\u0300-\u036f]+/gu;
/** What Arabic and Hebrew are mostly written without: short vowels, points, and the stroke that lengthens a word. */
const POINTS = /(?<=[\p{Script=Arabic}\p{Script=Hebrew}]\p{M}*)\p{Mn}+|\u0640/gu;

/** No word that anybody looks for is longer. */
const WORD_CHARS = 64;

/**
 * The words of a text, with repetitions, in one form for upper and lower case, with and without accents, in half and
 * full width. Of scripts that put no spaces between words, each character and each pair of neighbours. It depends on
 * no dictionary, so that words of old texts are found by words of new ones.
 */
export function wordsOf(text: string): string[] {
  return segments(text).flatMap(({ word, unspaced }) =>
    unspaced ? [...charactersOf(word), ...pairsOf(word)] : [word],
  );
}

/**
 * The different words that find a text: as {@link wordsOf}, but of scripts without spaces the pairs alone, which say
 * more. @param most so many words at most, the first ones
 */
export function queryWordsOf(text: string, most: number): string[] {
  const words = new Set<string>();
  for (const { word, unspaced } of segments(text)) {
    const parts = unspaced ? pairsOf(word) : [word];
    for (const part of parts.length > 0 ? parts : [word]) {
      if (words.size >= most) return [...words];
      words.add(part);
    }
  }
  return [...words];
}

interface Segment {
  readonly word: string;
  readonly unspaced: boolean;
}

function segments(text: string): Segment[] {
  const folded = text.normalize("NFKD").toLowerCase().replaceAll(ACCENTS, "").replaceAll(POINTS, "");
  return [...folded.normalize("NFC").matchAll(RUNS)].flatMap(([run]) => split(run));
}

/** A run in which scripts change is several words. */
function split(run: string): Segment[] {
  const parts: Segment[] = [];
  let end = 0;
  const spaced = (word: string): void => {
    if (word !== "") parts.push({ word: word.slice(0, WORD_CHARS).toWellFormed(), unspaced: false });
  };
  for (const { 0: word, index } of run.matchAll(UNSPACED)) {
    spaced(run.slice(end, index));
    parts.push({ word, unspaced: true });
    end = index + word.length;
  }
  spaced(run.slice(end));
  return parts;
}

function charactersOf(word: string): string[] {
  return Array.from(word);
}

function pairsOf(word: string): string[] {
  const characters = charactersOf(word);
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}
