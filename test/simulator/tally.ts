/** How often each thing happened: shows that a run has really been through what it claims to cover. */
export class Tally {
  readonly #counts = new Map<string, number>();

  count(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  add(other: Iterable<readonly [string, number]>): void {
    for (const [what, times] of other) this.count(what, times);
  }

  /** In the order of the names. */
  entries(): [string, number][] {
    return [...this.#counts].toSorted(([left], [right]) => (left < right ? -1 : 1));
  }
}
