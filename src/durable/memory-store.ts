import { FOUND, memoryFull } from "../runtime/context/memory/memory-index.ts";
import type {
  MemoryPage,
  MemoryRecord,
  MemorySearch,
  NewMemory,
} from "../runtime/context/memory/memory-index.ts";
import { QUERY_WORDS, SCORE_DIGITS } from "../runtime/context/rank.ts";
import { queryWordsOf, wordsOf } from "../runtime/context/words.ts";
import type { MemoryKind } from "../runtime/protocol/recalled-memory.ts";
import { numberBefore, toPage } from "./pages.ts";
import type { PageQuery } from "./tenant-management-api.ts";

interface MemoryRow extends Record<string, SqlStorageValue> {
  number: number;
  id: string;
  kind: MemoryKind;
  content: string;
  session: string;
  seq: number;
  created_at: number;
  updated_at: number;
}

/** The memories of one agent and user, with an index of their words. */
export class MemoryStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Keeps a memory in place of what has its id, as the latest. Reads 1 row, all numbers for a new id; writes 2 rows, and
   * 2 for what it replaces: FTS5 bills none for its own tables. @throws memory_full
   */
  upsert({ id, kind, content, origin }: NewMemory, most: number, at: number): MemoryRecord {
    const known = this.#find(id);
    if (!known && this.#count() >= most) throw memoryFull(most);
    const number = this.#last() + 1;
    if (known) this.#delete(known);
    const createdAt = known?.created_at ?? at;
    this.#sql.exec(
      `INSERT INTO memories (number, id, kind, content, session, seq, created_at, updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      number,
      id,
      kind,
      content,
      origin.session,
      origin.seq,
      createdAt,
      at,
    );
    const words = wordsOf(content).join(" ");
    this.#sql.exec("INSERT INTO memory_words (rowid, words) VALUES (?, ?)", number, words);
    return { id, kind, content, origin, createdAt, updatedAt: at };
  }

  /** Reads a row for each memory that has a word of the query. */
  search(query: string, { limit = FOUND, kinds }: MemorySearch): MemoryRecord[] {
    const words = queryWordsOf(query, QUERY_WORDS);
    if (words.length === 0) return [];
    // Words are letters, digits and marks alone: none ends the quotes.
    const match = words.map((word) => `"${word}"`).join(" OR ");
    const rows = this.#sql.exec<MemoryRow>(
      `SELECT memories.* FROM memory_words JOIN memories ON memories.number = memory_words.rowid
        WHERE memory_words MATCH ? AND (? IS NULL OR kind IN (SELECT value FROM json_each(?)))
        ORDER BY round(bm25(memory_words), ?), number DESC LIMIT ?`,
      match,
      kinds ? 1 : null,
      JSON.stringify(kinds ?? []),
      SCORE_DIGITS,
      limit,
    );
    return rows.toArray().map(record);
  }

  /** The latest first. Reads the rows of the page. @throws invalid_request for a cursor of another list */
  list(page: PageQuery): MemoryPage {
    const query = "SELECT * FROM memories WHERE number < ? ORDER BY number DESC LIMIT ?";
    const rows = this.#sql.exec<MemoryRow>(query, numberBefore(page), page.limit + 1).toArray();
    return toPage(rows, page, record, ({ number }) => String(number));
  }

  /** Whether there was one. Reads 1 row, writes 2. */
  remove(id: string): boolean {
    const known = this.#find(id);
    if (known) this.#delete(known);
    return known !== undefined;
  }

  #find(id: string): MemoryRow | undefined {
    return this.#sql.exec<MemoryRow>("SELECT * FROM memories WHERE id = ?", id).toArray()[0];
  }

  #last(): number {
    const query = "SELECT coalesce(max(number), 0) AS last FROM memories";
    return this.#sql.exec<{ last: number }>(query).one().last;
  }

  #count(): number {
    return this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM memories").one().count;
  }

  #delete({ number }: MemoryRow): void {
    this.#sql.exec("DELETE FROM memories WHERE number = ?", number);
    this.#sql.exec("DELETE FROM memory_words WHERE rowid = ?", number);
  }
}

function record({ id, kind, content, session, seq, created_at, updated_at }: MemoryRow): MemoryRecord {
  return {
    id,
    kind,
    content,
    origin: { session, seq },
    createdAt: created_at,
    updatedAt: updated_at,
  };
}
