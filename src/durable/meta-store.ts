/** Single values by name: settings, the log's id, marks of recovery and deletion. Never written by a normal turn. */
export class MetaStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Reads 1 row. The value is what `set` wrote under the key, so its type is the writer's. */
  get<T>(key: string): T | undefined {
    const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = ?", key).toArray();
    return row && (JSON.parse(row.value) as T);
  }

  /** Writes 1 row. */
  set(key: string, value: unknown): void {
    const query =
      "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    this.#sql.exec(query, key, JSON.stringify(value));
  }

  /** Writes 1 row if the key was there. */
  delete(key: string): void {
    this.#sql.exec("DELETE FROM meta WHERE key = ?", key);
  }
}
