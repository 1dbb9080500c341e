import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { ManifestView } from "../runtime/workspace/change-plan.ts";
import { requireCounts } from "../runtime/workspace/counts.ts";
import type { FileEntry } from "../runtime/workspace/workspace.ts";
import { HEAD } from "./branch-store.ts";
import type { Layer } from "./branch-store.ts";
import type { SearchedFile } from "./manifest-store.ts";
import type { BranchAt } from "./workspace-api.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/**
 * The files of a branch, as they are or as they were at a version. Holds nothing but where to look: use it at once,
 * never across an `await`.
 */
export class BranchView implements ManifestView {
  readonly #store: WorkspaceStore;
  readonly #at: BranchAt;
  readonly #layers: readonly Layer[];

  /** @throws not_found for an unknown branch; invalid_request for a version that is to come; version_gone */
  constructor(store: WorkspaceStore, at: BranchAt) {
    this.#store = store;
    this.#at = at;
    requireCounts({ version: at.version });
    this.#layers = store.branches.layers(at.branch, at.version ?? HEAD);
    if (at.version !== undefined && at.version > lastVersion(store)) {
      throw new LightAgentError("invalid_request", "The version does not exist yet.");
    }
    if (at.version !== undefined && at.version < store.record.oldest()) {
      const oldest = store.record.oldest();
      const message = `Versions before ${oldest} are not kept any more.`;
      throw new LightAgentError("version_gone", message, { oldest });
    }
  }

  /** What the files come from, nearest first. */
  get layers(): readonly Layer[] {
    return this.#layers;
  }

  /** The last version that is in the view, and the files and bytes after it. */
  totals(): { version: number; files: number; bytes: number } {
    const { branches, versions } = this.#store;
    const lineage = branches.lineage(this.#at.branch, this.#at.version ?? HEAD);
    const { version = 0, files = 0, bytes = 0 } = versions.head(lineage) ?? {};
    return { version, files, bytes };
  }

  file(path: string): FileEntry | undefined {
    return this.#store.manifest.find(this.#layers, path) ?? undefined;
  }

  below(folder: string): Iterable<string> {
    return this.#store.manifest.pathsBelow(this.#layers, folder);
  }

  /** The files below a folder, in no order. */
  files(folder: string): FileEntry[] {
    return this.#store.manifest.files(this.#layers, folder);
  }

  /** The files of this name in all folders, in no order. */
  named(name: string): FileEntry[] {
    return this.#store.manifest.named(this.#layers, name);
  }

  /** The files at or below a path that a search has to look into, in no order; all where `texts` is null. */
  searched(path: string, texts: Iterable<number> | null): SearchedFile[] {
    const file = path === "" ? undefined : this.file(path);
    if (!file) return this.#store.manifest.searched(this.#layers, path, texts);
    return [{ ...file, text: this.#store.blobs.find(file.sha256)?.text ?? null }];
  }

  /** How many files are below a folder. */
  count(folder: string): number {
    return this.#store.manifest.count(this.#layers, folder);
  }

  isDirectory(path: string): boolean {
    if (path === "") return true;
    for (const _file of this.below(path)) return true;
    return false;
  }

  /** @throws path_not_found, is_directory */
  requireFile(path: string): FileEntry {
    const file = path === "" ? undefined : this.file(path);
    if (file) return file;
    this.requireSomething(path);
    throw new LightAgentError("is_directory", "A directory is at the path.", { path });
  }

  /** @throws path_not_found */
  requireSomething(path: string): void {
    if (this.isDirectory(path) || this.file(path)) return;
    throw new LightAgentError("path_not_found", "Nothing is at the path.", { path });
  }
}

/** The last version of the workspace, on whatever branch. */
export function lastVersion({ branches, versions }: WorkspaceStore): number {
  return versions.last(branches.names());
}
