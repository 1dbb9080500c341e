/** A value that may come later: a Durable Object's SQLite answers at once, other stores do not. */
export type MaybePromise<T> = T | Promise<T>;

/** Wall clock in ms since the epoch. Injected, so that tests never depend on the time of day. */
export type Clock = () => number;

/** Timers, injected for the same reason. `after` returns a function that cancels. */
export interface Timers {
  after(ms: number, run: () => void): () => void;
}

/** The platform's timers. */
export const systemTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * What a promise comes to, unless it takes longer than `ms`: then fails with what `late` makes. What is left behind may
 * still end; nobody hears of it.
 */
export function within<T>(ms: number, timers: Timers, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(ms, () => reject(late()));
    work.then(resolve, reject).finally(cancel);
  });
}

/** A number from 0 up to 1. Injected where chance matters (back-off). */
export type Random = () => number;
