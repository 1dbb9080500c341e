import type {
  MemoryIndex,
  MemoryPage,
  MemoryRecord,
  MemorySearch,
  NewMemory,
} from "../runtime/context/memory/memory-index.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { inTime } from "./in-time.ts";
import type { MemoryApi } from "./memory-api.ts";

/** The memories behind a Memory object's stub. */
export class RemoteMemoryIndex implements MemoryIndex {
  readonly #api: MemoryApi;
  readonly #most: number;

  /** @param most so many memories at most */
  constructor(api: MemoryApi, most: number) {
    this.#api = api;
    this.#most = most;
  }

  async upsert(memory: NewMemory): Promise<MemoryRecord> {
    return answered(this.#api.upsert(memory, this.#most));
  }

  async search(query: string, options: MemorySearch = {}): Promise<readonly MemoryRecord[]> {
    return answered(this.#api.search(query, options));
  }

  async list(page: { limit: number; cursor: string | null }): Promise<MemoryPage> {
    return answered(this.#api.list(page));
  }

  async remove(id: string): Promise<boolean> {
    return answered(this.#api.forget(id));
  }
}

/** What the object answers. @throws LightAgentError also when it does not answer: its callers know no other errors */
async function answered<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await inTime(call);
  } catch (cause) {
    throw new LightAgentError("unavailable", "The memory does not answer for now.", undefined, { cause });
  }
  return unwrap(answer);
}
