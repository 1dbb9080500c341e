import type { FileEntry } from "../runtime/workspace/workspace.ts";
import { blobText } from "./blob-store.ts";
import type { BlobText } from "./blob-store.ts";
import { HEAD } from "./branch-store.ts";
import type { Layer } from "./branch-store.ts";

/** What a path has been since a version; `sha256` is null where it was deleted. */
export interface ManifestRow {
  readonly path: string;
  readonly size: number;
  readonly sha256: string | null;
  readonly version: number;
  readonly modifiedAt: number;
}

type Row = ManifestRow & Record<string, SqlStorageValue>;

/** A file that a search may have to look into, and what the index knows of it. */
export interface SearchedFile extends FileEntry {
  readonly text: BlobText;
}

type SearchedRow = Row & { text: number | null; textRows: number; concerned: number };

/** 0 where a text is none of those that may match. A content without trigrams may always do so. */
const MAY_MATCH = "text IS NULL OR text_rows <= 0 OR text IN (SELECT value FROM json_each(?))";

const COLUMNS = "path, size, sha256, version, modified_at AS modifiedAt";

/** Sorts after every text: SQLite puts blobs behind all texts. */
const BEHIND_ALL_TEXT = new Uint8Array(1);

/** The keys of all paths below a folder: `from <= path < to`. `0` is the character after `/`. */
function below(folder: string): { from: string; to: string | Uint8Array } {
  return folder === "" ? { from: "", to: BEHIND_ALL_TEXT } : { from: `${folder}/`, to: `${folder}0` };
}

/**
 * The tables `manifest` and `heads`. The state of a branch is read from its layers (see BranchStore): a path is what
 * the first layer that knows it says. On a branch without ancestors a path costs 1 row, a folder 1 row per file
 * below it and per deleted path that is still remembered, however often they were changed; a layer that is read at
 * an older version costs a row more for each path that changed since.
 */
