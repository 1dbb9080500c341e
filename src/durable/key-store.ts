import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Role } from "../runtime/protocol/role.ts";
import { conflict, toPage } from "./pages.ts";
import type { KeyView, NewKey, Page, PageQuery, Repeatable } from "./tenant-management-api.ts";

interface KeyRow extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  role: Role;
  hash: string;
  created_at: number;
  revoked: number;
}

/** The tenant's API keys. A revoked key keeps its row, so that its id is never used again. */
export class KeyStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Reads 1 row, writes 1. @throws id_taken, idempotency_mismatch */
  create(key: NewKey & Repeatable, at: number): KeyView {
    const existing = this.#find(key.id);
    if (existing) {
      const same = existing.name === key.name && existing.role === key.role && existing.hash === key.hash;
      if (key.repeatable && same && !existing.revoked) return view(existing);
      throw conflict("key", key.repeatable);
    }
    const insert = "INSERT INTO keys (id, name, role, hash, created_at, revoked) VALUES (?, ?, ?, ?, ?, 0)";
    this.#sql.exec(insert, key.id, key.name, key.role, key.hash, at);
    return { id: key.id, name: key.name, role: key.role, createdAt: at };
  }

  /** Whether a key stands with this hash. Reads 1 row. */
  has(id: string, hash: string): boolean {
    return this.#standing(id)?.hash === hash;
  }

  /** The key with this id and hash. Reads 1 row. @throws unauthorized */
  verify(id: string, hash: string): KeyView {
    const encoder = new TextEncoder();
    const row = this.#standing(id);
    // Compared in a time that does not tell how much of the hash is right.
    if (!row || !crypto.subtle.timingSafeEqual(encoder.encode(row.hash), encoder.encode(hash)))
      throw unknownKey();
    return view(row);
  }

  /** A key that is not revoked. Reads 1 row. @throws unauthorized */
  standing(id: string): KeyView {
    const row = this.#standing(id);
    if (!row) throw unknownKey();
    return view(row);
  }

  /** Keys that stand, by id. Reads the rows of the page and those of revoked keys between them. */
  list(page: PageQuery): Page<KeyView> {
    const query = "SELECT * FROM keys WHERE id > ? AND revoked = 0 ORDER BY id LIMIT ?";
    const rows = this.#sql.exec<KeyRow>(query, page.cursor ?? "", page.limit + 1).toArray();
    return toPage(rows, page, view, ({ id }) => id);
  }

  /** Reads 1 row, writes 1. @throws not_found for a key that does not stand */
  revoke(id: string): void {
    if (!this.#standing(id)) throw new LightAgentError("not_found", "There is no such key.");
    this.#sql.exec("UPDATE keys SET revoked = 1 WHERE id = ?", id);
  }

  #standing(id: string): KeyRow | undefined {
    const row = this.#find(id);
    return row?.revoked ? undefined : row;
  }

  #find(id: string): KeyRow | undefined {
    return this.#sql.exec<KeyRow>("SELECT * FROM keys WHERE id = ?", id).toArray()[0];
  }
}

function view({ id, name, role, created_at }: KeyRow): KeyView {
  return { id, name, role, createdAt: created_at };
}

function unknownKey(): LightAgentError {
  return new LightAgentError("unauthorized", "The key is unknown or revoked.");
}
