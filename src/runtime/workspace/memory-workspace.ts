import { LightAgentError } from "../protocol/errors.ts";
import { withLimits } from "../protocol/limits.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Clock } from "../protocol/time.ts";
import { requireCanonicalFolder } from "./canonical-path.ts";
import { planChange } from "./change-plan.ts";
import type { ChangePlan, PlannableChange } from "./change-plan.ts";
import { sha256Hex } from "../protocol/sha256.ts";
import { requireCounts } from "./counts.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { listFolder } from "./listing.ts";
import { MemoryManifest } from "./memory-manifest.ts";
import type { BranchView } from "./memory-manifest.ts";
import { compareCodeUnits } from "./path-order.ts";
import { searchFiles } from "./search.ts";
import { readableText } from "./text-file.ts";
import type {
  Changed,
  FileChange,
  FileContent,
  ListEntry,
  Listing,
  ListOptions,
  SearchQuery,
  SearchResult,
  Workspace,
} from "./workspace.ts";
import { MAIN_BRANCH } from "./workspace-source.ts";
import type { OpenWorkspace, WorkspaceSource } from "./workspace-source.ts";

export interface MemoryWorkspaceOptions {
  readonly clock?: Clock;
  readonly limits?: Partial<Limits>;
}

/** What all handles on one workspace share. */
interface Shared {
  readonly manifest: MemoryManifest;
  /** Contents by SHA-256; never changed, never given out. */
  readonly contents: Map<string, Uint8Array>;
  /** The highest (turn, wakes) seen from each session. */
  readonly fences: Map<string, { readonly turn: number; readonly wakes: number }>;
  /** What each call changed, by session and call id. */
  readonly outcomes: Map<string, Changed>;
  readonly clock: Clock;
  readonly limits: Limits;
}

/** A workspace in memory, for agents without a host and for tests. It keeps every version for as long as it lives. */
export class MemoryWorkspaceSource implements WorkspaceSource {
  readonly #shared: Shared;

  constructor({ clock = Date.now, limits }: MemoryWorkspaceOptions = {}) {
    this.#shared = {
      manifest: new MemoryManifest(),
      contents: new Map(),
      fences: new Map(),
      outcomes: new Map(),
      clock,
      limits: withLimits(limits),
    };
  }

  open(options: OpenWorkspace): Workspace {
    return new MemoryWorkspace(this.#shared, options);
  }

  async fork(
    branch: string,
    from: { readonly branch?: string; readonly version?: number } = {},
  ): Promise<void> {
    this.#shared.manifest.fork(branch, from);
  }
}

class MemoryWorkspace implements Workspace {
  readonly #shared: Shared;
  readonly #options: OpenWorkspace;
  readonly #branch: string;

  constructor(shared: Shared, options: OpenWorkspace) {
    this.#shared = shared;
    this.#options = options;
    this.#branch = options.branch ?? MAIN_BRANCH;
  }

  async version(): Promise<number> {
    return this.#view().version;
  }

  async stat(path: string): Promise<ListEntry | null> {
    requireCanonicalFolder(path);
    const view = this.#view();
    if (path === "") return { kind: "directory", path, files: view.totals().files };
    const file = view.file(path);
    if (file) return { kind: "file", ...file };
    const files = [...view.below(path)].length;
    return files === 0 ? null : { kind: "directory", path, files };
  }

