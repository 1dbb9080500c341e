import { expect, it } from "vitest";
import { foldConversation } from "../../../client/conversation.ts";
import { undoneTurns } from "../../../client/undone-turns.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";

/** A turn of two events. */
const turn = (number: number): Line[] => [
  ["input", { turn: number }],
  ["agent_stop", { turn: number }],
];
const restore = (toSeq: number, conversation = true): Line => [
  "checkpoint_restore",
  { toSeq, conversation, files: true },
];
const undone = (...lines: Line[]): number[] => [...undoneTurns(foldConversation([], logOf(...lines)))];

it("[WEB-25] turns that a restore took out of the conversation are known as such", () => {
  expect(undone(...turn(1), ...turn(2))).toEqual([]);
  // Events 1 to 6 are three turns.
  expect(undone(...turn(1), ...turn(2), ...turn(3), restore(2))).toEqual([2, 3]);
  expect(undone(...turn(1), ...turn(2), ...turn(3), restore(2), ...turn(4))).toEqual([2, 3]);
  expect(undone(...turn(1), ...turn(2), restore(0), ...turn(3))).toEqual([1, 2]);
  expect(undone(...turn(1), ...turn(2), restore(2, false))).toEqual([]);
});

it("[WEB-25] a restore into a part that was skipped brings it back", () => {
  const lines = [...turn(1), ...turn(2), restore(2), ...turn(3)];
  expect(undone(...lines)).toEqual([2]);
  // To the end of turn 2, as the conversation was then: turn 3 had not been.
  expect(undone(...lines, restore(4))).toEqual([3]);
  expect(undone(...lines, restore(4), restore(7), ...turn(4))).toEqual([2]);
});

it("[WEB-25] a point before what is loaded is the beginning of it", () => {
  const [, , ...later] = logOf(...turn(1), ...turn(2), restore(2), ...turn(3));
  expect([...undoneTurns(foldConversation([], later))]).toEqual([2]);
});
