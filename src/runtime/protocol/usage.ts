import * as z from "zod";

const tokens = z.int().nonnegative();

/**
 * Tokens of one or many model calls. `input` includes `cachedInput`, `output` includes `reasoning`, as OpenAI and
 * the OpenTelemetry GenAI conventions count them.
 */
export const usageSchema = z.object({
  input: tokens,
  output: tokens,
  cachedInput: tokens,
  reasoning: tokens,
});
export type Usage = z.infer<typeof usageSchema>;

export const NO_USAGE: Usage = { input: 0, output: 0, cachedInput: 0, reasoning: 0 };

export function addUsage(left: Usage, right: Usage): Usage {
  return {
    input: left.input + right.input,
    output: left.output + right.output,
    cachedInput: left.cachedInput + right.cachedInput,
    reasoning: left.reasoning + right.reasoning,
  };
}
