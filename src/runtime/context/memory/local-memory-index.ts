import { LightAgentError } from "../../protocol/errors.ts";
import type { Clock } from "../../protocol/time.ts";
import { rank } from "../rank.ts";
import { FOUND, checkMemory, memoryFull } from "./memory-index.ts";
import type { MemoryIndex, MemoryPage, MemoryRecord, MemorySearch, NewMemory } from "./memory-index.ts";

/** Memories that live as long as this object. */
export class LocalMemoryIndex implements MemoryIndex {
  readonly #clock: Clock;
  readonly #most: number;
  /** The latest first; they have the highest numbers. */
  #records: readonly { readonly number: number; readonly record: MemoryRecord }[] = [];
  #last = 0;

  /** @param most so many memories at most */
  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  async upsert(memory: NewMemory): Promise<MemoryRecord> {
    checkMemory(memory);
    const known = this.#records.find(({ record }) => record.id === memory.id);
    if (!known && this.#records.length >= this.#most) throw memoryFull(this.#most);
    const { id, kind, content, origin } = memory;
    const updatedAt = this.#clock();
    const createdAt = known?.record.createdAt ?? updatedAt;
    const record: MemoryRecord = { id, kind, content, origin, createdAt, updatedAt };
    this.#last += 1;
    this.#records = [{ number: this.#last, record }, ...this.#records.filter((other) => other !== known)];
    return record;
  }

  async search(query: string, { limit = FOUND, kinds }: MemorySearch = {}): Promise<readonly MemoryRecord[]> {
    const ranked = rank(this.#records, ({ record }) => record.content, query);
    const found = ranked.map(({ item }) => item.record).filter(({ kind }) => kinds?.includes(kind) ?? true);
    return found.slice(0, limit);
  }

  async list({ limit, cursor }: { limit: number; cursor: string | null }): Promise<MemoryPage> {
    if (cursor !== null && !/^\d{1,15}$/.test(cursor)) {
      throw new LightAgentError("invalid_request", "The cursor is not from this list.");
    }
    const before = cursor === null ? Infinity : Number(cursor);
    const rest = this.#records.filter(({ number }) => number < before);
    const shown = rest.slice(0, limit);
    const next = rest.length > limit ? String(shown.at(-1)?.number) : null;
    return { data: shown.map(({ record }) => record), next };
  }

  async remove(id: string): Promise<boolean> {
    const before = this.#records.length;
    this.#records = this.#records.filter(({ record }) => record.id !== id);
    return this.#records.length < before;
  }
}
