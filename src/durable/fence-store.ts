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

  /** Notes the writer. Writes 1 row when the session's turn or wake is new, otherwise none. */
  raise(source: WriterSource): void {
    const seen = this.#find(source.session);
    if (seen && seen.turn === source.turn && seen.wakes === source.wakes) return;
    const query = "INSERT OR REPLACE INTO fences (session, turn, wakes) VALUES (?, ?, ?)";
    this.#sql.exec(query, source.session, source.turn, source.wakes);
  }

  #find(session: string): FenceRow | undefined {
    const query = "SELECT turn, wakes FROM fences WHERE session = ?";
    return this.#sql.exec<FenceRow>(query, session).toArray()[0];
  }
}

function isBefore(source: WriterSource, seen: { turn: number; wakes: number }): boolean {
  return source.turn < seen.turn || (source.turn === seen.turn && source.wakes < seen.wakes);
}
