import { afterAll, beforeAll, expect, it } from "vitest";
import type { Violation } from "../torture/evidence.ts";
import { figuresOf, total } from "../torture/figures.ts";
import type { Figures } from "../torture/figures.ts";
import { Torture } from "../torture/torture.ts";

// Three rounds, all checks; `npm run torture` runs as many as one likes.
const torture = new Torture();
const violations: Violation[] = [];
let figures: Figures;

beforeAll(async () => {
  await torture.start();
  const rounds: Figures[] = [];
  for (const seed of [1, 2, 3]) {
    const round = await torture.round({ seed, sessions: 3, kills: 2 });
    rounds.push(figuresOf(round));
    violations.push(...round.violations);
  }
  violations.push(...(await torture.recheck()));
  figures = total(rounds);
}, 300_000);

afterAll(() => torture.stop());

function brokenOf(rule: string): Violation[] {
  return violations.filter((violation) => violation.rule === rule);
}

it("[LOG-60] keeps every log gapless and well formed through kills -9 under mixed load", () => {
  expect(figures["kills of the Worker"]).toBe(5);
  expect(figures["kills of all"]).toBe(1);
  expect(figures.events).toBeGreaterThan(100);
  expect(brokenOf("LOG-60")).toEqual([]);
});

it("[LOG-61] ends every accepted prompt exactly once and in order, and runs none that was refused", () => {
  expect(figures.prompts).toBeGreaterThan(10);
  expect(brokenOf("LOG-61")).toEqual([]);
});

it("[LOG-62] keeps what it has confirmed: receipts, withdrawals, stops", () => {
  expect(brokenOf("LOG-62")).toEqual([]);
});

it("[LOG-63] makes every change of a tool at most once, and each that a result tells of", () => {
  expect(figures.effects).toBeGreaterThan(10);
  expect(brokenOf("LOG-63")).toEqual([]);
});

it("[LOG-64] leaves every client with the fold of the log, wherever it was cut off", () => {
  expect(figures.connections).toBeGreaterThan(20);
  expect(brokenOf("LOG-64")).toEqual([]);
});

it("[LOG-65] has in the log, byte for byte, what clients were told before a kill", () => {
  expect(brokenOf("LOG-65")).toEqual([]);
});

it("[LOG-66] gives the model valid requests only, each in line with those before a kill", () => {
  expect(brokenOf("LOG-66")).toEqual([]);
});

it("[LOG-67] keeps the decisions and answers of people that it has confirmed, and makes none up", () => {
  expect(brokenOf("LOG-67")).toEqual([]);
});

it("[LOG-68] leaves nothing that runs or waits", () => {
  expect(brokenOf("LOG-68")).toEqual([]);
});

it("[LOG-69] does not touch logs at rest, whatever is killed later", () => {
  expect(brokenOf("LOG-69")).toEqual([]);
});
