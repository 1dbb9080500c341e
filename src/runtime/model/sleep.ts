import type { Timers } from "../protocol/time.ts";

/** Waits so many ms, at most until the signal aborts; which of the two it was, the signal tells. */
export function sleep(ms: number, signal: AbortSignal, timers: Timers): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = timers.after(ms, finish);
    signal.addEventListener("abort", finish, { once: true });
    if (signal.aborted) finish();
  });
}
