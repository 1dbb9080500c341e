import { AsyncLocalStorage } from "node:async_hooks";

/** How an instance of the session object stands: `replaced` still runs, but its storage belongs to a later one. */
type LifeState = "current" | "replaced" | "over";

/** One instance of the session object: what is in memory between a wake and the end of it. */
export class Life {
  readonly number: number;
  state: LifeState = "current";
  /** A write of it was made to fail: errors inside it are expected from then on. */
  hurt = false;
  /** Callers that wait for an answer of this instance. */
  readonly callers = new Set<() => void>();

  constructor(number: number) {
    this.number = number;
  }

  /** Its memory is gone, or it lost its storage: whoever waits for it hears of that. */
  end(state: "replaced" | "over"): void {
    this.state = state;
    const callers = [...this.callers];
    this.callers.clear();
    for (const lose of callers) lose();
  }
}

const lives = new AsyncLocalStorage<Life>();

/** The instance whose code runs now; undefined in the world outside. */
export function lifeNow(): Life | undefined {
  return lives.getStore();
}

/** Runs the code of an instance: whatever it begins (timers, hashes, calls) belongs to that instance and dies with it. */
export function inLife<T>(life: Life, run: () => T): T {
  return lives.run(life, run);
}

/** Runs something that belongs to no instance. */
export function outsideLives<T>(run: () => T): T {
  return lives.exit(run);
}
