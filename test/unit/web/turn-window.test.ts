import { expect, it } from "vitest";
import type { Entry, Turn } from "../../../client/index.ts";
import { countEntries, indexOf, placeOf, sliceTurns } from "../../../web/turn-window.ts";

const turn = (number: number, count: number): Turn => ({
  turn: number,
  running: false,
  entries: Array.from({ length: count }, (_, index): Entry => ({
    key: `${number}.${index}`,
    kind: "output",
    text: "",
    interrupted: false,
  })),
});
const turns = [turn(1, 2), turn(2, 0), turn(3, 3)];
const shown = (from: number, to: number): unknown[] =>
  sliceTurns(turns, from, to).map((slice) => [slice.turn.turn, slice.from, slice.to]);

it("[WEB-23] a place is the same entry whatever is loaded before it or comes after it", () => {
  for (let index = 0; index < countEntries(turns); index += 1) {
    const place = placeOf(turns, index);
    expect(indexOf(turns, place)).toBe(index);
    expect(indexOf([turn(0, 4), ...turns, turn(9, 1)], place)).toBe(index + 4);
  }
  expect(indexOf(turns, placeOf(turns, 5))).toBe(5);
  expect(indexOf(turns, { turn: 2, entry: 7 })).toBe(2);
});

it("[WEB-23] a window takes parts of turns, and an empty last turn when it reaches the end", () => {
  expect(shown(0, 5)).toEqual([
    [1, 0, 2],
    [3, 0, 3],
  ]);
  expect(shown(1, 4)).toEqual([
    [1, 1, 2],
    [3, 0, 2],
  ]);
  expect(shown(3, 4)).toEqual([[3, 1, 2]]);
  expect(sliceTurns([turn(1, 1), turn(2, 0)], 0, 1)).toHaveLength(2);
});
