import type { TextPart } from "../runtime/workspace/search.ts";

/** Where a text is: in `rows` rows from `first` on, one for each of its parts. */
export interface TextRows {
  /** A multiple of {@link STRIDE}, so that a part says whose it is. */
  readonly first: number;
  readonly rows: number;
  /** Whether each part has trigrams. One that has a line too long for a row has none, and may always be concerned. */
  readonly indexed: boolean;
}

/** Between the numbers of two texts; no text has more parts. */
const STRIDE = 4_096;

/**
 * Code units of a part, as far as its lines allow. Few literals are in a small part by chance, and only the parts that hold
 * all of a query's are read; each costs a row.
 */
const PART = 16_384;

/** A row holds at most so many bytes of UTF-8; the platform refuses one of 2 MB. */
const ROW_BYTES = 1_000_000;

/** A UTF-16 code unit takes at most 3 bytes of UTF-8. */
const ROW_CODE_UNITS = Math.floor(ROW_BYTES / 3);

const encoder = new TextEncoder();

/** The tables `texts` and `text_trigrams`: texts in parts of whole lines, each with an entry of trigrams. */
export class TextStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Reads 1 row, writes 1 per part and 1 for its trigrams: FTS5 bills none for its own tables. */
  add(text: string): TextRows {
    const query = "SELECT coalesce(max(id), 0) AS last FROM texts";
    const { last } = this.#sql.exec<{ last: number }>(query).one();
    const first = (Math.floor(last / STRIDE) + 1) * STRIDE;
    const { parts, indexed } = inParts(text);
    for (const [index, { line, text: body }] of parts.entries()) {
      const id = first + index;
      this.#sql.exec("INSERT INTO texts (id, line, body) VALUES (?, ?, ?)", id, line, body);
      // No literal that is looked for holds a NUL, where some readers of SQLite stop.
      const insert = "INSERT INTO text_trigrams (rowid, body) VALUES (?, ?)";
      if (indexed) this.#sql.exec(insert, id, body.replaceAll("\0", " "));
    }
    return { first, rows: parts.length, indexed };
  }

  /** Writes as many rows as {@link add}. */
  remove({ first, rows, indexed }: TextRows): void {
    this.#sql.exec("DELETE FROM texts WHERE id >= ? AND id < ?", first, first + rows);
    const trigrams = "DELETE FROM text_trigrams WHERE rowid >= ? AND rowid < ?";
    if (indexed) this.#sql.exec(trigrams, first, first + rows);
  }

  /**
   * The parts that hold the trigrams of an FTS5 query, by the first row of their text, in order. Reads a row for each.
   */
  holding(trigrams: string): Map<number, number[]> {
    const query = "SELECT rowid AS id FROM text_trigrams WHERE text_trigrams MATCH ? ORDER BY rowid";
    const parts = new Map<number, number[]>();
    for (const { id } of this.#sql.exec<{ id: number }>(query, trigrams)) {
      const first = id - (id % STRIDE);
      const known = parts.get(first);
      if (known) known.push(id);
      else parts.set(first, [id]);
    }
    return parts;
  }

  /** Parts by their rows; one that is gone is left out. Reads their rows. */
  parts(rows: readonly number[]): Map<number, TextPart> {
    const query = "SELECT id, line, body FROM texts WHERE id IN (SELECT value FROM json_each(?))";
    const found = this.#sql.exec<{ id: number; line: number; body: string }>(query, JSON.stringify(rows));
    return new Map(found.toArray().map(({ id, line, body }) => [id, { line, text: body }]));
  }

  /** A whole text; undefined when it is gone. Reads its rows. */
  read(text: TextRows): string | undefined {
    const rows = rowsOf(text);
    const parts = this.parts(rows);
    return parts.size < rows.length ? undefined : rows.map((row) => parts.get(row)?.text).join("");
  }
}

/** The rows of all parts of a text. */
export function rowsOf({ first, rows }: TextRows): number[] {
  return Array.from({ length: rows }, (_, index) => first + index);
}

/** The empty text is one empty part. */
function inParts(text: string): { readonly parts: readonly TextPart[]; readonly indexed: boolean } {
  const parts: TextPart[] = [];
  let line = 1;
  for (let at = 0; at < text.length || parts.length === 0;) {
    const end = endOfPart(text, at);
    const part = text.slice(at, end);
    if (part.length > ROW_CODE_UNITS && encoder.encode(part).length > ROW_BYTES) {
      return { parts: inRows(text), indexed: false };
    }
    parts.push({ line, text: part });
    line += lineFeeds(part);
    at = end;
  }
  return { parts, indexed: true };
}

/** After the last line that fits, or the first one. */
function endOfPart(text: string, at: number): number {
  if (text.length - at <= PART) return text.length;
  const fitting = text.lastIndexOf("\n", at + PART - 1);
  if (fitting >= at) return fitting + 1;
  const feed = text.indexOf("\n", at + PART);
  return feed < 0 ? text.length : feed + 1;
}

function lineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Cut anywhere between two characters; nobody asks for the lines of these. */
function inRows(text: string): TextPart[] {
  const rows: TextPart[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + ROW_CODE_UNITS;
    const cutsPair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && end < text.length;
    rows.push({ line: 1, text: text.slice(at, cutsPair ? end - 1 : end) });
    at = cutsPair ? end - 1 : end;
  }
  return rows;
}
