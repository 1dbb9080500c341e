import type { ContextManagement } from "../context/context-builder.ts";
import type { LiveEvent } from "../protocol/live-events.ts";
import type { SessionFold } from "../protocol/session-fold.ts";

/** How much of a conversation a model call goes without: old results, or an earlier part. */
const LEVEL = { none: 0, indexed: 1, summarised: 2 } as const;

/**
 * What the management of the context has done for a model call; null where it has done nothing. There is no planner: what
 * is taken out follows from the log alone.
 * @param retry whether the call is made again because the last one did not fit
 */
export function contextStatus(
  management: ContextManagement | null,
  { turn, windowTokens, addedTokens }: Pick<SessionFold, "turn" | "windowTokens" | "addedTokens">,
  step: number,
  retry: boolean,
): LiveEvent<"context_status"> | null {
  if (management === null && !retry) return null;
  const { generation, indexed, saved, freed } = management ?? {
    generation: 0,
    indexed: [],
    saved: 0,
    freed: 0,
  };
  const level = generation > 0 ? LEVEL.summarised : indexed.length > 0 ? LEVEL.indexed : LEVEL.none;
  const afterTokens = Math.max(0, windowTokens + addedTokens - freed);
  return {
    type: "context_status",
    turn,
    step,
    level,
    reason: retry ? "overflow" : generation > 0 ? "summary" : "indexed_results",
    beforeTokens: afterTokens + saved,
    afterTokens,
    generation,
    plannerUsed: false,
    plannerFallback: false,
    plannerLatencyMs: 0,
    archiveRefs: [...indexed],
    retry,
  };
}
