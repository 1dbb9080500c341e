import type { TextRows } from "./text-store.ts";

/** A content in R2: equal contents of one workspace share one. */
export interface StoredBlob {
  /** Lower-case hex. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** The last part of the R2 key, never used for anything else. */
  readonly object: string;
}

/** A content's text in the index: where its rows are, or that it has none; null for one that is not indexed. */
export type BlobText = TextRows | "binary" | null;

interface BlobRow extends Record<string, SqlStorageValue> {
  sha256: string;
  size: number;
  object: string;
  text: number | null;
  text_rows: number;
}

/** The table `blobs`: which object of R2 holds which content, and where its text is. Only the latter ever changes. */
export class BlobStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The blob with this content, if the workspace holds it. Reads 1 row. */
  find(sha256: string): (StoredBlob & { readonly text: BlobText }) | undefined {
    const query = "SELECT sha256, size, object, text, text_rows FROM blobs WHERE sha256 = ?";
    const [row] = this.#sql.exec<BlobRow>(query, sha256).toArray();
    if (!row) return undefined;
    const { size, object, text, text_rows: rows } = row;
    return { sha256, size, object, text: blobText(text, rows) };
  }

  /**
   * Records a blob. Answers false when another writer has recorded the same content meanwhile: its object stands,
   * this one is superfluous. Writes 1 row, or none.
   */
  add(blob: StoredBlob): boolean {
    const query = "INSERT INTO blobs (sha256, size, object) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    return this.#sql.exec(query, blob.sha256, blob.size, blob.object).rowsWritten > 0;
  }

  /** Records a blob that is not there yet together with its text. Writes 1 row. */
  addWithText(blob: StoredBlob, text: BlobText): void {
    const query = "INSERT INTO blobs (sha256, size, object, text, text_rows) VALUES (?, ?, ?, ?, ?)";
    this.#sql.exec(query, blob.sha256, blob.size, blob.object, ...textColumns(text));
  }

  /**
   * Contents that no version of any branch names, at most `limit`. Reads every row of `manifest`, and of `blobs` up to
   * the last one that is found.
   */
  unnamed(limit: number): (StoredBlob & { readonly text: BlobText })[] {
    const query = `SELECT sha256, size, object, text, text_rows FROM blobs
      WHERE sha256 NOT IN (SELECT sha256 FROM manifest WHERE sha256 IS NOT NULL) LIMIT ?`;
    const rows = this.#sql.exec<BlobRow>(query, limit).toArray();
    return rows.map(({ text, text_rows: textRows, ...blob }) => ({
      ...blob,
      text: blobText(text, textRows),
    }));
  }

  /** The objects of all contents. Reads every row. */
  objects(): Set<string> {
    const rows = this.#sql.exec<{ object: string }>("SELECT object FROM blobs").toArray();
    return new Set(rows.map(({ object }) => object));
  }

  /** The bytes of all contents together. Reads every row. */
  bytes(): number {
    return this.#sql.exec<{ bytes: number }>("SELECT coalesce(sum(size), 0) AS bytes FROM blobs").one().bytes;
  }

  /** Writes 1 row. */
  remove(sha256: string): void {
    this.#sql.exec("DELETE FROM blobs WHERE sha256 = ?", sha256);
  }

  /** Writes 1 row. */
  setText(sha256: string, text: BlobText): void {
    const query = "UPDATE blobs SET text = ?, text_rows = ? WHERE sha256 = ?";
    this.#sql.exec(query, ...textColumns(text), sha256);
  }
}

/** Reads the columns `text` and `text_rows`. */
export function blobText(text: number | null, rows: number): BlobText {
  if (text === null) return null;
  return text === 0 ? "binary" : { first: text, rows: Math.abs(rows), indexed: rows > 0 };
}

function textColumns(text: BlobText): [number | null, number] {
  if (text === null) return [null, 0];
  return text === "binary" ? [0, 0] : [text.first, text.indexed ? text.rows : -text.rows];
}
