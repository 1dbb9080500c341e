/** Where a text is: in `rows` rows from `first` on. */
export interface TextRows {
  readonly first: number;
  readonly rows: number;
}

/** A row holds at most so many bytes of UTF-8; the platform refuses one of 2 MB. */
const ROW_BYTES = 1_000_000;

/** A UTF-16 code unit takes at most 3 bytes of UTF-8. */
const ROW_CODE_UNITS = Math.floor(ROW_BYTES / 3);

const encoder = new TextEncoder();

/**
 * The tables `texts` and `text_trigrams`. A text of one row has an entry of trigrams; one of several rows has none, and
 * is looked through whenever it may be concerned.
 */
export class TextStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Reads 1 row, writes 1 per row of the text and 1 for the trigrams: FTS5 bills none for its own tables. */
  add(text: string): TextRows {
    const query = "SELECT coalesce(max(id), 0) AS last FROM texts";
    const first = this.#sql.exec<{ last: number }>(query).one().last + 1;
    const bodies = inRows(text);
    for (const [index, body] of bodies.entries()) {
      this.#sql.exec("INSERT INTO texts (id, body) VALUES (?, ?)", first + index, body);
    }
    if (bodies.length === 1) {
      // No literal that is looked for holds a NUL, where some readers of SQLite stop.
      const body = text.replaceAll("\0", " ");
      this.#sql.exec("INSERT INTO text_trigrams (rowid, body) VALUES (?, ?)", first, body);
    }
    return { first, rows: bodies.length };
  }

  /** Writes as many rows as {@link add}. */
  remove({ first, rows }: TextRows): void {
    this.#sql.exec("DELETE FROM texts WHERE id >= ? AND id < ?", first, first + rows);
    if (rows === 1) this.#sql.exec("DELETE FROM text_trigrams WHERE rowid = ?", first);
  }

  /** Texts by their first row; one that is gone is left out. Reads their rows. */
  read(texts: readonly TextRows[]): Map<number, string> {
    const ids = texts.flatMap(({ first, rows }) => Array.from({ length: rows }, (_, index) => first + index));
    const query = "SELECT id, body FROM texts WHERE id IN (SELECT value FROM json_each(?))";
    const found = this.#sql.exec<{ id: number; body: string }>(query, JSON.stringify(ids)).toArray();
    const bodies = new Map(found.map(({ id, body }) => [id, body]));
    const whole = new Map<number, string>();
    for (const { first, rows } of texts) {
      const parts = Array.from({ length: rows }, (_, index) => bodies.get(first + index));
      if (!parts.includes(undefined)) whole.set(first, rows === 1 ? (parts[0] ?? "") : parts.join(""));
    }
    return whole;
  }
}

/** Cut between characters. The empty text is one empty row. */
function inRows(text: string): string[] {
  if (
    text.length <= ROW_CODE_UNITS ||
    (text.length <= ROW_BYTES && encoder.encode(text).length <= ROW_BYTES)
  ) {
    return [text];
  }
  const rows: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + ROW_CODE_UNITS;
    const cutsPair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && end < text.length;
    rows.push(text.slice(at, cutsPair ? end - 1 : end));
    at = cutsPair ? end - 1 : end;
  }
  return rows;
}
