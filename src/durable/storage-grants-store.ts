import { LightAgentError } from "../runtime/protocol/errors.ts";
import { MetaStore } from "./meta-store.ts";

/** The sum of all rows: a key of the table `meta`, so that nobody has to add them up. */
const TOTAL = "storageBytes";

/** A workspace that grows is granted this much more than it needs, so that it seldom asks: a share of that, and bytes. */
const AHEAD_SHARE = 0.25;
const AHEAD_BYTES = 64 * 1024;
/** But not where what all have been granted comes near to what the tenant may: then every byte is counted out. */
const ROOMY_SHARE = 0.8;

interface GrantRow extends Record<string, SqlStorageValue> {
  bytes: number;
}

/** How many bytes each workspace of a tenant may hold; together they are never more than the tenant may. */
export class StorageGrantsStore {
  readonly #sql: SqlStorage;
  readonly #meta: MetaStore;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#meta = new MetaStore(sql);
  }

  /** What all workspaces may hold together, in bytes. Reads 1 row. */
  total(): number {
    return this.#meta.get<number>(TOTAL) ?? 0;
  }

  /**
   * Grants a workspace what it needs in all, in the place of what it had; less than that gives the rest back. Reads 2 rows,
   * writes 2.
   * @param grows whether it is likely to need more soon
   * @returns what it may hold now
   * @throws storage_full when there is no room for more than it had
   */
  grant(workspace: string, needed: number, grows: boolean, most: number): number {
    const before = this.#of(workspace);
    const others = this.total() - before;
    const room = most - others;
    if (needed > room && needed > before) {
      const details = { limit: "storageBytes", value: most };
      throw new LightAgentError("storage_full", "The tenant stores as many bytes as it may.", details);
    }
    // What is stored already stays granted, also where the limit has been lowered since.
    const ahead = Math.ceil(needed * (1 + AHEAD_SHARE)) + AHEAD_BYTES;
    const granted = grows && others + ahead <= most * ROOMY_SHARE ? ahead : needed;
    if (granted !== before) this.#set(workspace, granted, others + granted);
    return granted;
  }

  /** A workspace that is deleted holds nothing any more. Reads 2 rows, writes 2. */
  forget(workspace: string): void {
    const before = this.#of(workspace);
    if (before === 0) return;
    this.#sql.exec("DELETE FROM storage_grants WHERE workspace = ?", workspace);
    this.#meta.set(TOTAL, this.total() - before);
  }

  #of(workspace: string): number {
    const query = "SELECT bytes FROM storage_grants WHERE workspace = ?";
    return this.#sql.exec<GrantRow>(query, workspace).toArray()[0]?.bytes ?? 0;
  }

  #set(workspace: string, bytes: number, total: number): void {
    const query = `INSERT INTO storage_grants (workspace, bytes) VALUES (?, ?)
      ON CONFLICT (workspace) DO UPDATE SET bytes = excluded.bytes`;
    this.#sql.exec(query, workspace, bytes);
    this.#meta.set(TOTAL, total);
  }
}
