import { expect, it } from "vitest";
import { parseBenchArguments } from "../../../bench/arguments.ts";
import { compare } from "../../../bench/comparison.ts";
import type { Goal } from "../../../bench/comparison.ts";
import { comparisonTable, numberText } from "../../../bench/table.ts";

const values = { product: [2, 3, 4], floor: [1, 1, 1], "ai-chat": [9, 10, 11] };

function reached(goal: Goal): boolean | null {
  return compare({ name: "m", unit: "ms", goal, values }, "product").reached;
}

it("[BENCH-1] gives the product's median as a multiple of the others' medians", () => {
  const { ratios, servers, reached: none } = compare({ name: "m", unit: "ms", values }, "product");
  expect(ratios).toEqual({ floor: 3, "ai-chat": 0.3 });
  expect(servers["product"]).toEqual({ median: 3, min: 2, max: 4 });
  expect(none).toBeNull();
});

it("[BENCH-1] says of a goal whether it is reached, at the bound too", () => {
  expect(reached({ timesPeer: 0.3, bound: "most" })).toBe(true);
  expect(reached({ timesPeer: 0.29, bound: "most" })).toBe(false);
  expect(reached({ timesPeer: 0.3, bound: "least" })).toBe(true);
  expect(reached({ timesPeer: 10, bound: "least" })).toBe(false);
  expect(reached({ value: 3, bound: "most" })).toBe(true);
  expect(reached({ value: 2, bound: "most" })).toBe(false);
});

it("[BENCH-1] does not call a goal reached that could not be measured", () => {
  const goal: Goal = { timesPeer: 10, bound: "least" };
  expect(compare({ name: "m", unit: "", goal, values: { product: [1] } }, "product").reached).toBe(false);
});

it("[BENCH-1] shows medians, spread, ratios and goals in columns", () => {
  const goal: Goal = { timesPeer: 0.33, bound: "most" };
  const rows = [
    compare({ name: "a step", unit: "ms", goal, values }, "product"),
    compare({ name: "own", unit: "", values: { product: [1234.5] } }, "product"),
  ];
  expect(comparisonTable(rows, ["product", "floor", "ai-chat"]).split("\n")).toEqual([
    "             product   floor     ai-chat   ÷ floor   ÷ ai-chat              goal",
    "a step, ms   3 (2–4)       1   10 (9–11)        3×        0.3×   ≤ 0.33× ai-chat   reached",
    "own            1,235       –           –         –           –",
  ]);
});

it("[BENCH-1] writes numbers with three digits that count", () => {
  expect([0, 0.08264, 1.5, 12.345, 99.96, 1234.5, 110602.4].map(numberText)).toEqual([
    "0",
    "0.0826",
    "1.5",
    "12.3",
    "100",
    "1,235",
    "110,602",
  ]);
});

it("[BENCH-4] refuses arguments that it does not know, and says how it is used", () => {
  const names = ["stream", "turns"];
  expect(parseBenchArguments(["turns"], names)).toEqual({
    name: "turns",
    runs: 7,
    json: false,
    sizes: null,
  });
  expect(parseBenchArguments(["--json", "stream", "--runs", "3"], names)).toEqual({
    name: "stream",
    runs: 3,
    json: true,
    sizes: null,
  });
  expect(parseBenchArguments(["turns", "--sizes", "10,20"], names).sizes).toEqual([10, 20]);
  for (const args of [
    [],
    ["no"],
    ["stream", "turns"],
    ["stream", "--runs", "0"],
    ["stream", "--runs", "x"],
    ["stream", "-v"],
    ["stream", "--sizes", "10,"],
  ]) {
    expect(() => parseBenchArguments(args, names)).toThrow("Usage: npm run bench -- stream|turns");
  }
});
