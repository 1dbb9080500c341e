import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue, StatementSync } from "node:sqlite";

export type Row = Record<string, SqlStorageValue>;

/** What outlives every instance: the rows, and when the alarm is due (ms since the epoch). */
export class Disk {
  readonly #database = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  alarm: number | null = null;

  run(query: string, ...bindings: readonly unknown[]): Row[] {
    let statement = this.#statements.get(query);
    if (!statement) {
      statement = this.#database.prepare(query);
      this.#statements.set(query, statement);
    }
    return statement.all(...(bindings as SQLInputValue[])) as Row[];
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}
