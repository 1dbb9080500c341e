import { expect, it } from "vitest";
import { agentDefinitionSchema } from "../../../src/runtime/protocol/agent-definition.ts";
import { costOf } from "../../../src/runtime/protocol/model-price.ts";
import { Harness } from "../support/agent-harness.ts";

const USAGE = { input: 1_000_000, output: 10_000, cachedInput: 400_000, reasoning: 5_000 };

it("[MODEL-53] tokens cost what is said of them, cached ones by their own price", () => {
  const prices = {
    a: { input: 2, output: 8, cachedInput: 0.5 },
    b: { input: 0.15, output: 0.6 },
  };
  expect(costOf(prices, "a", USAGE)).toEqual({ cost: 600_000 * 2 + 400_000 * 0.5 + 10_000 * 8 });
  expect(costOf(prices, "b", USAGE)).toEqual({ cost: 1_000_000 * 0.15 + 10_000 * 0.6 });
  expect(costOf(prices, "b", { input: 1, output: 1, cachedInput: 0, reasoning: 0 })).toEqual({ cost: 1 });
  expect(costOf(prices, "c", USAGE)).toEqual({});
  expect(costOf(prices, "toString", USAGE)).toEqual({});
});

it("[MODEL-53] a reply and a summary bear their cost, and nothing where no price is known", async () => {
  const script = () => ({ text: "words", usage: USAGE });
  const prices = { "scripted/model": { input: 1, output: 1 } };
  const h = new Harness(script, { prices });
  await h.start("go");
  await h.agent.compact();
  expect(h.last("agent_trace").cost).toBe(1_010_000);
  expect(h.last("agent_summary").cost).toBe(1_010_000);
  const without = new Harness(script, { prices: { other: { input: 1, output: 1 } } });
  await without.start("go");
  expect(without.last("agent_trace").cost).toBeUndefined();
  expect([...h.violations(), ...without.violations()]).toEqual([]);
});

it("[MODEL-53] a price is no negative number, and has no other fields", () => {
  const accepts = (price: object): boolean =>
    agentDefinitionSchema.safeParse({ prices: { "openai/m": price } }).success;
  expect(accepts({ input: 0, output: 8.5, cachedInput: 0.01 })).toBe(true);
  for (const wrong of [
    { input: 1 },
    { input: -1, output: 1 },
    { input: 1, output: Infinity },
    { input: 1, output: 1, per: 1 },
  ])
    expect(accepts(wrong)).toBe(false);
});
