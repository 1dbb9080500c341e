import type { Limits } from "../protocol/limits.ts";
import type { Timers } from "../protocol/time.ts";

/** What ends a call from outside before it ends itself. */
export type Cut = "timeout" | "grace";

/** The time that a call has. `cancel` when it is over before. */
export interface CallDeadline {
  readonly passed: Promise<Cut>;
  cancel(): void;
}

/** Passes after `allowedMs`, or with the grace after the turn was stopped, whichever comes first. */
export function callDeadline(
  allowedMs: number,
  stop: AbortSignal,
  { limits, timers }: { readonly limits: Pick<Limits, "stopGraceMs">; readonly timers: Timers },
): CallDeadline {
  const cancels: (() => void)[] = [];
  const passed = new Promise<Cut>((resolve) => {
    cancels.push(timers.after(allowedMs, () => resolve("timeout")));
    const stopped = (): void => {
      cancels.push(timers.after(limits.stopGraceMs, () => resolve("grace")));
    };
    if (stop.aborted) return stopped();
    stop.addEventListener("abort", stopped, { once: true });
    cancels.push(() => stop.removeEventListener("abort", stopped));
  });
  const cancel = (): void => {
    for (const undo of cancels) undo();
  };
  return { passed, cancel };
}
