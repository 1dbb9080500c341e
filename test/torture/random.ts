/** Choices that are random and repeat with their seed. The generator is mulberry32. */
export class Random {
  readonly #seed: string;
  #state: number;

  constructor(seed: number | string) {
    this.#seed = String(seed);
    this.#state = hash(this.#seed);
  }

  /** A number from 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `from` to `to`, both included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws RangeError when there is nothing to pick from */
  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new RangeError("There is nothing to pick from.");
    return item;
  }

  /** A name of a table, as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries<number>(weights) as [K, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    return (entries.find(([, weight]) => (left -= weight) < 0) ?? this.pick(entries))[0];
  }

  /** Choices of their own for one part, so that the timing of the others does not change them. */
  fork(part: string): Random {
    return new Random(`${this.#seed}/${part}`);
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value;
}
