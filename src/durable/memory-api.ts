import type {
  MemoryPage,
  MemoryRecord,
  MemorySearch,
  NewMemory,
} from "../runtime/context/memory/memory-index.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { PageQuery } from "./tenant-management-api.ts";

/** The Memory object's methods. One in which nothing was ever kept answers as an empty one, and stores nothing. */
export interface MemoryApi {
  /** @param most so many memories at most @throws memory_full, invalid_request; not_found for a tenant that is gone */
  upsert(memory: NewMemory, most: number): Promise<Answer<MemoryRecord>>;
  search(query: string, options: MemorySearch): Promise<Answer<readonly MemoryRecord[]>>;
  list(page: PageQuery): Promise<Answer<MemoryPage>>;
  /** Whether there was one. */
  forget(id: string): Promise<Answer<boolean>>;
  /** Deletes all that it has. */
  remove(): Promise<Answer<null>>;
}

/** What a Memory object asks of its tenant's object. */
export interface MemoryDirectory {
  /**
   * Notes that there are memories of this agent and owner, so that they go when the owner or the tenant goes.
   * @throws not_found for a tenant that is gone, memory_full, unavailable while earlier ones are being deleted
   */
  enterMemory(agent: string, owner: string): Promise<Answer<null>>;
}

/** Whose memories they are, in one word. */
export function memoryOwner({ kind, id }: Principal): string {
  return `${kind}:${id}`;
}

/** The name of a Memory object below its tenant's: ids of agents have no `:`. */
export function memoryKey(agent: string, owner: string): string {
  return `${agent}:${owner}`;
}
