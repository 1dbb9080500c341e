import { Observable } from "../client/index.ts";
import type { FolderEntry, FolderListing, RestClient } from "../client/index.ts";
import { LightAgentError, toErrorBody } from "../src/runtime/protocol/errors.ts";
import type { ErrorBody } from "../src/runtime/protocol/errors.ts";
import { readShownText } from "./shown-text.ts";
import type { ShownText } from "./shown-text.ts";
import type { SourceFile, SourceFiles } from "./source-files.ts";
import { uploadAll } from "./upload.ts";
import type { UploadFailure } from "./upload.ts";

export interface Folder {
  readonly entries: readonly FolderEntry[];
  /** Files that are neither listed nor in a folder that is. */
  readonly omitted: number;
}

/** An upload that runs or has ended. */
export interface Upload {
  readonly total: number;
  readonly done: number;
  readonly skipped: number;
  readonly failures: readonly UploadFailure[];
  readonly running: boolean;
}

/** The file that is looked at; `text` is null while it loads. */
export interface ShownFile {
  readonly path: string;
  readonly size: number;
  readonly text: ShownText | null;
  readonly error: ErrorBody | null;
}

export interface FilesState {
  readonly workspace: string;
  /** The folders that have been listed, by path; the root is `""`. */
  readonly folders: ReadonlyMap<string, Folder>;
  readonly expanded: ReadonlySet<string>;
  readonly upload: Upload | null;
  readonly shown: ShownFile | null;
  readonly problem: ErrorBody | null;
}

/** What is asked of a folder: its direct children, up to so many. */
const FOLDER = { depth: 1, limit: 1_000 };

/** The files of a workspace, as far as they have been looked at. */
export class WorkspaceFiles extends Observable<FilesState> {
  readonly #rest: RestClient;
  readonly #closed = new AbortController();
  #uploading: AbortController | null = null;
  #refreshing: Promise<void> | null = null;
  #again = false;

  constructor(rest: RestClient, workspace: string) {
    super({
      workspace,
      folders: new Map(),
      expanded: new Set(),
      upload: null,
      shown: null,
      problem: null,
    });
    this.#rest = rest;
  }

  close(): void {
    this.#closed.abort();
    this.#uploading?.abort();
  }

  /** Lists again what is listed. One at a time: calls meanwhile make one more. */
  refresh(): Promise<void> {
    this.#again = this.#refreshing !== null;
    this.#refreshing ??= this.#listAll().finally(() => {
      this.#refreshing = null;
      if (this.#again) void this.refresh();
    });
    return this.#refreshing;
  }

  toggle(path: string): void {
    const expanded = new Set(this.value.expanded);
    if (!expanded.delete(path)) {
      expanded.add(path);
      void this.#list(path);
    }
    this.change({ expanded });
  }

  /** Uploads what was chosen or dropped. */
  async receive(sources: SourceFiles | Promise<SourceFiles>): Promise<void> {
    try {
      const { files, skipped } = await sources;
      if (files.length > 0) await this.upload(files, skipped);
    } catch (caught) {
      this.change({ problem: toErrorBody(caught) });
    }
  }

  async upload(files: readonly SourceFile[], skipped: number): Promise<void> {
    const uploading = new AbortController();
    this.#uploading?.abort();
    this.#uploading = uploading;
    const { signal } = uploading;
    const update = (fields: Partial<Upload>): void => {
      const { upload } = this.value;
      if (!signal.aborted && upload) this.change({ upload: { ...upload, ...fields } });
    };
    this.change({ upload: { total: files.length, done: 0, skipped, failures: [], running: true } });
    const failures = await uploadAll(files, {
      put: ({ path, file }) => this.#rest.writeFile(this.value.workspace, path, file, {}, { signal }),
      progress: (done) => update({ done }),
      signal,
    });
    update({ failures, running: false });
    await this.refresh();
  }

  cancelUpload(): void {
    this.#uploading?.abort();
    this.change({ upload: null });
  }

  /** Tries the files again that could not be uploaded. */
  async retryUpload(): Promise<void> {
    const { upload } = this.value;
    if (upload)
      await this.upload(
        upload.failures.map(({ source }) => source),
        upload.skipped,
      );
  }

  async show(path: string, size: number): Promise<void> {
    const shown: ShownFile = { path, size, text: null, error: null };
    this.change({ shown });
    const loaded = await readShownText(this.#rest, this.value.workspace, shown).then(
      (text) => ({ ...shown, text }),
      (caught: unknown) => ({ ...shown, error: toErrorBody(caught) }),
    );
    // Another file, or none, may be looked at by now.
    if (this.value.shown === shown) this.change({ shown: loaded });
  }

  hide(): void {
    this.change({ shown: null });
  }

  /** The whole file; null when it cannot be had, which is then told. */
  async read(path: string): Promise<Blob | null> {
    try {
      return await this.#rest.readFile(this.value.workspace, path);
    } catch (caught) {
      this.change({ problem: toErrorBody(caught) });
      return null;
    }
  }

  dismissProblem(): void {
    this.change({ problem: null });
  }

  async #listAll(): Promise<void> {
    await Promise.all(["", ...this.value.expanded].map((path) => this.#list(path)));
  }

  async #list(path: string): Promise<void> {
    const { signal } = this.#closed;
    try {
      const folder = folderOf(await this.#rest.listFolder(this.value.workspace, path, FOLDER, { signal }));
      this.change({ folders: new Map(this.value.folders).set(path, folder) });
    } catch (caught) {
      if (signal.aborted) return;
      if (caught instanceof LightAgentError && caught.code === "path_not_found") this.#drop(path);
      else this.change({ problem: toErrorBody(caught) });
    }
  }

  /** A folder that is gone. */
  #drop(path: string): void {
    const folders = new Map(this.value.folders);
    const expanded = new Set(this.value.expanded);
    folders.delete(path);
    expanded.delete(path);
    this.change({ folders, expanded });
  }
}

function folderOf({ entries, omitted }: FolderListing): Folder {
  const inFolders = entries.reduce((sum, entry) => sum + (entry.kind === "directory" ? entry.files : 0), 0);
  return { entries, omitted: omitted - inFolders };
}
