import type { Turn } from "../client/index.ts";

/** A place in a conversation that stays the same while turns come before and after it. */
export interface EntryPlace {
  readonly turn: number;
  readonly entry: number;
}

/** The entries of a turn that are drawn: from one up to, not including, another. */
export interface TurnSlice {
  readonly turn: Turn;
  readonly from: number;
  readonly to: number;
}

export function countEntries(turns: readonly Turn[]): number {
  return turns.reduce((sum, { entries }) => sum + entries.length, 0);
}

/** How many entries stand before a place. */
export function indexOf(turns: readonly Turn[], place: EntryPlace): number {
  let index = 0;
  for (const { turn, entries } of turns) {
    if (turn > place.turn) return index;
    if (turn === place.turn) return index + Math.min(place.entry, entries.length);
    index += entries.length;
  }
  return index;
}

/** The place of an entry by its index. */
export function placeOf(turns: readonly Turn[], index: number): EntryPlace {
  let left = index;
  for (const { turn, entries } of turns) {
    if (left < entries.length) return { turn, entry: left };
    left -= entries.length;
  }
  return { turn: (turns.at(-1)?.turn ?? 0) + 1, entry: 0 };
}

/** The parts of the turns that hold the entries from one index up to, not including, another. */
export function sliceTurns(turns: readonly Turn[], from: number, to: number): TurnSlice[] {
  const slices: TurnSlice[] = [];
  let begin = 0;
  for (const turn of turns) {
    const end = begin + turn.entries.length;
    // The last turn is drawn also while nothing stands in it: live text belongs to it.
    const isOpenEnd = turn === turns.at(-1) && to >= end;
    if (Math.max(from, begin) < Math.min(to, end) || isOpenEnd) {
      slices.push({
        turn,
        from: Math.max(0, from - begin),
        to: Math.min(turn.entries.length, to - begin),
      });
    }
    begin = end;
  }
  return slices;
}
