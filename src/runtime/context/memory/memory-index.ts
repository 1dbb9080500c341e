import { LightAgentError } from "../../protocol/errors.ts";
import { idSchema } from "../../protocol/ids.ts";
import { DEFAULT_LIMITS } from "../../protocol/limits.ts";
import type { MemoryKind } from "../../protocol/recalled-memory.ts";

/** Where a memory was made: the session, and the `seq` of the input of the turn. */
export interface MemoryOrigin {
  readonly session: string;
  readonly seq: number;
}

/** A memory that is to be kept; one with its id is replaced. */
export interface NewMemory {
  /** 1 to 64 letters, digits, `_` or `-`. */
  readonly id: string;
  readonly kind: MemoryKind;
  /** Not blank, at most `memoryChars` long. */
  readonly content: string;
  readonly origin: MemoryOrigin;
}

export interface MemoryRecord extends NewMemory {
  /** When its id was first kept, and when it became what it is, in ms since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface MemorySearch {
  /** @default 5 */
  readonly limit?: number;
  /** @default all */
  readonly kinds?: readonly MemoryKind[];
}

export interface MemoryPage {
  readonly data: readonly MemoryRecord[];
  /** The cursor of the part that follows; null when this is the last. */
  readonly next: string | null;
}

/** What one agent remembers of one user. */
export interface MemoryIndex {
  /**
   * Keeps a memory, as the latest.
   * @throws LightAgentError `memory_full`; `invalid_request` for an id or a content out of bounds
   */
  upsert(memory: NewMemory): Promise<MemoryRecord>;
  /**
   * The memories with at least one word of the query, the best first; of equals the latest. Words are those of every
   * script (see words.ts), and weigh the more the fewer memories have them.
   */
  search(query: string, options?: MemorySearch): Promise<readonly MemoryRecord[]>;
  /** The latest first. @throws LightAgentError `invalid_request` for a cursor of another list */
  list(page: { readonly limit: number; readonly cursor: string | null }): Promise<MemoryPage>;
  /** Whether there was one. */
  remove(id: string): Promise<boolean>;
}

/** What a search answers with, unless it is asked for another number. */
export const FOUND = 5;

/** @throws LightAgentError `invalid_request` for an id or a content out of bounds */
export function checkMemory({ id, content }: NewMemory): void {
  const { memoryChars } = DEFAULT_LIMITS;
  if (!idSchema.safeParse(id).success)
    throw new LightAgentError("invalid_request", "A memory has no such id.");
  if (content.trim() === "" || content.length > memoryChars || !content.isWellFormed()) {
    throw new LightAgentError("invalid_request", `A memory is a text of 1 to ${memoryChars} characters.`);
  }
}

/** The refusal of one memory more than there may be. */
export function memoryFull(most: number): LightAgentError {
  const details = { limit: "memories", value: most };
  return new LightAgentError(
    "memory_full",
    "As many memories are kept as may be: replace one instead.",
    details,
  );
}
