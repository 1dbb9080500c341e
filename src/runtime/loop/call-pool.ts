import type { ToolCall } from "../protocol/durable-events.ts";
import type { Timers } from "../protocol/time.ts";
import type { SettledCall } from "./call-runner.ts";

/** The calls that run in this process: the only thing of a turn that a crash takes away. */
export class CallPool {
  readonly #timers: Timers;
  readonly #running = new Set<string>();
  readonly #settled: SettledCall[] = [];
  #wake: () => void = () => undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Whether the call runs here, or has ended here and waits to be taken. */
  owns(callId: string): boolean {
    return this.#running.has(callId) || this.#settled.some(({ call }) => call.id === callId);
  }

  /** Follows a call that has begun. `work` never rejects. */
  track(call: ToolCall, work: Promise<SettledCall>): void {
    this.#running.add(call.id);
    void work.then((settled) => {
      this.#running.delete(call.id);
      this.#settled.push(settled);
      this.#wake();
    });
  }

  /** Ends the wait of `take`, with what there is. */
  poke(): void {
    this.#wake();
  }

  /** Waits until a call has ended or somebody pokes, and hands over all that have ended. */
  async take(): Promise<SettledCall[]> {
    if (this.#settled.length === 0) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      // Calls that end together share a commit: give those that end in this turn of the event loop the chance.
      if (this.#running.size > 0) await new Promise<void>((resolve) => this.#timers.after(0, resolve));
    }
    return this.#settled.splice(0);
  }
}
