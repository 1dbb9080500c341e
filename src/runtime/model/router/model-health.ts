import type { Limits } from "../../protocol/limits.ts";
import type { Clock } from "../../protocol/time.ts";
import { isModelError } from "../model-error.ts";
import type { ModelError, ModelErrorCode } from "../model-error.ts";
import type { ModelReply } from "../model-provider.ts";

/** What came of the calls of one model since the last report. */
export interface ModelTally {
  readonly model: string;
  readonly requests: number;
  readonly successes: number;
  readonly failures: number;
  /** Failures of the model's health since its last success. */
  readonly failing: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A model that is left alone for a while (ms since the epoch), because it failed too often. */
export interface RestingModel {
  readonly model: string;
  readonly until: number;
}

/** Failures that say something about the model's provider and not about the request, which would fail elsewhere too. */
const UNHEALTHY: ReadonlySet<ModelErrorCode> = new Set<ModelErrorCode>([
  "incomplete_stream",
  "malformed_stream",
  "model_error",
  "model_timeout",
  "model_transport",
  "model_unavailable",
  "rate_limited",
]);

/** Whether a failure may be another model's chance. */
export function isUnhealthy({ modelCode, retryable }: ModelError): boolean {
  return retryable && UNHEALTHY.has(modelCode);
}

/**
 * Counts what models do, and lets one rest that fails `breakerFailures` times in a row. A rest ends by itself: then
 * the model is tried again, and one more failure begins the next. What other sessions found comes by `learn`.
 */
export class ModelHealth {
  readonly #limits: Pick<Limits, "breakerFailures" | "breakerRestMs">;
  readonly #clock: Clock;
  readonly #rests = new Map<string, number>();
  readonly #failing = new Map<string, number>();
  readonly #tallies = new Map<string, ModelTally>();

  constructor(limits: Pick<Limits, "breakerFailures" | "breakerRestMs">, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Takes over what the tenant knows. */
  learn(resting: readonly RestingModel[]): void {
    for (const { model, until } of resting) {
      this.#rests.set(model, Math.max(until, this.#rests.get(model) ?? 0));
    }
  }

  isResting(model: string): boolean {
    return (this.#rests.get(model) ?? 0) > this.#clock();
  }

  settled(model: string, outcome: ModelReply | ModelError): void {
    const failed = isModelError(outcome);
    const unhealthy = failed && isUnhealthy(outcome);
    if (!failed) this.#failing.set(model, 0);
    if (unhealthy) this.#fail(model);
    const before = this.#tallies.get(model);
    const usage = failed ? null : outcome.usage;
    this.#tallies.set(model, {
      model,
      requests: (before?.requests ?? 0) + 1,
      successes: (before?.successes ?? 0) + (failed ? 0 : 1),
      failures: (before?.failures ?? 0) + (failed ? 1 : 0),
      failing: failed ? (before?.failing ?? 0) + (unhealthy ? 1 : 0) : 0,
      inputTokens: (before?.inputTokens ?? 0) + (usage?.input ?? 0),
      outputTokens: (before?.outputTokens ?? 0) + (usage?.output ?? 0),
    });
  }

  /** What has not been reported; figures of a process that dies are lost, which decides nothing. */
  get tallies(): readonly ModelTally[] {
    return [...this.#tallies.values()];
  }

  /** These have been heard; what came meanwhile stays. */
  reported(tallies: readonly ModelTally[]): void {
    for (const heard of tallies) {
      const now = this.#tallies.get(heard.model);
      if (!now) continue;
      this.#tallies.set(heard.model, {
        model: heard.model,
        requests: now.requests - heard.requests,
        successes: now.successes - heard.successes,
        failures: now.failures - heard.failures,
        failing: now.successes > heard.successes ? now.failing : now.failing - heard.failing,
        inputTokens: now.inputTokens - heard.inputTokens,
        outputTokens: now.outputTokens - heard.outputTokens,
      });
      if (now.requests === heard.requests) this.#tallies.delete(heard.model);
    }
  }

  #fail(model: string): void {
    const failing = (this.#failing.get(model) ?? 0) + 1;
    this.#failing.set(model, failing);
    if (failing >= this.#limits.breakerFailures) {
      this.#rests.set(model, this.#clock() + this.#limits.breakerRestMs);
    }
  }
}
