import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { WorkspaceWriter } from "../runtime/workspace/workspace.ts";

/** The session, turn, wake and call that a change belongs to. */
export type WriterSource = NonNullable<WorkspaceWriter["source"]>;

interface FenceRow extends Record<string, SqlStorageValue> {
  turn: number;
  wakes: number;
}

/**
 * The table `fences`: the latest (turn, wakes) that each session has written with or asked for outcomes with. A
 * process of a session that has been replaced is refused, however late its request arrives.
 */
export class FenceStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Reads 1 row. @throws write_fenced when the session has been seen with a later turn or wake */
  check(source: WriterSource): void {
    const seen = this.#find(source.session);
    if (seen && isBefore(source, seen)) {
      const message = "The session has gone on in another process or turn; this one may not write any more.";
      throw new LightAgentError("write_fenced", message);
    }
  }

  /**
   * Notes the writer, and pins a version when it is the first time: to what the files were then it can go back. Writes 1
   * row when the session's turn or wake is new, otherwise none.
   */
  raise(source: WriterSource, pin: number): void {
    const seen = this.#find(source.session);
    if (seen && seen.turn === source.turn && seen.wakes === source.wakes) return;
    const query = `INSERT INTO fences (session, turn, wakes, pin) VALUES (?, ?, ?, ?)
      ON CONFLICT (session) DO UPDATE SET turn = excluded.turn, wakes = excluded.wakes`;
    this.#sql.exec(query, source.session, source.turn, source.wakes, pin);
  }

  /** The session is gone and goes back to nothing any more. Writes 1 row. */
  unpin(session: string): void {
    this.#sql.exec("UPDATE fences SET pin = NULL WHERE session = ?", session);
  }

  /** The oldest version that a session may still go back to; null without one. Reads a row per session. */
  oldestPin(): number | null {
    return this.#sql.exec<{ pin: number | null }>("SELECT min(pin) AS pin FROM fences").one().pin;
  }

  #find(session: string): FenceRow | undefined {
    const query = "SELECT turn, wakes FROM fences WHERE session = ?";
    return this.#sql.exec<FenceRow>(query, session).toArray()[0];
  }
}

function isBefore(source: WriterSource, seen: { turn: number; wakes: number }): boolean {
  return source.turn < seen.turn || (source.turn === seen.turn && source.wakes < seen.wakes);
}
