import { planCompaction } from "../context/compaction.ts";
import type { CompactionPlan, CompactionReason } from "../context/compaction.ts";
import { RECALL_TOOL, indexedResults } from "../context/indexed-results.ts";
import type { IndexedResults } from "../context/indexed-results.ts";
import type { Compaction } from "../loop/turn-settings.ts";
import { inForce } from "../protocol/conversation.ts";
import type { Limits } from "../protocol/limits.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { SessionLog } from "./session-log.ts";

export interface ContextWindowOptions {
  /** As the agent is defined now. */
  readonly context: () => NonNullable<AgentOptions["context"]>;
  readonly limits: Limits;
  readonly log: SessionLog;
  /** The id of the model that is asked next; null where there is none. */
  readonly modelId: () => string | null;
  readonly hasTool: (name: string) => boolean;
}

/** How a conversation is kept within its model's window. */
export class ContextWindow implements Compaction {
  readonly #options: ContextWindowOptions;

  constructor(options: ContextWindowOptions) {
    this.#options = options;
  }

  /** Tokens of the window: what was set, or what the provider has said to serve of it. */
  get tokens(): number {
    const { context, limits, log, modelId } = this.#options;
    const set = context().windowTokens ?? limits.windowTokens;
    const { servedWindows } = log.fold;
    if (Object.keys(servedWindows).length === 0) return set;
    const served = servedWindows[modelId() ?? ""];
    return served === undefined ? set : Math.min(set, served);
  }

  get at(): number {
    return this.tokens - Math.min(this.#options.limits.replyTokens, Math.floor(this.tokens / 4));
  }

  /** The window within which old results make room; null where the model could not see them again. */
  get indexWithin(): number | null {
    const { context, hasTool } = this.#options;
    return (context().strategyEnabled ?? true) && hasTool(RECALL_TOOL) ? this.tokens : null;
  }

  /** The results that have gone out of the conversation. */
  async indexed(): Promise<IndexedResults> {
    const { log } = this.#options;
    if (this.indexWithin === null) return { callIds: new Set(), freed: 0 };
    return indexedResults(inForce(await log.history()), this.indexWithin);
  }

  async plan(reason: CompactionReason): Promise<CompactionPlan | null> {
    const { log } = this.#options;
    if (reason.kind === "auto") {
      const { freed } = await this.indexed();
      if (log.fold.windowTokens + log.fold.addedTokens - freed <= this.at) return null;
    }
    return planCompaction(await log.history(), this.tokens, reason);
  }
}
