/** Lines that are compared at most, and characters of each: what is shown is a help, not worth more time. */
const LINES_COMPARED = 20_000;
const CHARACTERS_COMPARED = 200;
/** Likeness from 0 to 1 below which a line is of no help. */
const LEAST_LIKENESS = 0.4;

/** The lines most like a wanted one, by index, the best first. Blanks at either end do not count. */
export function nearestLines(lines: readonly string[], wanted: string, count: number): number[] {
  const pairs = pairsOf(wanted);
  return lines
    .slice(0, LINES_COMPARED)
    .map((line, index) => ({ index, likeness: likeness(pairs, line) }))
    .filter((candidate) => candidate.likeness >= LEAST_LIKENESS)
    .sort((a, b) => b.likeness - a.likeness || a.index - b.index)
    .slice(0, count)
    .map(({ index }) => index);
}

/** Dice's coefficient of the pairs of neighbouring characters. */
function likeness(wanted: ReadonlyMap<string, number>, line: string): number {
  const pairs = pairsOf(line);
  let common = 0;
  for (const [pair, count] of pairs) common += Math.min(count, wanted.get(pair) ?? 0);
  const total = sizeOf(pairs) + sizeOf(wanted);
  return total === 0 ? 0 : (2 * common) / total;
}

function pairsOf(line: string): Map<string, number> {
  const text = line.trim().slice(0, CHARACTERS_COMPARED);
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < text.length; at += 1) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

function sizeOf(pairs: ReadonlyMap<string, number>): number {
  let size = 0;
  for (const count of pairs.values()) size += count;
  return size;
}
