import type { DurableEvent } from "../runtime/protocol/durable-events.ts";

/** A commit as it is stored: the JSON array of its events. */
export interface LogRow extends Record<string, SqlStorageValue> {
  first_seq: number;
  last_seq: number;
  body: string;
}

/** Some events of the log as JSON text, ready to be sent: `[…]`. */
export interface LogPage {
  /** The `seq` of the page's last event; the page's start when it holds none. */
  readonly lastSeq: number;
  readonly json: string;
}

const encoder = new TextEncoder();

/** The log: one row per commit, each the JSON array of its events. Append only. */
export class LogStore {
  readonly #sql: SqlStorage;
  readonly #rowBytes: number;

  /** `rowBytes`: a commit of more is written as several rows, since SQLite refuses rows of 2 MB. */
  constructor(sql: SqlStorage, rowBytes: number) {
    this.#sql = sql;
    this.#rowBytes = rowBytes;
  }

  /** Writes 1 row, more only for a commit above `rowBytes`. The caller holds the transaction. */
  append(events: readonly DurableEvent[]): void {
    let batch: string[] = [];
    let bytes = 0;
    let first = events[0]?.seq ?? 0;
    for (const event of events) {
      const json = JSON.stringify(event);
      const size = encoder.encode(json).length + 1;
      if (batch.length > 0 && bytes + size > this.#rowBytes) {
        this.#insert(first, event.seq - 1, batch);
        batch = [];
        bytes = 0;
        first = event.seq;
      }
      batch.push(json);
      bytes += size;
    }
    const last = events.at(-1);
    if (last) this.#insert(first, last.seq, batch);
  }

  #insert(first: number, last: number, events: readonly string[]): void {
    this.put({ first_seq: first, last_seq: last, body: `[${events.join(",")}]` });
  }

  /** Adds a row that another log has had. Writes 1 row. */
  put({ first_seq: first, last_seq: last, body }: LogRow): void {
    this.#sql.exec("INSERT INTO log (first_seq, last_seq, body) VALUES (?, ?, ?)", first, last, body);
  }

  /** The event with a `seq`. Reads 1 row. */
  at(seq: number): DurableEvent | undefined {
    for (const event of this.read(seq - 1)) return event.seq === seq ? event : undefined;
    return undefined;
  }

  /** The `seq` of the last event; 0 without one. Reads 1 row. */
  head(): number {
    const query = "SELECT last_seq AS head FROM log ORDER BY first_seq DESC LIMIT 1";
    return this.#sql.exec<{ head: number }>(query).toArray()[0]?.head ?? 0;
  }

  /** The events with `seq > after`, in order, read row by row. Reads the rows that hold them. */
  *read(after: number): Generator<DurableEvent> {
    for (const row of this.#rows(after)) {
      for (const event of parseBody(row.body)) if (event.seq > after) yield event;
    }
  }

  /**
   * A page of at most about `bytes` from `after` on (one row at least): the stored text itself, parsed only where the
   * page begins inside a row. Reads the rows of the page and at most one more.
   */
  page(after: number, bytes: number): LogPage {
    const parts: string[] = [];
    let lastSeq = after;
    let size = 0;
    for (const row of this.#rows(after)) {
      const inside = row.first_seq <= after;
      const body = inside
        ? JSON.stringify(parseBody(row.body).filter((event) => event.seq > after))
        : row.body;
      if (parts.length > 0 && size + body.length > bytes) break;
      if (body.length > 2) parts.push(body.slice(1, -1));
      lastSeq = row.last_seq;
      size += body.length;
    }
    return { lastSeq, json: `[${parts.join(",")}]` };
  }

  /** The rows from `after` on up to `through`, which must not begin inside a row. Reads them and at most one more. */
  *rows(after: number, through: number): Generator<LogRow> {
    for (const row of this.#rows(after)) {
      if (row.first_seq > through) return;
      if (row.last_seq <= through) yield row;
      else {
        const events = parseBody(row.body).filter((event) => event.seq <= through);
        yield { ...row, last_seq: through, body: JSON.stringify(events) };
      }
    }
  }

  /** Removes every event: the session is deleted. */
  clear(): void {
    this.#sql.exec("DELETE FROM log");
  }

  /** The rows that hold events after a `seq`. The row that holds `after` itself is found by its primary key. */
  #rows(after: number): Iterable<LogRow> {
    const from = "coalesce((SELECT max(first_seq) FROM log WHERE first_seq <= ?), 0)";
    const query = `SELECT first_seq, last_seq, body FROM log WHERE first_seq >= ${from} AND last_seq > ? ORDER BY first_seq`;
    return this.#sql.exec<LogRow>(query, after + 1, after);
  }
}

/** Rows are written by this class alone, so their text is trusted to be what it wrote. */
function parseBody(body: string): DurableEvent[] {
  return JSON.parse(body) as DurableEvent[];
}
