/** A content in R2: equal contents of one workspace share one. */
export interface StoredBlob {
  /** Lower-case hex. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** The last part of the R2 key, never used for anything else. */
  readonly object: string;
}

/** The table `blobs`: which object of R2 holds which content. A row is never changed. */
export class BlobStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The blob with this content, if the workspace holds it. Reads 1 row. */
  find(sha256: string): StoredBlob | undefined {
    const query = "SELECT sha256, size, object FROM blobs WHERE sha256 = ?";
    return this.#sql.exec<{ sha256: string; size: number; object: string }>(query, sha256).toArray()[0];
  }

  /**
   * Records a blob. Answers false when another writer has recorded the same content meanwhile: its object stands,
   * this one is superfluous. Writes 1 row, or none.
   */
  add(blob: StoredBlob): boolean {
    const query = "INSERT INTO blobs (sha256, size, object) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    return this.#sql.exec(query, blob.sha256, blob.size, blob.object).rowsWritten > 0;
  }
}
