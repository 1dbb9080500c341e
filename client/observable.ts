/** One immutable value that changes over time, and those who want to know. */
export class Observable<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  /** Replaces some fields; listeners are told at once. */
  change(fields: Partial<T>): void {
    this.#value = { ...this.#value, ...fields };
    for (const listener of this.#listeners) listener();
  }

  /** Calls back after every change, until the function that it returns is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
