import { LightAgentError } from "../runtime/protocol/errors.ts";

/** The part of a Durable Object's storage that migrations need. */
export type MigrationStorage = Pick<DurableObjectStorage, "sql" | "transactionSync">;

/**
 * One change of the schema. Step n of a list has the number n + 1; a step that has shipped is never edited,
 * moved or removed.
 */
export type Migration = (sql: SqlStorage) => void;

/**
 * Whether {@link migrate} has ever run here, so whether the object exists. Writes nothing: an object must answer
 * for an id that was never created without leaving storage behind. Reads 1 row.
 */
export function hasSchema(sql: SqlStorage): boolean {
  const query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'";
  return sql.exec(query).toArray().length > 0;
}

/**
 * Brings the schema up to the last step, in one transaction: after a crash it is the old schema or the new one.
 * Writes 1 row per step that was missing, beside what the steps write; nothing when the schema is current.
 * @throws unavailable when the storage was written by a later version of the product, which it never overwrites
 */
export function migrate(storage: MigrationStorage, steps: readonly Migration[]): void {
  const { sql } = storage;
  if (hasSchema(sql) && versionOf(sql, steps) === steps.length) return;
  storage.transactionSync(() => {
    sql.exec("CREATE TABLE IF NOT EXISTS migrations (id INTEGER PRIMARY KEY)");
    const done = versionOf(sql, steps);
    for (const [index, step] of steps.entries()) {
      if (index < done) continue;
      step(sql);
      sql.exec("INSERT INTO migrations (id) VALUES (?)", index + 1);
    }
  });
}

function versionOf(sql: SqlStorage, steps: readonly Migration[]): number {
  const { version } = sql
    .exec<{ version: number }>("SELECT coalesce(max(id), 0) AS version FROM migrations")
    .one();
  if (version > steps.length) {
    const details = { stored: version, known: steps.length };
    throw new LightAgentError(
      "unavailable",
      "The storage belongs to a later version of this software.",
      details,
    );
  }
  return version;
}
