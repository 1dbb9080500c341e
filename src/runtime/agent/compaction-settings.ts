import { planCompaction } from "../context/compaction.ts";
import type { Compaction } from "../loop/turn-settings.ts";
import type { Limits } from "../protocol/limits.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { SessionLog } from "./session-log.ts";

/** How a conversation is kept within its model's window; null where that is switched off. */
export function compactionOf(
  { windowTokens, strategyEnabled = true }: NonNullable<AgentOptions["context"]>,
  limits: Limits,
  log: SessionLog,
): Compaction | null {
  if (!strategyEnabled) return null;
  const window = windowTokens ?? limits.windowTokens;
  return {
    at: window - Math.min(limits.replyTokens, Math.floor(window / 4)),
    plan: async (reason) => planCompaction(await log.history(), window, reason),
  };
}
