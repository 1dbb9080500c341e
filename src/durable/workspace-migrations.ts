import type { Migration } from "./migrations.ts";

/**
 * The tables of a Workspace object. All are WITHOUT ROWID and have no secondary index, so that each change of a row
 * is one billed write:
 *
 * - `meta`: what the workspace is, and the mark that it is condemned.
 * - `branches`: a branch is its parent's state at `fork_version` and what it changed itself; `whole` says that all
 *   of it was copied, so that reads stop here.
 * - `versions`: one per committed change, numbered through all branches, with the totals of its branch.
 * - `blobs`: contents by SHA-256, and the object in R2 that holds each.
 * - `manifest`: append-only, which content a path has had since a version; `sha256` null where it was deleted.
 * - `heads`: the last row of `manifest` of each path, kept beside it in the same transaction. It costs one row more
 *   per changed path, and makes a listing, a glob or a stat independent of how often files were changed.
 * - `fences`: the latest (turn, wakes) seen from each session.
 */
export const WORKSPACE_MIGRATIONS: readonly Migration[] = [
  (sql) => {
    sql.exec(`
      CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE branches (
        name TEXT PRIMARY KEY, parent TEXT, fork_version INTEGER NOT NULL, whole INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE TABLE versions (
        branch TEXT, version INTEGER, at INTEGER NOT NULL, files INTEGER NOT NULL, bytes INTEGER NOT NULL,
        by_kind TEXT NOT NULL, by_id TEXT NOT NULL, session TEXT, turn INTEGER, wakes INTEGER, call_id TEXT,
        changes INTEGER NOT NULL, paths TEXT,
        PRIMARY KEY (branch, version)
      ) WITHOUT ROWID;
      CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, size INTEGER NOT NULL, object TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE manifest (
        branch TEXT, path TEXT, version INTEGER, sha256 TEXT, size INTEGER NOT NULL, modified_at INTEGER NOT NULL,
        PRIMARY KEY (branch, path, version)
      ) WITHOUT ROWID;
      CREATE TABLE heads (
        branch TEXT, path TEXT, version INTEGER NOT NULL, sha256 TEXT, size INTEGER NOT NULL,
        modified_at INTEGER NOT NULL,
        PRIMARY KEY (branch, path)
      ) WITHOUT ROWID;
      CREATE TABLE fences (
        session TEXT PRIMARY KEY, turn INTEGER NOT NULL, wakes INTEGER NOT NULL
      ) WITHOUT ROWID;
    `);
  },
];
