import type * as z from "zod";
import { withLimits } from "../../protocol/limits.ts";
import type { Limits } from "../../protocol/limits.ts";
import { systemTimers } from "../../protocol/time.ts";
import type { Clock, Random, Timers } from "../../protocol/time.ts";
import type { Usage } from "../../protocol/usage.ts";
import { textOf } from "../buffered-call.ts";
import { callModel } from "../model-call.ts";
import type { ModelProvider, ModelRequest } from "../model-provider.ts";
import { withOutput } from "./output-provider.ts";
import { zodOutputSchema } from "./output-schema.ts";

export interface StructuredOptions {
  readonly signal?: AbortSignal;
  /** Who is asked to repair an answer. @default the model itself */
  readonly repairModel?: ModelProvider;
  readonly limits?: Partial<Limits>;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: Random;
}

/** An answer that fits its schema. */
export interface StructuredOutput<T> {
  readonly value: T;
  /** Of all calls, those that repaired included; null when the provider did not say. */
  readonly usage: Usage | null;
}

/**
 * Asks a model for JSON that fits a zod schema of an object or a list. An answer that does not is asked for again
 * `limits.repairCalls` times.
 * @throws ModelError `invalid_output` when no answer fits, or as the call failed; the signal's reason when it aborts
 */
export async function generateStructured<T>(
  model: ModelProvider,
  request: Omit<ModelRequest, "tools" | "output">,
  schema: z.ZodType<T>,
  options: StructuredOptions = {},
): Promise<StructuredOutput<T>> {
  const { signal = new AbortController().signal, repairModel } = options;
  const limits = withLimits(options.limits);
  const output = zodOutputSchema(schema);
  const provider = withOutput(model, output, { limits, ...(repairModel ? { repairModel } : {}) });
  const events = callModel({
    provider,
    request: { ...request, tools: [] },
    signal,
    limits,
    clock: options.clock ?? Date.now,
    timers: options.timers ?? systemTimers,
    random: options.random ?? Math.random,
    firstAttempt: 1,
  });
  for await (const event of events) {
    if (event.type === "failed") throw event.error;
    if (event.type !== "reply") continue;
    // Checked before; parsed once more for the schema's defaults and transforms.
    return { value: schema.parse(JSON.parse(textOf(event.reply))), usage: event.reply.usage };
  }
  signal.throwIfAborted();
  throw new DOMException("The call was stopped.", "AbortError");
}
