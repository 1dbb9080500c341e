/** What a tenant can delete that has an object of its own. */
export type RemovalKind = "session" | "workspace" | "memory";

/** Something that is deleted in the tenant's index, and whose object may not know it yet. */
export interface Removal extends Record<string, SqlStorageValue> {
  readonly kind: RemovalKind;
  readonly id: string;
}

/** The objects that still have to be told that they are deleted. */
export class RemovalStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Writes 1 row, none for one that is there. */
  add({ kind, id }: Removal): void {
    this.#sql.exec("INSERT OR IGNORE INTO removals (kind, id) VALUES (?, ?)", kind, id);
  }

  /** Reads 1 row. */
  has({ kind, id }: Removal): boolean {
    const query = "SELECT 1 AS found FROM removals WHERE kind = ? AND id = ?";
    return this.#sql.exec(query, kind, id).toArray().length > 0;
  }

  /** Reads `limit` rows. */
  some(limit: number): Removal[] {
    return this.#sql.exec<Removal>("SELECT kind, id FROM removals LIMIT ?", limit).toArray();
  }

  /** Writes 1 row. */
  settle({ kind, id }: Removal): void {
    this.#sql.exec("DELETE FROM removals WHERE kind = ? AND id = ?", kind, id);
  }
}
