import type { Principal } from "../protocol/principal.ts";

/** Who changes a workspace: kept with the version, and what fences off a writer that has been replaced. */
export interface WorkspaceWriter {
  readonly by: Principal;
  /** The session, turn, wake count and call that a tool's change belongs to; absent for changes over REST. */
  readonly source?: {
    readonly session: string;
    readonly turn: number;
    readonly wakes: number;
    readonly callId: string;
  };
}

/** One file at one version. `path` is canonical: relative to the root, no leading slash. */
export interface FileEntry {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** Lower-case hex SHA-256 of the content: equal contents have equal hashes. */
  readonly sha256: string;
  /** The version of the workspace that made the file what it is. */
  readonly version: number;
  /** ms since the epoch. */
  readonly modifiedAt: number;
}

/** A direct or indirect child of a listed folder. */
export type ListEntry =
  | ({ readonly kind: "file" } & FileEntry)
  | { readonly kind: "directory"; readonly path: string; readonly files: number };

export interface ListOptions {
  /** Levels below the folder; 1 is its direct children. */
  readonly depth: number;
  /** Entries, directories included. */
  readonly limit: number;
  /**
   * Leaves out `.git`, `node_modules` and what the `.gitignore` files of the workspace name, unless the folder itself
   * is among that. @default false
   */
  readonly hideIgnored?: boolean;
}

export interface Listing {
  /**
   * Directories first at each level, then names in code-unit order; depth first. Where the limit cuts, entries of
   * upper levels stay before entries of lower ones.
   */
  readonly entries: readonly ListEntry[];
  /** Files below the folder that are not among the entries; those hidden as ignored are not counted. */
  readonly omitted: number;
  /** Files that `hideIgnored` left out. */
  readonly ignored: number;
}

export interface FileContent {
  readonly entry: FileEntry;
  /** The bytes of the range that was asked for. */
  readonly bytes: Uint8Array;
}

/**
 * One change. All changes of one `change` call are one version, and each sees what those before it in the list did.
 * Directories are nothing but the files below them: a write makes the ones that it needs, a delete or move of a
 * directory deletes or moves all files below it, and a directory without files is no more.
 */
export type FileChange =
  | { readonly kind: "write"; readonly path: string; readonly bytes: Uint8Array; readonly ifMatch?: IfMatch }
  | { readonly kind: "delete"; readonly path: string; readonly ifMatch?: IfMatch }
  | { readonly kind: "move"; readonly from: string; readonly to: string };

/** Compare-and-set: the content's hash that the writer read, or `null` for "nothing is there". */
export type IfMatch = string | null;

export interface Changed {
  /** The workspace's version after the change: versions are counted through all branches. */
  readonly version: number;
  /** Every file that was written, deleted, or moved from or to, in code-unit order. */
  readonly paths: readonly string[];
}

export interface SearchQuery {
  readonly kind: "grep" | "glob";
  readonly pattern: string;
  /** Folder (for grep also a file) to search in; the root without it. A glob pattern is relative to it. */
  readonly path?: string;
  /** Globs of which a file must match one: of its name where the glob has no `/`, else of its path from the root. */
  readonly include?: readonly string[];
  /** Globs, read likewise, none of which may match the file or a folder that holds it. */
  readonly exclude?: readonly string[];
  /** Leaves out what a listing with `hideIgnored` does, unless `path` is a file or is among that. @default false */
  readonly hideIgnored?: boolean;
  /** Take the pattern as it stands, not as RE2. */
  readonly fixed?: boolean;
  /** @default true */
  readonly caseSensitive?: boolean;
  /** Whole words only. */
  readonly word?: boolean;
  /** Lines before and after each match, up to the limit `searchContextLines`. */
  readonly context?: number;
  /** @default the limit `searchMatches`; up to `searchMatchesMax` */
  readonly limit?: number;
}

export interface SearchMatch {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

export interface SearchResult {
  /** For grep: in order of path, then line. */
  readonly matches?: readonly SearchMatch[];
  /** For glob: in code-unit order. */
  readonly paths?: readonly string[];
  /** There is more than the limit showed. */
  readonly more: boolean;
  /** The first files that could not be searched, each with the reason, in order of path. */
  readonly notSearched?: readonly { readonly path: string; readonly reason: string }[];
  /** How many could not be searched, where there were any. */
  readonly notSearchedCount?: number;
}

/**
 * One branch of a workspace, open for one writer. Every path is canonical (see canonical-path.ts), else
 * `invalid_path`; numbers out of range are `invalid_request`. Errors are LightAgentErrors: besides these
 * `path_not_found`, `is_directory`, `already_exists`, `write_conflict`, `write_fenced`, `invalid_pattern`,
 * `file_too_large`, `workspace_full`, `version_gone`, and `not_found` for a branch that does not exist.
 */
export interface Workspace {
  /** The version of the last change of the branch, its fork's before its first; 0 for an empty workspace. */
  version(): Promise<number>;
  /** The file or directory at the path (`""` is the root, always a directory); null when nothing is there. */
  stat(path: string): Promise<ListEntry | null>;
  /** @throws `path_not_found` (never for the root), `invalid_path` for a file */
  list(path: string, options: ListOptions): Promise<Listing>;
  /**
   * Bytes of a file, whole or from `offset` on at most `length`: fewer at the end of the file, none beyond it.
   * @throws `path_not_found`, `is_directory`
   */
  read(path: string, range?: { readonly offset: number; readonly length: number }): Promise<FileContent>;
  /**
   * Applies all changes as one version, or none of them. Writing what is there already still makes a version.
   * @throws `write_conflict` when an `ifMatch` does not hold; `write_fenced` when a change or a look at an outcome by
   *   the same session with a higher (turn, wakes) has been seen; `path_not_found` for a delete or move of nothing; `is_directory` for a write
   *   onto a directory; `already_exists` for a move onto something, be it itself; `invalid_path` for a move into
   *   itself, a path below a file, a path that a move would make too long, the root; `invalid_request` for no change
   */
  change(changes: readonly FileChange[]): Promise<Changed>;
  /** @throws `path_not_found`, `invalid_pattern` */
  search(query: SearchQuery): Promise<SearchResult>;
  /**
   * What a call of the writer's session has changed, for settling it after a crash; null when it changed nothing. From
   * now on changes of an earlier (turn, wakes) of the session are refused, so that the answer stays true.
   */
  outcome(callId: string): Promise<Changed | null>;
}
