import type { Migration } from "./migrations.ts";

/** The schema of a Session object. Each row written is billed, so no table has a secondary index. */
export const SESSION_MIGRATIONS: readonly Migration[] = [
  (sql) => {
    sql.exec(
      "CREATE TABLE log (first_seq INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, body TEXT NOT NULL)",
    );
    sql.exec(`CREATE TABLE turns (
      turn INTEGER PRIMARY KEY,
      first_seq INTEGER NOT NULL,
      prompts TEXT NOT NULL,
      preview TEXT NOT NULL,
      model TEXT,
      workspace_version INTEGER,
      status TEXT NOT NULL,
      fold TEXT NOT NULL,
      usage TEXT NOT NULL
    )`);
    sql.exec(`CREATE TABLE prompts (
      id TEXT PRIMARY KEY,
      place INTEGER NOT NULL,
      state TEXT NOT NULL,
      body TEXT NOT NULL
    ) WITHOUT ROWID`);
    sql.exec("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  },
];
