import { encode } from "gpt-tokenizer";
import { expect, it } from "vitest";
import { estimateUsage } from "../../../src/runtime/model/estimate-usage.ts";

const ENGLISH = "The quick brown fox jumps over the lazy dog while nobody is looking at the clock. ".repeat(
  20,
);
const CODE =
  "export function sum(values: readonly number[]): number {\n  return values.reduce((a, b) => a + b, 0);\n}\n".repeat(
    20,
  );
const CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy, a nikdo se nedíval na hodiny. ".repeat(20);
const CHINESE = "敏捷的棕色狐狸跳过了懒狗，没有人看时钟。".repeat(20);
const RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. ".repeat(20);

it.each([
  ["English", ENGLISH],
  ["code", CODE],
  ["Czech", CZECH],
  ["Chinese", CHINESE],
  ["Russian", RUSSIAN],
])("[MODEL-46] %s is estimated within half and four times of what a tokenizer counts", (_, text) => {
  const { input, output } = estimateUsage(text, text);
  const counted = encode(text).length;
  expect(input).toBe(output);
  expect(input / counted).toBeGreaterThan(0.5);
  expect(input / counted).toBeLessThan(4);
});