  async list(path: string, options: ListOptions): Promise<Listing> {
    requireCanonicalFolder(path);
    requireCounts({ depth: options.depth }, 1);
    requireCounts({ limit: options.limit });
    const view = this.#view();
    if (view.file(path)) throw new LightAgentError("invalid_path", "The path is that of a file.", { path });
    this.#requireSomething(view, path);
    const files = view.files();
    if (!options.hideIgnored) return listFolder(files, path, options);
    return listFolder(files, path, options, (await this.#ignoreRules(view)).hides(path));
  }

  async read(
    path: string,
    range?: { readonly offset: number; readonly length: number },
  ): Promise<FileContent> {
    requireCanonicalFolder(path);
    requireCounts({ offset: range?.offset, length: range?.length });
    const view = this.#view();
    const entry = view.file(path);
    if (!entry) {
      this.#requireSomething(view, path);
      throw new LightAgentError("is_directory", "A directory is at the path.", { path });
    }
    const { offset, length } = range ?? { offset: 0, length: entry.size };
    return { entry, bytes: this.#bytes(view, path).slice(offset, offset + length) };
  }

  async change(changes: readonly FileChange[]): Promise<Changed> {
    const plannable = await Promise.all(changes.map((change) => this.#store(change)));
    // From here on nothing is awaited: the change is one step.
    const { manifest, clock } = this.#shared;
    if (this.#options.atVersion !== undefined) {
      throw new LightAgentError("invalid_request", "An old version cannot be changed.");
    }
    if (this.#isFenced()) {
      throw new LightAgentError("write_fenced", "A later writer of the session has taken over.");
    }
    const view = this.#view();
    const plan = planChange(plannable, view);
    this.#requireRoom(view, plan);
    const version = manifest.commit(this.#branch, plan, clock());
    const changed = { version, paths: [...plan.keys()].sort(compareCodeUnits) };
    this.#record(changed);
    return changed;
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    const { path = "", kind } = query;
    requireCanonicalFolder(path);
    if (this.#options.atVersion !== undefined) {
      throw new LightAgentError("invalid_request", "An old version cannot be searched.");
    }
    const view = this.#view();
    this.#requireSomething(view, path);
    if (kind === "glob" && view.file(path)) {
      throw new LightAgentError("invalid_path", "The path is that of a file.", { path });
    }
    const isFile = path !== "" && view.file(path) !== undefined;
    const hides =
      query.hideIgnored && !isFile ? (await this.#ignoreRules(view)).hides(path) : (): boolean => false;
    const shown = view.files().filter((file) => !hides(file.path));
    const files = shown.map((file) => ({
      path: file.path,
      size: file.size,
      text: () => readableText(this.#bytes(view, file.path)),
    }));
    return searchFiles(query, files, this.#shared.limits);
  }

  async outcome(callId: string): Promise<Changed | null> {
    const { source } = this.#options.writer;
    if (!source) return null;
    if (!this.#isFenced()) this.#fence();
    return this.#shared.outcomes.get(outcomeKey(source.session, callId)) ?? null;
  }

  async #ignoreRules(view: BranchView): Promise<IgnoreRules> {
    const paths = view.files().map((file) => file.path);
    return IgnoreRules.load(paths, (file) => readableText(this.#bytes(view, file)));
  }

  #view(): BranchView {
    return this.#shared.manifest.at(this.#branch, this.#options.atVersion);
  }

  #requireSomething(view: BranchView, path: string): void {
    if (path === "" || view.file(path)) return;
    for (const _file of view.below(path)) return;
    throw new LightAgentError("path_not_found", "Nothing is at the path.", { path });
  }

  #bytes(view: BranchView, path: string): Uint8Array {
    return this.#shared.contents.get(view.file(path)?.sha256 ?? "") ?? new Uint8Array();
  }

  /** Keeps the bytes of a write, as a copy that its caller cannot change. */
  async #store(change: FileChange): Promise<PlannableChange> {
    if (change.kind !== "write") return change;
    const { bytes: given, ...rest } = change;
    const { limits, contents } = this.#shared;
    if (given.length > limits.fileBytes) {
      throw new LightAgentError("file_too_large", `A file may have ${limits.fileBytes} bytes.`);
    }
    const bytes = new Uint8Array(given);
    const sha256 = await sha256Hex(bytes);
    contents.set(sha256, bytes);
    return { ...rest, sha256, size: bytes.length };
  }

  /** A change that frees room is never refused. */
  #requireRoom(view: BranchView, plan: ChangePlan): void {
    const before = view.totals();
    let { files, bytes } = before;
    for (const [path, content] of plan) {
      const replaced = view.file(path);
      files += (content ? 1 : 0) - (replaced ? 1 : 0);
      bytes += (content?.size ?? 0) - (replaced?.size ?? 0);
    }
    const { workspaceFiles, workspaceBytes } = this.#shared.limits;
    const tooMany = files > workspaceFiles && files > before.files;
    const tooLarge = bytes > workspaceBytes && bytes > before.bytes;
    if (tooMany || tooLarge) {
      throw new LightAgentError("workspace_full", "The workspace holds as much as it may.");
    }
  }

  #isFenced(): boolean {
    const { source } = this.#options.writer;
    const seen = source && this.#shared.fences.get(source.session);
    if (!source || !seen) return false;
    return source.turn < seen.turn || (source.turn === seen.turn && source.wakes < seen.wakes);
  }

  /** Refuses earlier writers of the session from now on. */
  #fence(): void {
    const { source } = this.#options.writer;
    if (source) this.#shared.fences.set(source.session, { turn: source.turn, wakes: source.wakes });
  }

  #record(changed: Changed): void {
    const { source } = this.#options.writer;
    if (!source) return;
    this.#fence();
    const key = outcomeKey(source.session, source.callId);
    const paths = new Set([...(this.#shared.outcomes.get(key)?.paths ?? []), ...changed.paths]);
    const { version } = changed;
    this.#shared.outcomes.set(key, { version, paths: [...paths].sort(compareCodeUnits) });
  }
}

function outcomeKey(session: string, callId: string): string {
  return JSON.stringify([session, callId]);
}
