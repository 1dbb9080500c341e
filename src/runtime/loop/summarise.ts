import type { CompactionPlan, CompactionReason } from "../context/compaction.ts";
import { estimateUsage } from "../model/estimate-usage.ts";
import { callModel } from "../model/model-call.ts";
import type { ModelCallOptions } from "../model/model-call.ts";
import type { ModelError } from "../model/model-error.ts";
import type { DurablePayload } from "../protocol/durable-events.ts";
import { costOf } from "../protocol/model-price.ts";
import type { ModelPrices } from "../protocol/model-price.ts";
import type { Usage } from "../protocol/usage.ts";

/** How the model that summarises is called; nobody sees it speak. */
export type SummariserOptions = Omit<ModelCallOptions, "request" | "firstAttempt">;

/** What came of asking a model for a summary. */
export type SummariserOutcome =
  | { readonly type: "reply"; readonly words: string; readonly model: string; readonly usage: Usage }
  | { readonly type: "failed"; readonly error: ModelError }
  | { readonly type: "aborted" };

/** Asks a model for the summary of a plan. Rejects never. */
export async function askSummariser(
  { request }: CompactionPlan,
  options: SummariserOptions,
): Promise<SummariserOutcome> {
  let model = options.provider.id;
  for await (const item of callModel({ ...options, request, firstAttempt: 1 })) {
    // A route may have handed the call to another one.
    if (item.type === "attempt_start") ({ model } = item);
    if (item.type === "failed") return { type: "failed", error: item.error };
    if (item.type !== "reply") continue;
    const { blocks, usage } = item.reply;
    const words = blocks.flatMap(({ kind, text }) => (kind === "text" ? [text] : [])).join("");
    return { type: "reply", words, model, usage: usage ?? estimateUsage(request, words) };
  }
  return { type: "aborted" };
}

/** The summary as the log keeps it. Without a model's words the log itself says what it can. */
export function summaryOf(
  plan: CompactionPlan,
  {
    kind,
    before,
    prices,
  }: { readonly kind: CompactionReason["kind"]; readonly before: number; readonly prices: ModelPrices },
  outcome: SummariserOutcome,
): DurablePayload<"agent_summary"> {
  const { fromSeq, throughSeq } = plan;
  const text = plan.text(outcome.type === "reply" ? outcome.words : null);
  const spent =
    outcome.type === "reply"
      ? { model: outcome.model, usage: outcome.usage, ...costOf(prices, outcome.model, outcome.usage) }
      : {};
  return { text, fromSeq, throughSeq, before, after: plan.after(text), kind, ...spent };
}
