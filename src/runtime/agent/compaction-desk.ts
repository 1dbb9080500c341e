import type { CompactionReason } from "../context/compaction.ts";
import { askSummariser, summaryOf } from "../loop/summarise.ts";
import type { SummariserOptions } from "../loop/summarise.ts";
import type { Compaction } from "../loop/turn-settings.ts";
import { ModelError } from "../model/model-error.ts";
import type { DurablePayload } from "../protocol/durable-events.ts";
import { LightAgentError, toErrorBody } from "../protocol/errors.ts";
import type { ModelPrices } from "../protocol/model-price.ts";
import type { SessionLog } from "./session-log.ts";

/** What a compaction that somebody asked for has made. */
export type Compacted = Pick<DurablePayload<"agent_summary">, "throughSeq" | "before" | "after">;

/** Summarises a conversation when somebody asks for it, between turns. */
export class CompactionDesk {
  readonly #log: SessionLog;
  readonly #compaction: Compaction | null;
  readonly #summariser: () => SummariserOptions;
  readonly #prices: () => ModelPrices;
  #busy = false;

  constructor(
    log: SessionLog,
    compaction: Compaction | null,
    {
      summariser,
      prices,
    }: { readonly summariser: () => SummariserOptions; readonly prices: () => ModelPrices },
  ) {
    this.#prices = prices;
    this.#log = log;
    this.#compaction = compaction;
    this.#summariser = summariser;
  }

  /**
   * What a turn needs comes first: the model is let go as soon as the session goes on.
   * Nothing has changed when it fails, or when the session has gone on meanwhile.
   * @throws LightAgentError `busy` while a turn is open, prompts wait or another summary is made, or when a turn has begun
   *   or something has been `begun` meanwhile that the log does not tell yet; `invalid_request` when there is nothing to summarise; what the model failed with; `unavailable` when the
   *   session is let go; `log_write_failed`
   */
  async compact(instructions: string | undefined, begun: () => boolean): Promise<Compacted> {
    if (this.#busy || this.#log.fold.open || this.#log.waiting.length > 0) {
      throw new LightAgentError("busy", "A conversation is summarised between turns, once at a time.");
    }
    this.#busy = true;
    const { head } = this.#log.fold;
    const goesOn = (): boolean => this.#log.fold.head !== head || this.#log.waiting.length > 0 || begun();
    const stop = new AbortController();
    const unsubscribe = this.#log.subscribe(() => {
      if (goesOn()) stop.abort(new DOMException("The session goes on.", "AbortError"));
    });
    try {
      return await this.#summarise({ kind: "manual", instructions }, stop.signal, goesOn);
    } finally {
      unsubscribe();
      this.#busy = false;
    }
  }

  async #summarise(reason: CompactionReason, stop: AbortSignal, goesOn: () => boolean): Promise<Compacted> {
    const { turn, step, windowTokens, addedTokens } = this.#log.fold;
    const plan = await this.#compaction?.plan(reason);
    if (!plan) throw new LightAgentError("invalid_request", "There is nothing to summarise.");
    const { kind } = reason;
    const place = { turn, step };
    const before = windowTokens + addedTokens;
    const told = { type: "compaction", ...place, kind, before } as const;
    this.#log.emit({ ...told, phase: "start", after: before });
    try {
      const options = this.#summariser();
      const signal = AbortSignal.any([options.signal, stop]);
      const outcome = await askSummariser(plan, { ...options, signal });
      if (goesOn()) throw new LightAgentError("busy", "The session went on while it was summarised.");
      if (outcome.type === "aborted") throw new LightAgentError("unavailable", "The session was let go.");
      if (outcome.type === "failed") throw outcome.error;
      if (outcome.words.trim() === "") throw new ModelError("empty_reply", "The model wrote no summary.");
      const summary = summaryOf(plan, { kind, before, prices: this.#prices() }, outcome);
      await this.#log.commit([{ type: "agent_summary", ...place, ...summary }]);
      this.#log.emit({ ...told, phase: "done", after: summary.after });
      const { throughSeq, after } = summary;
      return { throughSeq, before, after };
    } catch (caught) {
      this.#log.emit({ ...told, phase: "error", after: before, message: toErrorBody(caught).message });
      throw caught;
    }
  }
}
