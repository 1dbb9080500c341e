import type { Migration } from "./migrations.ts";

const USAGE_COLUMNS = `
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cached_input INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost INTEGER NOT NULL`;

/**
 * The schema of a Tenant object. Sessions and workspaces are listed newest first, so they are numbered; the unique
 * index over their ids costs a second row when one is created, and none when it changes.
 */
export const TENANT_MIGRATIONS: readonly Migration[] = [
  (sql) => {
    sql.exec("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
    sql.exec(`CREATE TABLE keys (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      role TEXT NOT NULL,
      hash TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      revoked INTEGER NOT NULL
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE agents (
      id TEXT NOT NULL,
      version INTEGER NOT NULL,
      definition TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (id, version)
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE sessions (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      digest TEXT NOT NULL,
      agent TEXT NOT NULL,
      agent_version INTEGER NOT NULL,
      workspace TEXT NOT NULL,
      title TEXT NOT NULL,
      status TEXT NOT NULL,
      turn INTEGER NOT NULL,
      head INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      deleted INTEGER NOT NULL
    )`);
    sql.exec(`CREATE TABLE workspaces (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      deleted INTEGER NOT NULL
    )`);
    sql.exec(`CREATE TABLE leases (
      session TEXT PRIMARY KEY,
      turn INTEGER NOT NULL,
      expires_at INTEGER NOT NULL
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE usage_of_sessions (
      session TEXT NOT NULL,
      day TEXT NOT NULL,
      agent TEXT NOT NULL,
      model TEXT NOT NULL,${USAGE_COLUMNS},
      PRIMARY KEY (session, day, agent, model)
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE usage (
      day TEXT NOT NULL,
      agent TEXT NOT NULL,
      model TEXT NOT NULL,${USAGE_COLUMNS},
      PRIMARY KEY (day, agent, model)
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE audit (
      number INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      by_kind TEXT NOT NULL,
      by_id TEXT NOT NULL,
      key_id TEXT,
      action TEXT NOT NULL,
      target TEXT NOT NULL,
      result TEXT NOT NULL,
      request_id TEXT
    )`);
  },
  (sql) => {
    sql.exec(
      "CREATE TABLE removals (kind TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID",
    );
  },
  (sql) => {
    sql.exec(`CREATE TABLE providers (
      id TEXT PRIMARY KEY,
      base_url TEXT NOT NULL,
      dialect TEXT NOT NULL,
      compat TEXT NOT NULL,
      sealed TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE models (
      model TEXT PRIMARY KEY,
      requests INTEGER NOT NULL,
      successes INTEGER NOT NULL,
      failures INTEGER NOT NULL,
      input INTEGER NOT NULL,
      output INTEGER NOT NULL,
      failing INTEGER NOT NULL,
      rests_until INTEGER NOT NULL
    ) WITHOUT ROWID`);
  },
  // The large columns come last, so that a list need not read them.
  (sql) => {
    sql.exec(`CREATE TABLE skills (
      name TEXT NOT NULL,
      version INTEGER NOT NULL,
      digest TEXT NOT NULL,
      description TEXT NOT NULL,
      dependencies TEXT NOT NULL,
      paths TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      content TEXT NOT NULL,
      files TEXT NOT NULL,
      PRIMARY KEY (name, version)
    ) WITHOUT ROWID`);
  },
  (sql) => {
    sql.exec(
      "CREATE TABLE memories (owner TEXT NOT NULL, agent TEXT NOT NULL, PRIMARY KEY (owner, agent)) WITHOUT ROWID",
    );
  },
  (sql) => {
    sql.exec(
      "CREATE TABLE storage_grants (workspace TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID",
    );
  },
];

/** The schema of the directory of tenants. */
export const DIRECTORY_MIGRATIONS: readonly Migration[] = [
  (sql) => {
    sql.exec(`CREATE TABLE tenants (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      deleted INTEGER NOT NULL
    ) WITHOUT ROWID`);
  },
];
