import { LightAgentError } from "../runtime/protocol/errors.ts";

/** Reads walk at most so many ancestors; a deeper branch holds a copy. */
export const MAX_ANCESTORS = 4;

/** A branch as seen up to and including a version. */
export interface Layer {
  readonly branch: string;
  readonly through: number;
}

/** `through` of a layer that is its branch's head. */
export const HEAD = Number.MAX_SAFE_INTEGER;

interface BranchRow extends Record<string, SqlStorageValue> {
  parent: string | null;
  fork_version: number;
  whole: number;
  removed: number;
}

/** The table `branches`. */
export class BranchStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Writes 1 row. `whole`: the branch is to hold a copy of everything. */
  add(name: string, origin: { parent: string; version: number; whole: boolean } | null): void {
    const { parent = null, version = 0, whole = true } = origin ?? {};
    const query = "INSERT INTO branches (name, parent, fork_version, whole) VALUES (?, ?, ?, ?)";
    this.#sql.exec(query, name, parent, version, whole ? 1 : 0);
  }

  /** From now on nobody finds it; what was forked from it reads on in it. Writes 1 row. */
  remove(name: string): void {
    this.#sql.exec("UPDATE branches SET removed = 1 WHERE name = ? AND parent IS NOT NULL", name);
  }

  /** The removed branches from which none was forked that still stands. Reads a row per branch. */
  abandoned(): string[] {
    const query = `SELECT name FROM branches WHERE removed = 1
      AND name NOT IN (SELECT parent FROM branches WHERE parent IS NOT NULL)`;
    return this.#sql
      .exec<{ name: string }>(query)
      .toArray()
      .map(({ name }) => name);
  }

  /** The versions at which branches were forked from one. Reads a row per branch. */
  forkVersions(parent: string): number[] {
    const query = "SELECT DISTINCT fork_version AS version FROM branches WHERE parent = ?";
    return this.#sql
      .exec<{ version: number }>(query, parent)
      .toArray()
      .map(({ version }) => version);
  }

  /** Forgets a branch. Writes 1 row. */
  erase(name: string): void {
    this.#sql.exec("DELETE FROM branches WHERE name = ?", name);
  }

  /** What a branch began as; `parent` is null for the first one. Reads 1 row. */
  origin(name: string): { readonly parent: string | null; readonly version: number } | undefined {
    const row = this.#find(name);
    return row && { parent: row.parent, version: row.fork_version };
  }

  /** Reads a row per branch. */
  names(): string[] {
    const rows = this.#sql.exec<{ name: string }>("SELECT name FROM branches").toArray();
    return rows.map((row) => row.name);
  }

  /** The branches that are read on into the one that they were forked from. Reads a row per branch. */
  heirs(): string[] {
    const rows = this.#sql
      .exec<{ name: string }>("SELECT name FROM branches WHERE whole = 0 AND removed = 0")
      .toArray();
    return rows.map((row) => row.name);
  }

  /**
   * What a branch's state at a version is put together from, nearest first: a path is what the first layer that
   * knows it says. Reads 1 row per layer, so at most {@link MAX_ANCESTORS} + 1, unless the version is older than
   * the branch: then also the branches up to the one that it was made on.
   * @throws not_found when there is no such branch
   */
  layers(branch: string, version = HEAD): Layer[] {
    return this.#ancestry(branch, version, (row) => row.whole === 1);
  }

  /** As {@link layers}, but back to the first branch: whose versions make up the branch's history. */
  lineage(branch: string, version = HEAD): Layer[] {
    return this.#ancestry(branch, version, () => false);
  }

  #ancestry(branch: string, version: number, stop: (row: BranchRow) => boolean): Layer[] {
    const layers: Layer[] = [];
    let name: string | null = branch;
    let through = version;
    while (name !== null) {
      const row = this.#find(name);
      if (row === undefined || (name === branch && row.removed === 1)) {
        throw new LightAgentError("not_found", "The workspace has no such branch.");
      }
      // What a branch was before its fork is its parent's affair.
      const older = row.parent !== null && through < row.fork_version;
      if (!older) {
        layers.push({ branch: name, through });
        if (stop(row)) break;
      }
      through = Math.min(through, row.fork_version);
      name = row.parent;
    }
    return layers;
  }

  #find(name: string): BranchRow | undefined {
    const query = "SELECT parent, fork_version, whole, removed FROM branches WHERE name = ?";
    return this.#sql.exec<BranchRow>(query, name).toArray()[0];
  }
}
