import * as z from "zod";
import type { Usage } from "./usage.ts";

const price = z.number().nonnegative().max(100_000);

/** What a model's tokens cost, in US dollars per million. */
export const modelPriceSchema = z.strictObject({
  input: price,
  output: price,
  /** Of those that the provider had in its cache. @default as any input */
  cachedInput: price.optional(),
});
export type ModelPrice = z.infer<typeof modelPriceSchema>;

/** By model id. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

/** The cost of some usage in whole millionths of a dollar, as a field; none where the model has no price. */
export function costOf(prices: ModelPrices, model: string, usage: Usage): { readonly cost?: number } {
  const known = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (!known) return {};
  // A dollar per million tokens is a millionth of a dollar per token.
  const { input, output, cachedInput = input } = known;
  const fresh = usage.input - usage.cachedInput;
  return { cost: Math.round(fresh * input + usage.cachedInput * cachedInput + usage.output * output) };
}
