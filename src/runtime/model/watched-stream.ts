import type { Limits } from "../protocol/limits.ts";
import type { Clock, Timers } from "../protocol/time.ts";
import { Interruption } from "./interruption.ts";
import { ModelError } from "./model-error.ts";
import type { ModelAlive, ModelDelta, ModelReply, ModelStream } from "./model-provider.ts";

/** What one attempt gives to whoever shows it. */
export type ModelItem = ModelDelta | { type: "reply"; reply: ModelReply };

export interface WatchOptions {
  /** The caller's: ends the attempt. */
  readonly signal: AbortSignal;
  readonly limits: Pick<Limits, "firstDeltaMs" | "betweenDeltasMs" | "modelCallMs">;
  readonly clock: Clock;
  readonly timers: Timers;
}

/**
 * One attempt under its time limits: to the first delta, between signs of life after it, and for the whole. Ends
 * without a reply as soon as the signal aborts, and never waits for a provider that ignores its own signal.
 * @param open starts the provider; its signal aborts with the caller's, at a limit, and when nobody reads on
 * @throws ModelError `model_timeout`, or whatever the provider throws
 */
export async function* watchStream(
  open: (signal: AbortSignal) => ModelStream,
  options: WatchOptions,
): AsyncGenerator<ModelItem, void, undefined> {
  const { signal, limits, timers } = options;
  const provider = new AbortController();
  const interruption = new Interruption();
  const interrupt = (reason: unknown): void => {
    interruption.ring(reason);
    // At once, not when somebody reads on: the upstream socket closes behind it.
    provider.abort();
  };
  const abort = (): void => interrupt(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const idle = new IdleTimer(options, () => interrupt(timedOut("sent nothing more", limits.betweenDeltasMs)));
  const first = timers.after(limits.firstDeltaMs, () =>
    interrupt(timedOut("sent nothing", limits.firstDeltaMs)),
  );
  const whole = timers.after(limits.modelCallMs, () =>
    interrupt(timedOut("did not finish", limits.modelCallMs)),
  );
  let iterator: AsyncIterator<ModelItem | ModelAlive> | undefined;
  try {
    iterator = open(provider.signal)[Symbol.asyncIterator]();
    for (;;) {
      idle.waiting = true;
      const next = await interruption.wait(iterator.next());
      idle.waiting = false;
      if (signal.aborted || next.done === true) return;
      if (next.value.type === "alive" && next.value.begun !== true) continue;
      first();
      idle.start();
      if (next.value.type !== "alive") yield next.value;
    }
  } catch (caught) {
    if (!signal.aborted) throw caught;
  } finally {
    for (const cancel of [first, whole]) cancel();
    idle.stop();
    signal.removeEventListener("abort", abort);
    provider.abort();
    // Not awaited: it would wait for a provider that is stuck.
    iterator?.return?.().catch(() => undefined);
  }
}

/** The limits are the deployment's own, so that they may be named. */
function timedOut(what: string, ms: number): ModelError {
  return new ModelError("model_timeout", `The model ${what} within ${ms} ms.`);
}

/**
 * Counts the time in which the reader waits for the provider, not the time that the reader takes itself. Runs off one
 * timer that looks at the clock when it fires: arming a timer for each of thousands of deltas would cost more than
 * the deltas.
 */
class IdleTimer {
  readonly #options: WatchOptions;
  readonly #expire: () => void;
  #since: number | null = null;
  #cancel: (() => void) | null = null;

  constructor(options: WatchOptions, expire: () => void) {
    this.#options = options;
    this.#expire = expire;
  }

  /** Each wait begins anew: something has come since. */
  set waiting(waits: boolean) {
    this.#since = waits ? this.#options.clock() : null;
  }

  /** Begins to count, once; before the first delta another limit holds. */
  start(): void {
    if (this.#cancel === null) this.#arm(this.#options.limits.betweenDeltasMs);
  }

  stop(): void {
    this.#cancel?.();
  }

  #arm(ms: number): void {
    this.#cancel = this.#options.timers.after(ms, () => {
      const limit = this.#options.limits.betweenDeltasMs;
      const now = this.#options.clock();
      // A clock that was set back begins the wait anew.
      if (this.#since !== null) this.#since = Math.min(this.#since, now);
      const waited = this.#since === null ? 0 : now - this.#since;
      if (waited >= limit) this.#expire();
      else this.#arm(limit - waited);
    });
  }
}
