import type { Clock, Timers } from "../../../src/runtime/protocol/time.ts";

interface Pending {
  readonly at: number;
  readonly run: () => void;
}

/** A clock and timers that move only when a test says so. */
export class FakeTime implements Timers {
  #now: number;
  readonly #pending = new Set<Pending>();

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  readonly clock: Clock = () => this.#now;

  /** Timers that are set and have neither run nor been cancelled. */
  get pending(): number {
    return this.#pending.size;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#pending.add(timer);
    return () => this.#pending.delete(timer);
  }

  /** Lets so many ms pass: runs what is due, in order, and between any two lets all promises settle. */
  async pass(ms: number): Promise<void> {
    await settled();
    const end = this.#now + ms;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#now = next.at;
      this.#pending.delete(next);
      next.run();
      await settled();
    }
    this.#now = end;
  }

  #next(end: number): Pending | undefined {
    const due = [...this.#pending].filter((timer) => timer.at <= end);
    return due.sort((left, right) => left.at - right.at)[0];
  }
}

/** Resolves when every promise that can settle without time or I/O has done so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
