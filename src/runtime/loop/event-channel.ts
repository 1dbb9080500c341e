/** Turns pushed values into an async iteration. Unbounded: its consumer is in the same process as its producer. */
export class EventChannel<T> {
  readonly #values: T[] = [];
  #closed = false;
  #wake: () => void = () => undefined;

  push(value: T): void {
    if (this.#closed) return;
    this.#values.push(value);
    this.#wake();
  }

  /** What was pushed before is still read. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  async *values(): AsyncGenerator<T, void> {
    for (;;) {
      yield* this.#values.splice(0);
      if (this.#values.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
