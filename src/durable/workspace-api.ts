import type { Principal } from "../runtime/protocol/principal.ts";
import type {
  Changed,
  FileChange,
  FileContent,
  ListEntry,
  Listing,
  ListOptions,
  SearchQuery,
  SearchResult,
  WorkspaceWriter,
} from "../runtime/workspace/workspace.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import type { Reverted, ToolWriter } from "./branch-writer.ts";
import type { Doomed } from "./bulk-delete.ts";
import type { DiffRange, TextDiff, VersionDiff } from "./version-diff.ts";
import type { SessionPoint } from "./session-point.ts";

/** What a Workspace object asks of its tenant's object. */
export interface TenantStorage {
  /**
   * Lets a workspace hold so many bytes in all, in the place of what it might before, and some more where it `grows`.
   * @returns what it may hold now, which is no less
   * @throws storage_full; not_found for a workspace or tenant that is gone
   */
  allowStorage(workspace: string, bytes: number, grows: boolean): Promise<Answer<number>>;
}

export interface CreateWorkspace {
  readonly tenant: string;
  readonly id: string;
  readonly name: string;
  readonly by: Principal;
}

/** What a workspace is, and how much its main branch holds. */
export interface WorkspaceState {
  readonly id: string;
  readonly name: string;
  /** Of the main branch. */
  readonly version: number;
  readonly files: number;
  readonly bytes: number;
  /** ms since the epoch. */
  readonly createdAt: number;
  readonly createdBy: Principal;
}

/** A branch, as it was at a version where one is given, else as it is now. */
export interface BranchAt {
  readonly branch: string;
  readonly version?: number;
}

/** One version in a branch's history. */
export interface VersionEntry {
  readonly version: number;
  /** ms since the epoch. */
  readonly at: number;
  readonly by: Principal;
  /** The session, turn and call that made it; absent for changes over REST. */
  readonly session?: string;
  readonly turn?: number;
  readonly callId?: string;
  /** How many paths changed. */
  readonly changes: number;
  /** Which, unless they are too many to list. */
  readonly paths?: readonly string[];
  /** What the branch held afterwards. */
  readonly files: number;
  readonly bytes: number;
}

export interface VersionsPage {
  readonly versions: readonly VersionEntry[];
  /** `before` of the next page; null when this one reached the beginning. */
  readonly next: number | null;
}

/** A read answers with at most so many bytes at once, and a change carries at most so many: an RPC is bounded. */
export const RPC_BYTES = 8 * 1024 * 1024;

/**
 * The Workspace object's methods. Each answers `not_found` when the workspace was never created or is deleted, and
 * then writes nothing; so does a branch that does not exist. Paths are canonical; errors are those of the runtime's
 * `Workspace` and `WorkspaceSource`.
 *
 * Bytes of files go through `fetch`, with the header `x-light-agent-caller`:
 * `GET, HEAD, PUT, DELETE https://workspace/files?path=…&branch=…`, with Range, If-Match and If-None-Match. A GET of a
 * folder answers its listing (`&depth=`, `&limit=`). PUT and DELETE answer with the file or the change as JSON.
 * `GET, PUT https://workspace/archive?branch=…` (GET also `&path=`): a folder as a tar.
 */
export interface WorkspaceApi {
  /** Creates the workspace; the same input again answers with what exists, another `id_taken`. */
  create(input: CreateWorkspace): Promise<Answer<WorkspaceState>>;
  state(): Promise<Answer<WorkspaceState>>;
  /** From now on the workspace is `not_found`; its files are removed in the background. */
  remove(): Promise<Answer<null>>;
  version(at: BranchAt): Promise<Answer<number>>;
  stat(at: BranchAt, path: string): Promise<Answer<ListEntry | null>>;
  list(at: BranchAt, path: string, options: ListOptions): Promise<Answer<Listing>>;
  /** At most {@link RPC_BYTES} from `offset` on, however large `length` is. */
  read(at: BranchAt, path: string, range: { offset: number; length: number }): Promise<Answer<FileContent>>;
  /** @throws file_too_large when the writes have more than {@link RPC_BYTES} together */
  change(branch: string, writer: WorkspaceWriter, changes: readonly FileChange[]): Promise<Answer<Changed>>;
  search(branch: string, query: SearchQuery): Promise<Answer<SearchResult>>;
  /** What a call of the writer's session has changed. Fences off older processes of the session, as a change does. */
  outcome(writer: WorkspaceWriter, callId: string): Promise<Answer<Changed | null>>;
  /** The versions of the branch and of what it was forked from, newest first. `before` is exclusive. */
  versions(branch: string, page: { before?: number; limit: number }): Promise<Answer<VersionsPage>>;
  /** Deletes files and folders, and files by a glob, as one version. @throws path_not_found */
  deleteAll(branch: string, writer: WorkspaceWriter, doomed: Doomed): Promise<Answer<Changed>>;
  /** What changed between two versions of a branch. @throws invalid_request, version_gone */
  diff(range: DiffRange): Promise<Answer<VersionDiff>>;
  /** The same of one file's text. @throws path_not_found */
  textDiff(range: DiffRange, path: string): Promise<Answer<TextDiff>>;
  /** Makes the branch what it was at a version, by a new version. @throws invalid_request for one that is to come */
  restore(branch: string, version: number, writer: WorkspaceWriter): Promise<Answer<Changed>>;
  /** The version that a branch had at a point of a session. */
  versionAt(branch: string, point: SessionPoint): Promise<Answer<number>>;
  /**
   * Makes what a session has changed since a point what it was then, but for the paths that others have changed too.
   * Repeatable: the writer's call is what makes it the same.
   */
  revert(branch: string, writer: ToolWriter, point: SessionPoint): Promise<Answer<Reverted>>;
  /**
   * A session is deleted: what it could go back to is not kept for it any more, and a branch of its own goes, as soon as
   * nothing that was forked from it needs it. Repeatable.
   */
  release(session: string, branch: string | null): Promise<Answer<null>>;
  /** Makes a branch that begins as another is at a version, by default its head. Repeatable. @throws id_taken */
  fork(name: string, origin: BranchAt): Promise<Answer<null>>;
}
