import type { LiveEvent } from "../runtime/protocol/live-events.ts";
import type { Timers } from "../runtime/protocol/time.ts";

type Delta = LiveEvent<"text_delta" | "thought_delta" | "tool_args_delta">;

/**
 * Gathers deltas while they come faster than they are worth a frame each: the first goes out at once, those that
 * follow within the window are joined, block by block. Nothing waits when nothing is pending.
 */
export class DeltaBuffer {
  readonly #send: (delta: Delta) => void;
  readonly #timers: Timers;
  readonly #windowMs: number;
  #pending: Delta[] = [];
  #open = false;

  constructor(send: (delta: Delta) => void, timers: Timers, windowMs: number) {
    this.#send = send;
    this.#timers = timers;
    this.#windowMs = windowMs;
  }

  push(delta: Delta): void {
    if (!this.#open) {
      this.#send(delta);
      return this.#openWindow();
    }
    const last = this.#pending.at(-1);
    if (last && continues(last, delta))
      this.#pending[this.#pending.length - 1] = { ...last, text: last.text + delta.text };
    else this.#pending.push(delta);
  }

  /** Sends what is pending: before anything else is told, so that nothing overtakes. */
  flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const delta of pending) this.#send(delta);
  }

  #openWindow(): void {
    this.#open = true;
    this.#timers.after(this.#windowMs, () => {
      this.#open = false;
      if (this.#pending.length === 0) return;
      this.flush();
      this.#openWindow();
    });
  }
}

function continues(last: Delta, next: Delta): boolean {
  return (
    last.type === next.type &&
    last.turn === next.turn &&
    last.step === next.step &&
    last.attempt === next.attempt &&
    last.block === next.block
  );
}
