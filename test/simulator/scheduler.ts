import type { Dice } from "./dice.ts";
import { inLife, lifeNow, outsideLives } from "./life.ts";
import type { Life } from "./life.ts";

interface Task {
  readonly at: number;
  readonly label: string;
  readonly owner: Life | undefined;
  readonly run: () => void;
}

/** The real one, taken before anything replaces it. */
const { setImmediate: nextTurn } = globalThis;

/**
 * The only thing that makes time pass. Everything that ever has to wait (timers, hashes, network, people) is a task
 * here, and the dice decide the order of those that are due together. As in every JavaScript engine, a task's promises
 * settle before the next task begins.
 */
export class Scheduler {
  readonly #dice: Dice;
  readonly #trace: (line: string) => void;
  #tasks: Task[] = [];
  #now: number;

  constructor(dice: Dice, now: number, trace: (line: string) => void) {
    this.#dice = dice;
    this.#now = now;
    this.#trace = trace;
  }

  /** ms since the epoch. */
  get now(): number {
    return this.#now;
  }

  /** When the next task is due, in ms since the epoch; infinite when nothing is left to happen. */
  get next(): number {
    this.#tasks = this.#tasks.filter(({ owner }) => owner?.state !== "over");
    return this.#tasks.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
  }

  /** Runs something later, for the instance that asks unless another owner is named. Returns what cancels it. */
  after(ms: number, label: string, run: () => void, owner: Life | undefined = lifeNow()): () => void {
    // An instance whose memory is gone can begin nothing any more.
    if (owner?.state === "over") return () => undefined;
    const task = { at: this.#now + Math.max(0, Math.round(ms)), label, owner, run };
    this.#tasks.push(task);
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== task);
    };
  }

  /** Runs something later that belongs to no instance. */
  afterOutside(ms: number, label: string, run: () => void): () => void {
    return outsideLives(() => this.after(ms, label, run));
  }

  /** Resolves later; never in an instance that ends before. */
  pause(ms: number, label: string): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, label, resolve);
    });
  }

  /** Runs one of the tasks that are due first. Answers whether there was one. */
  async step(): Promise<boolean> {
    if (this.next === Number.POSITIVE_INFINITY) return false;
    this.#now = Math.max(this.#now, this.next);
    const task = this.#dice.pick(this.#tasks.filter((one) => one.at <= this.#now));
    this.#tasks = this.#tasks.filter((other) => other !== task);
    this.#trace(task.label);
    if (task.owner) inLife(task.owner, task.run);
    else task.run();
    await settled();
    return true;
  }
}

/** Resolves when no promise can settle any further without a task. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(resolve);
  });
}
