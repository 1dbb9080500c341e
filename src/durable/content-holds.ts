/**
 * What changes that are under way stand on: contents that they have found known or are writing, by hash and by object.
 * The sweep passes these over. Kept in memory, since it ends with the process that makes the changes.
 */
export class ContentHolds {
  readonly #counts = new Map<string, number>();

  take(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  drop(key: string): void {
    const left = (this.#counts.get(key) ?? 0) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }

  has(key: string): boolean {
    return this.#counts.has(key);
  }
}
