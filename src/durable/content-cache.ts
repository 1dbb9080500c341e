/**
 * Contents of small files, the least recently used leave first. Contents never change, so what is here is right for
 * ever. One for all objects of an isolate, which share its memory.
 */
export class ContentCache {
  readonly #maxBytes: number;
  readonly #maxEntryBytes: number;
  /** In order of use, the latest last. */
  readonly #entries = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(maxBytes: number, maxEntryBytes: number) {
    this.#maxBytes = maxBytes;
    this.#maxEntryBytes = maxEntryBytes;
  }

  /** Whether a content of this size is one that is kept. */
  takes(size: number): boolean {
    return size <= this.#maxEntryBytes;
  }

  get(key: string): Uint8Array | undefined {
    const bytes = this.#entries.get(key);
    if (bytes === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, bytes);
    return bytes;
  }

  /** Keeps bytes that nobody will change. Too large ones are passed over. */
  set(key: string, bytes: Uint8Array): void {
    if (!this.takes(bytes.length) || this.#entries.has(key)) return;
    this.#entries.set(key, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, old] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= old.length;
    }
  }
}