export class ManifestStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The file at a path; null when there is none. */
  find(layers: readonly Layer[], path: string): FileEntry | null {
    for (const layer of layers) {
      const query = `SELECT ${COLUMNS} FROM heads WHERE branch = ? AND path = ?`;
      const [head] = this.#sql.exec<Row>(query, layer.branch, path).toArray();
      const row = head && this.#at(layer, head);
      if (row) return present(row) ? row : null;
    }
    return null;
  }

  /** The files below a folder, in no order. */
  files(layers: readonly Layer[], folder: string): FileEntry[] {
    const [only, ...others] = layers;
    if (only && others.length === 0) return this.#rows(only, folder).filter(present);
    const found = new Map<string, ManifestRow>();
    for (const layer of layers) {
      for (const row of this.#rows(layer, folder)) if (!found.has(row.path)) found.set(row.path, row);
    }
    return [...found.values()].filter(present);
  }

  /** The files of this name in all folders, in no order. Reads all files, but hands over only these where a head answers. */
  named(layers: readonly Layer[], name: string): FileEntry[] {
    const head = onlyHead(layers);
    if (head === undefined) {
      return this.files(layers, "").filter(({ path }) => path === name || path.endsWith(`/${name}`));
    }
    const query = `SELECT ${COLUMNS} FROM heads
      WHERE branch = ? AND sha256 IS NOT NULL AND (path = ? OR substr(path, ?) = ?)`;
    const end = `/${name}`;
    const rows: ManifestRow[] = this.#sql.exec<Row>(query, head, name, -end.length, end).toArray();
    return rows.filter(present);
  }

  /**
   * The files below a folder that a search has to look into, in no order. Reads 2 rows per file; of the whole of a head
   * 1 row per content, and 3 per file that may match.
   * @param texts the first rows of the texts that may match, or null for all files
   */
  searched(layers: readonly Layer[], folder: string, texts: Iterable<number> | null): SearchedFile[] {
    const concerned = texts && JSON.stringify([...texts]);
    const head = onlyHead(layers);
    if (head !== undefined && folder === "" && concerned !== null) {
      return this.#searchedContents(head, concerned).flatMap(searchedFile);
    }
    const found = new Map<string, SearchedRow>();
    for (const layer of layers) {
      for (const row of this.#searchedRows(layer, folder, concerned, layers.length === 1)) {
        if (!found.has(row.path)) found.set(row.path, row);
      }
    }
    return [...found.values()].flatMap(searchedFile);
  }

  /** Whether a content is that of some branch's own head. Reads 1 row at most. */
  isHead(sha256: string): boolean {
    return this.#sql.exec("SELECT 1 FROM heads WHERE sha256 = ? LIMIT 1", sha256).toArray().length > 0;
  }

  /** How many files are below a folder. Reads them all, but hands over none where a head answers. */
  count(layers: readonly Layer[], folder: string): number {
    const head = onlyHead(layers);
    if (head === undefined) return this.files(layers, folder).length;
    const { from, to } = below(folder);
    const query = `SELECT count(*) AS count FROM heads
      WHERE branch = ? AND path >= ? AND path < ? AND sha256 IS NOT NULL`;
    return this.#sql.exec<{ count: number }>(query, head, from, to).one().count;
  }

  /** The paths of the files below a folder, in no order. Until a second one is asked for, as cheap as one path. */
  *pathsBelow(layers: readonly Layer[], folder: string): Generator<string, undefined, undefined> {
    const first = this.#firstBelow(layers, folder);
    if (first === undefined) return;
    yield first;
    for (const { path } of this.files(layers, folder)) if (path !== first) yield path;
  }

  /** Makes a row the last of its path on a branch. Writes 2 rows. */
  put(branch: string, row: ManifestRow): void {
    const { path, version, sha256, size, modifiedAt } = row;
    const columns = "(branch, path, version, sha256, size, modified_at) VALUES (?, ?, ?, ?, ?, ?)";
    this.#sql.exec(`INSERT INTO manifest ${columns}`, branch, path, version, sha256, size, modifiedAt);
    this.#sql.exec(
      `INSERT OR REPLACE INTO heads ${columns}`,
      branch,
      path,
      version,
      sha256,
      size,
      modifiedAt,
    );
  }

  /** Paths that a version changed. Reads all rows of the branch: for changes too large to be noted with the version. */
  changedIn(branch: string, version: number): string[] {
    const query = "SELECT path FROM manifest WHERE branch = ? AND version = ?";
    return this.#sql
      .exec<{ path: string }>(query, branch, version)
      .toArray()
      .map((row) => row.path);
  }

  /**
   * Forgets what paths of a branch were before a version and is seen from none of some points, at most `limit` rows. A
   * point sees the last row of each path up to it. Reads the branch's rows, writes those that go.
   * @returns how many went
   */
  forget(branch: string, before: number, points: readonly number[], limit: number): number {
    const query = `WITH followed AS (
        SELECT path, version, lead(version) OVER (PARTITION BY path ORDER BY version) AS next
        FROM manifest WHERE branch = ?)
      DELETE FROM manifest WHERE branch = ? AND (path, version) IN (
        SELECT path, version FROM followed WHERE version < ? AND next IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM json_each(?) AS point WHERE followed.version <= point.value AND point.value < next)
        LIMIT ?)`;
    return this.#sql.exec(query, branch, branch, before, JSON.stringify(points), limit).rowsWritten;
  }

  /** Forgets a branch; answers with the files that were its own. Reads its heads, writes every row. */
  erase(branch: string): FileEntry[] {
    const query = `SELECT ${COLUMNS} FROM heads WHERE branch = ?`;
    const heads = this.#rowsOf(query, branch);
    for (const table of ["heads", "manifest"])
      this.#sql.exec(`DELETE FROM ${table} WHERE branch = ?`, branch);
    return heads;
  }

  #rowsOf(query: string, branch: string): FileEntry[] {
    const rows: ManifestRow[] = this.#sql.exec<Row>(query, branch).toArray();
    return rows.filter(present);
  }

  #firstBelow(layers: readonly Layer[], folder: string): string | undefined {
    const head = onlyHead(layers);
    if (head === undefined) return this.files(layers, folder)[0]?.path;
    const { from, to } = below(folder);
    const query = `SELECT path FROM heads
      WHERE branch = ? AND path >= ? AND path < ? AND sha256 IS NOT NULL LIMIT 1`;
    return this.#sql.exec<{ path: string }>(query, head, from, to).toArray()[0]?.path;
  }

  #rows(layer: Layer, folder: string): ManifestRow[] {
    const { from, to } = below(folder);
    const query = `SELECT ${COLUMNS} FROM heads WHERE branch = ? AND path >= ? AND path < ?`;
    const heads = this.#sql.exec<Row>(query, layer.branch, from, to).toArray();
    if (layer.through === HEAD) return heads;
    return heads.flatMap((head) => this.#at(layer, head) ?? []);
  }

  /** From the contents to their files: where few may match, most files need not be read. CROSS JOIN keeps that order. */
  #searchedContents(branch: string, texts: string): SearchedRow[] {
    const query = `SELECT path, m.size, m.sha256, version, modified_at AS modifiedAt, text, text_rows AS textRows, 1 AS concerned
      FROM blobs CROSS JOIN heads m ON m.sha256 = blobs.sha256 AND branch = ? WHERE ${MAY_MATCH}`;
    return this.#sql.exec<SearchedRow>(query, branch, texts).toArray();
  }

  /** `alone`: no other layer needs to know which paths this one knows, so the rest is left out. */
  #searchedRows(layer: Layer, folder: string, texts: string | null, alone: boolean): SearchedRow[] {
    const { from, to } = below(folder);
    const select = (table: "heads" | "manifest", concerned: string): string =>
      `SELECT path, m.size, m.sha256, version, modified_at AS modifiedAt, text, text_rows AS textRows,
        (${concerned}) AS concerned
      FROM ${table} m LEFT JOIN blobs ON blobs.sha256 = m.sha256 WHERE branch = ?`;
    const heads = this.#sql
      .exec<SearchedRow>(
        `${select("heads", texts === null ? "1" : MAY_MATCH)} AND path >= ? AND path < ?
          ${alone ? "AND m.sha256 IS NOT NULL AND concerned" : ""}`,
        ...(texts === null ? [] : [texts]),
        layer.branch,
        from,
        to,
      )
      .toArray();
    if (layer.through === HEAD) return heads;
    // Which of the older contents the index would leave out is not worth a question for each.
    const older = `${select("manifest", "1")} AND path = ? AND version <= ? ORDER BY version DESC LIMIT 1`;
    return heads.flatMap((head) => {
      if (head.version <= layer.through) return head;
      return this.#sql.exec<SearchedRow>(older, layer.branch, head.path, layer.through).toArray();
    });
  }

  /** What a layer says of a path whose head is given; undefined when the path came later. */
  #at(layer: Layer, head: ManifestRow): ManifestRow | undefined {
    if (head.version <= layer.through) return head;
    const query = `SELECT ${COLUMNS} FROM manifest
      WHERE branch = ? AND path = ? AND version <= ? ORDER BY version DESC LIMIT 1`;
    return this.#sql.exec<Row>(query, layer.branch, head.path, layer.through).toArray()[0];
  }
}

/** The branch whose head is all that there is to read, if one is. */
function onlyHead(layers: readonly Layer[]): string | undefined {
  const [only, ...others] = layers;
  return others.length === 0 && only?.through === HEAD ? only.branch : undefined;
}

function searchedFile({ text, textRows, concerned, ...row }: SearchedRow): SearchedFile[] {
  return concerned && present(row) ? [{ ...row, text: blobText(text, textRows) }] : [];
}

function present(row: ManifestRow): row is FileEntry {
  return row.sha256 !== null;
}
