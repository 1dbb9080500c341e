import type { LiveEvent } from "../runtime/protocol/live-events.ts";
import type { Clock, Timers } from "../runtime/protocol/time.ts";

type Delta = LiveEvent<"text_delta" | "thought_delta" | "tool_args_delta">;

/**
 * Gathers deltas while they come faster than they are worth a frame each: one goes out at once when none has within
 * the window before it; those that follow within the window are joined, block by block, and go out at its end.
 */
export class DeltaBuffer {
  readonly #send: (delta: Delta) => void;
  readonly #timers: Timers;
  readonly #clock: Clock;
  readonly #window: () => number;
  #pending: Delta[] = [];
  #sentAt = Number.NEGATIVE_INFINITY;
  #armed = false;

  /** @param window how long deltas are gathered, in ms, as things are now */
  constructor(send: (delta: Delta) => void, timers: Timers, clock: Clock, window: () => number) {
    this.#send = send;
    this.#timers = timers;
    this.#clock = clock;
    this.#window = window;
  }

  push(delta: Delta): void {
    const now = this.#clock();
    const waited = now - this.#sentAt;
    const windowMs = this.#window();
    if (!this.#armed && waited >= windowMs) {
      this.#sentAt = now;
      return this.#send(delta);
    }
    const last = this.#pending.at(-1);
    if (last && continues(last, delta))
      this.#pending[this.#pending.length - 1] = { ...last, text: last.text + delta.text };
    else this.#pending.push(delta);
    // A clock that was set back would make the wait longer.
    if (!this.#armed) this.#arm(Math.min(windowMs - waited, windowMs));
  }

  /** Sends what is pending: before anything else is told, so that nothing overtakes. */
  flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const delta of pending) this.#send(delta);
  }

  /** Only for what waits: a timer behind every delta that goes out at once would be an eighth of its whole cost. */
  #arm(ms: number): void {
    this.#armed = true;
    this.#timers.after(ms, () => {
      this.#armed = false;
      if (this.#pending.length === 0) return;
      this.#sentAt = this.#clock();
      this.flush();
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
