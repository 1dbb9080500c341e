import { summarise } from "../loop/summarise.ts";
import type { SummariserOptions } from "../loop/summarise.ts";
import type { Compaction } from "../loop/turn-settings.ts";
import type { DurablePayload } from "../protocol/durable-events.ts";
import { LightAgentError } from "../protocol/errors.ts";
import type { SessionLog } from "./session-log.ts";

/** What a compaction that somebody asked for has made. */
export type Compacted = Pick<DurablePayload<"agent_summary">, "throughSeq" | "before" | "after">;

/** Summarises a conversation when somebody asks for it, between turns. */
export class CompactionDesk {
  readonly #log: SessionLog;
  readonly #compaction: Compaction | null;
  readonly #summariser: () => SummariserOptions;

  constructor(log: SessionLog, compaction: Compaction | null, summariser: () => SummariserOptions) {
    this.#log = log;
    this.#compaction = compaction;
    this.#summariser = summariser;
  }

  /**
   * Nothing has changed when it fails, or when the session has gone on meanwhile.
   * @throws LightAgentError `busy` while a turn is open or prompts wait, or when one has begun meanwhile;
   *   `invalid_request` when there is nothing to summarise; `log_write_failed`
   */
  async compact(instructions: string | undefined): Promise<Compacted> {
    this.#requireIdle();
    const { head, turn, step, windowTokens, addedTokens } = this.#log.fold;
    const plan = (await this.#compaction?.plan(instructions)) ?? null;
    if (!plan) throw new LightAgentError("invalid_request", "There is nothing to summarise.");
    const place = { turn, step };
    const before = windowTokens + addedTokens;
    const told = { type: "compaction", ...place, kind: "manual", before } as const;
    this.#log.emit({ ...told, phase: "start", after: before });
    const summary = await summarise(plan, "manual", before, this.#summariser());
    if (this.#log.fold.head !== head || this.#log.waiting.length > 0) {
      const message = "The session went on while it was summarised.";
      this.#log.emit({ ...told, phase: "error", after: before, message });
      throw new LightAgentError("busy", message);
    }
    await this.#log.commit([{ type: "agent_summary", ...place, ...summary }]);
    this.#log.emit({ ...told, phase: "done", after: summary.after });
    const { throughSeq, after } = summary;
    return { throughSeq, before, after };
  }

  #requireIdle(): void {
    if (this.#log.fold.open || this.#log.waiting.length > 0) {
      throw new LightAgentError("busy", "A conversation is summarised between turns only.");
    }
  }
}
