import type { Principal } from "../runtime/protocol/principal.ts";
import type { WorkspaceWriter } from "../runtime/workspace/workspace.ts";
import { HEAD } from "./branch-store.ts";
import type { Layer } from "./branch-store.ts";
import { RESTORE_PREFIX } from "./session-point.ts";
import type { SessionPoint } from "./session-point.ts";

/** One committed change of a branch, with the branch's totals after it. */
export interface Version {
  readonly branch: string;
  readonly version: number;
  /** ms since the epoch. */
  readonly at: number;
  /** Files and bytes that the branch holds. */
  readonly files: number;
  readonly bytes: number;
  readonly writer: WorkspaceWriter;
  /** How many paths changed. */
  readonly changes: number;
  /** Which; null when they are too many to be noted here: then the manifest knows them. */
  readonly paths: readonly string[] | null;
}

/** Beyond this many UTF-16 units of JSON the changed paths are not repeated in the version's row. */
const PATHS_CHARS = 16 * 1024;

interface VersionRow extends Record<string, SqlStorageValue> {
  branch: string;
  version: number;
  at: number;
  files: number;
  bytes: number;
  by_kind: string;
  by_id: string;
  session: string | null;
  turn: number | null;
  wakes: number | null;
  call_id: string | null;
  changes: number;
  paths: string | null;
}

/** The table `versions`. The number of a version counts through all branches and is never used twice. */
export class VersionStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The last version of the workspace. Reads 1 row per branch: versions are sorted by branch. */
  last(branches: readonly string[]): number {
    let last = 0;
    for (const branch of branches)
      last = Math.max(last, this.head([{ branch, through: HEAD }])?.version ?? 0);
    return last;
  }

  /** The last version of the first layer that has one. Reads 1 row per layer at most. */
  head(layers: readonly Layer[]): Version | null {
    for (const layer of layers) {
      const [version] = this.#newest(layer, 1);
      if (version) return version;
    }
    return null;
  }

  /** The newest versions of some layers, at most `limit`, newest first. Reads as many rows, and 1 per layer. */
  list(layers: readonly Layer[], limit: number): Version[] {
    const found: Version[] = [];
    for (const layer of layers) {
      if (found.length < limit) found.push(...this.#newest(layer, limit - found.length));
    }
    return found;
  }

  /**
   * The versions that a call made, oldest first. Reads all versions that are kept: only a crash asks, and an index
   * would cost every write a row.
   */
  ofCall(session: string, callId: string): Version[] {
    const query = "SELECT * FROM versions WHERE session = ? AND call_id = ? ORDER BY version";
    return this.#sql.exec<VersionRow>(query, session, callId).toArray().map(fromRow);
  }

  /** The versions of some layers after a version, in no order. Reads as many rows. */
  between(layers: readonly Layer[], after: number): Version[] {
    const query = "SELECT * FROM versions WHERE branch = ? AND version > ? AND version <= ?";
    return layers.flatMap(({ branch, through }) =>
      this.#sql.exec<VersionRow>(query, branch, after, through).toArray().map(fromRow),
    );
  }

  /** The first version of some layers that a session made after a point; null for none. Reads all of their rows. */
  firstAfter(layers: readonly Layer[], { sessions, turn, seq }: SessionPoint): number | null {
    const query = `SELECT min(version) AS first FROM versions
      WHERE branch = ? AND version <= ? AND session IN (SELECT value FROM json_each(?))
      AND (turn > ? OR (call_id GLOB ? AND CAST(substr(call_id, ?) AS INTEGER) > ?))`;
    const found = layers.flatMap(({ branch, through }) => {
      const point = [JSON.stringify(sessions), turn, `${RESTORE_PREFIX}*`, RESTORE_PREFIX.length + 1, seq];
      const { first } = this.#sql.exec<{ first: number | null }>(query, branch, through, ...point).one();
      return first ?? [];
    });
    return found.length === 0 ? null : Math.min(...found);
  }

  /** Writes 1 row. */
  add(version: Omit<Version, "changes" | "paths">, paths: readonly string[]): void {
    const { branch, at, files, bytes, writer } = version;
    const { session = null, turn = null, wakes = null, callId = null } = writer.source ?? {};
    const json = JSON.stringify(paths);
    const query = `INSERT INTO versions
      (branch, version, at, files, bytes, by_kind, by_id, session, turn, wakes, call_id, changes, paths)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    this.#sql.exec(
      query,
      branch,
      version.version,
      at,
      files,
      bytes,
      writer.by.kind,
      writer.by.id,
      session,
      turn,
      wakes,
      callId,
      paths.length,
      json.length > PATHS_CHARS ? null : json,
    );
  }

  /** How many there are on all branches. Reads them all. */
  count(): number {
    return this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM versions").one().count;
  }

  /**
   * The oldest of the newest `count` versions, or of those since a time (ms since the epoch), whichever is older; null
   * when there are no more than that many. Reads every row.
   */
  oldestOf(count: number, since: number): number | null {
    const counted = "SELECT version FROM versions ORDER BY version DESC LIMIT 1 OFFSET ?";
    const [row] = this.#sql.exec<{ version: number }>(counted, count - 1).toArray();
    if (!row) return null;
    const timed = "SELECT min(version) AS version FROM versions WHERE at >= ?";
    const { version } = this.#sql.exec<{ version: number | null }>(timed, since).one();
    return Math.min(row.version, version ?? row.version);
  }

  /**
   * Forgets the versions of a branch before one, but for the last up to each of some points: it has the branch's totals
   * there. Reads the branch's rows, writes those that go.
   */
  forget(branch: string, before: number, points: readonly number[]): void {
    const query = `DELETE FROM versions WHERE branch = ? AND version < ? AND version NOT IN (
      SELECT max(version) FROM versions JOIN json_each(?) AS point ON version <= point.value
      WHERE branch = ? GROUP BY point.value)`;
    this.#sql.exec(query, branch, before, JSON.stringify(points), branch);
  }

  /** Forgets a branch. Writes a row per version. */
  erase(branch: string): void {
    this.#sql.exec("DELETE FROM versions WHERE branch = ?", branch);
  }

  #newest(layer: Layer, limit: number): Version[] {
    const query = "SELECT * FROM versions WHERE branch = ? AND version <= ? ORDER BY version DESC LIMIT ?";
    return this.#sql.exec<VersionRow>(query, layer.branch, layer.through, limit).toArray().map(fromRow);
  }
}

function fromRow(row: VersionRow): Version {
  const { branch, version, at, files, bytes, changes, session, turn, wakes, call_id: callId } = row;
  const by = { kind: row.by_kind, id: row.by_id } as Principal;
  const isTool = session !== null && turn !== null && wakes !== null && callId !== null;
  const writer: WorkspaceWriter = isTool ? { by, source: { session, turn, wakes, callId } } : { by };
  const paths = row.paths === null ? null : (JSON.parse(row.paths) as string[]);
  return { branch, version, at, files, bytes, writer, changes, paths };
}
