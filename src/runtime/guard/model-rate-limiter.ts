import type { Clock } from "../protocol/time.ts";

const WINDOW_MS = 60_000;
/** Models that are counted at once; beyond it the one that was used longest ago is forgotten. */
const MAX_MODELS = 1_000;

/**
 * Lets so many calls of a model begin in any minute, and gives each further one the earliest time at which it may. A
 * time that is not used is given back, so that the next call takes it. In memory: after a restart the count begins anew.
 */
export class ModelRateLimiter {
  readonly #clock: Clock;
  /** Begin times of each model's calls, past and to come, in order. */
  readonly #times = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes the next place.
   * @param perMinute a whole number from 1 on
   * @returns when the call may begin, in ms since the epoch: now or later
   */
  reserve(model: string, perMinute: number): number {
    const now = this.#clock();
    const times = (this.#times.get(model) ?? []).filter((time) => time > now - WINDOW_MS);
    const before = times.at(-perMinute);
    const at = before === undefined ? now : Math.max(now, before + WINDOW_MS);
    this.#times.delete(model);
    this.#times.set(
      model,
      [...times, at].sort((left, right) => left - right),
    );
    if (this.#times.size > MAX_MODELS) this.#times.delete(this.#times.keys().next().value ?? "");
    return at;
  }

  /** The call that was to begin at that time does not. */
  giveBack(model: string, at: number): void {
    const times = this.#times.get(model);
    const place = times?.indexOf(at) ?? -1;
    if (place !== -1) times?.splice(place, 1);
  }
}
