import type { Clock } from "../runtime/protocol/time.ts";

/** A map whose entries end by themselves and whose size is bounded: beyond it the oldest entry leaves. */
export class ExpiringCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>();
  readonly #clock: Clock;
  readonly #capacity: number;

  constructor(clock: Clock, capacity: number) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry && entry.until > this.#clock()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** @param ms How long the entry stands */
  set(key: string, value: V, ms: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#clock() + ms });
    if (this.#entries.size <= this.#capacity) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Forgets every entry whose value is of a kind. */
  deleteWhere(matches: (value: V) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.#entries.delete(key);
  }
}
