import type { CompactionPlan } from "../context/compaction.ts";
import { estimateUsage } from "../model/estimate-usage.ts";
import { callModel } from "../model/model-call.ts";
import type { ModelCallOptions } from "../model/model-call.ts";
import type { ModelReply } from "../model/model-provider.ts";
import type { DurablePayload } from "../protocol/durable-events.ts";

/** How the model that summarises is called; nobody sees it speak. */
export type SummariserOptions = Omit<ModelCallOptions, "request" | "firstAttempt">;

/**
 * The summary that a plan asks for, as the log keeps it. A model that fails is done without: then the log itself says what
 * it can. Ends early, with a summary that is not to be used, when the signal aborts.
 */
export async function summarise(
  plan: CompactionPlan,
  kind: DurablePayload<"agent_summary">["kind"],
  before: number,
  options: SummariserOptions,
): Promise<DurablePayload<"agent_summary">> {
  let reply: ModelReply | null = null;
  for await (const item of callModel({ ...options, request: plan.request, firstAttempt: 1 })) {
    if (item.type === "reply") ({ reply } = item);
  }
  const words =
    reply?.blocks.flatMap(({ kind: what, text }) => (what === "text" ? [text] : [])).join("") ?? null;
  const text = plan.text(words);
  const { fromSeq, throughSeq } = plan;
  const used = reply && {
    model: options.provider.id,
    usage: reply.usage ?? estimateUsage(plan.request, words),
  };
  return { text, fromSeq, throughSeq, before, after: plan.after(text), kind, ...used };
}
