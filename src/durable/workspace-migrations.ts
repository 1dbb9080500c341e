import type { Migration } from "./migrations.ts";

/**
 * The tables of a Workspace object. Where nothing else is said they are WITHOUT ROWID and have no secondary index, so
 * that each change of a row is one billed write:
 *
 * - `meta`: what the workspace is, the mark that it is condemned, and the oldest version that is kept.
 * - `branches`: a branch is its parent's state at `fork_version` and what it changed itself; `whole` says that all
 *   of it was copied, so that reads stop here. A `removed` one stands only for those that were forked from it.
 * - `versions`: one per committed change, numbered through all branches, with the totals of its branch.
 * - `blobs`: contents by SHA-256, and the object in R2 that holds each. `text` is the first of its `text_rows` rows in
 *   `texts`, a negative number where these have no trigrams; 0 says that it has no text, null that it has not been indexed.
 * - `manifest`: append-only, which content a path has had since a version; `sha256` null where it was deleted.
 * - `heads`: the last row of `manifest` of each path, kept beside it in the same transaction. It costs one row more
 *   per changed path, and makes a listing, a glob or a stat independent of how often files were changed. Its index by
 *   content costs each change of a head another row; without it, whether a content is still some file's would be a
 *   look at all heads.
 * - `fences`: the latest (turn, wakes) seen from each session, and the version before its first change, which is kept
 *   while the session exists; null once it does not.
 * - `texts`: the texts of contents that a head names, in parts of whole lines, and the number of each part's first line;
 *   with rowids, since rows are large.
 * - `text_trigrams`: the trigrams of each part, by its row in `texts`. Holds no text itself.
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
  // What was written before has no text yet: searches index it as they come by.
  (sql) => {
    sql.exec(`
      ALTER TABLE blobs ADD COLUMN text INTEGER;
      ALTER TABLE blobs ADD COLUMN text_rows INTEGER NOT NULL DEFAULT 0;
      CREATE INDEX heads_by_content ON heads (sha256) WHERE sha256 IS NOT NULL;
      CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
      CREATE VIRTUAL TABLE text_trigrams USING fts5(
        body, content='', contentless_delete=1, tokenize='trigram', detail=none
      );
    `);
  },
  (sql) => {
    sql.exec(`
      ALTER TABLE fences ADD COLUMN pin INTEGER;
      ALTER TABLE branches ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
    `);
  },
  // Texts were whole. Searches index them anew, as they come by.
  (sql) => {
    sql.exec(`
      DROP TABLE texts;
      DROP TABLE text_trigrams;
      UPDATE blobs SET text = NULL, text_rows = 0 WHERE text IS NOT NULL;
      CREATE TABLE texts (id INTEGER PRIMARY KEY, line INTEGER NOT NULL, body TEXT NOT NULL);
      CREATE VIRTUAL TABLE text_trigrams USING fts5(
        body, content='', contentless_delete=1, tokenize='trigram', detail=none
      );
    `);
  },
];
