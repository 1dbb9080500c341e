import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue } from "node:sqlite";
import { SESSION_MIGRATIONS } from "../../../src/durable/session-migrations.ts";

/** As much of a Session object's SQLite as its stores use, in memory, with the session's schema. */
export function sessionSql(): SqlStorage {
  const database = new DatabaseSync(":memory:");
  const exec = (query: string, ...bindings: unknown[]) => {
    const rows = database.prepare(query).all(...(bindings as SQLInputValue[]));
    return { toArray: () => rows, [Symbol.iterator]: () => rows[Symbol.iterator]() };
  };
  const sql = { exec } as unknown as SqlStorage;
  for (const migration of SESSION_MIGRATIONS) migration(sql);
  return sql;
}
