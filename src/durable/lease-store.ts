interface LeaseRow extends Record<string, SqlStorageValue> {
  turn: number;
  expires_at: number;
}

/** Leases of running turns, one per session at most. An expired one counts for nothing. */
export class LeaseStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The turn of the session that holds a lease at `now`. Reads 1 row. */
  turnOf(session: string, now: number): number | null {
    const row = this.#sql.exec<LeaseRow>("SELECT * FROM leases WHERE session = ?", session).toArray()[0];
    return row && row.expires_at > now ? row.turn : null;
  }

  /** Sessions that hold a lease at `now`. Reads all leases: as many as turns may run, and expired ones. */
  count(now: number): number {
    const query = "SELECT count(*) AS held FROM leases WHERE expires_at > ?";
    return this.#sql.exec<{ held: number }>(query, now).one().held;
  }

  /** Writes 1 row. */
  hold(session: string, turn: number, expiresAt: number): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO leases (session, turn, expires_at) VALUES (?, ?, ?)",
      session,
      turn,
      expiresAt,
    );
  }

  /** Writes 1 row if there is a lease. */
  release(session: string): void {
    this.#sql.exec("DELETE FROM leases WHERE session = ?", session);
  }

  /** Forgets leases that nobody has released. Reads all leases, writes a row for each forgotten. */
  sweep(now: number): void {
    this.#sql.exec("DELETE FROM leases WHERE expires_at <= ?", now);
  }
}
