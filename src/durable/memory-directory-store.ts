import { LightAgentError } from "../runtime/protocol/errors.ts";
import { MetaStore } from "./meta-store.ts";

/** How many rows there are: a key of the table `meta`, so that nobody has to count them. */
const COUNT = "memories";

interface MemoryOwnerRow extends Record<string, SqlStorageValue> {
  owner: string;
  agent: string;
}

/** Of which agents and users a tenant has memories. They themselves are in objects of their own. */
export class MemoryDirectoryStore {
  readonly #sql: SqlStorage;
  readonly #meta: MetaStore;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#meta = new MetaStore(sql);
  }

  /** Reads 2 rows; writes 2 for one that is new. @throws memory_full */
  enter(agent: string, owner: string, most: number): void {
    const known = "SELECT 1 FROM memories WHERE owner = ? AND agent = ?";
    if (this.#sql.exec(known, owner, agent).toArray().length > 0) return;
    const count = this.#meta.get<number>(COUNT) ?? 0;
    if (count >= most) {
      const details = { limit: "memoryOwners", value: most };
      throw new LightAgentError("memory_full", "The tenant remembers as many users as it may.", details);
    }
    this.#sql.exec("INSERT INTO memories (owner, agent) VALUES (?, ?)", owner, agent);
    this.#meta.set(COUNT, count + 1);
  }

  /** The agents that remember an owner. Reads their rows. */
  agentsOf(owner: string): string[] {
    const query = "SELECT owner, agent FROM memories WHERE owner = ?";
    return this.#sql
      .exec<MemoryOwnerRow>(query, owner)
      .toArray()
      .map(({ agent }) => agent);
  }

  /** Reads `limit` rows. */
  some(limit: number): { readonly owner: string; readonly agent: string }[] {
    return this.#sql.exec<MemoryOwnerRow>("SELECT owner, agent FROM memories LIMIT ?", limit).toArray();
  }

  /** One that is there. Reads 1 row, writes 2. */
  forget(agent: string, owner: string): void {
    this.#meta.set(COUNT, (this.#meta.get<number>(COUNT) ?? 1) - 1);
    this.#sql.exec("DELETE FROM memories WHERE owner = ? AND agent = ?", owner, agent);
  }
}
