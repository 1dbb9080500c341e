import PQueue from "p-queue";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import { planChange } from "../runtime/workspace/change-plan.ts";
import type { ChangePlan, PlannableChange } from "../runtime/workspace/change-plan.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import { compareCodeUnits } from "../runtime/workspace/path-order.ts";
import type { Changed, FileChange, FileEntry, WorkspaceWriter } from "../runtime/workspace/workspace.ts";
import { MAX_ANCESTORS } from "./branch-store.ts";
import { BranchView, lastVersion } from "./branch-view.ts";
import type { FileContents, StoredContent } from "./file-contents.ts";
import type { TextIndex } from "./text-index.ts";
import type { WriterSource } from "./fence-store.ts";
import { planRevert } from "./revert-plan.ts";
import type { SkippedFile } from "./revert-plan.ts";
import type { SessionPoint } from "./session-point.ts";
import type { BranchAt } from "./workspace-api.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** Contents that one change stores at once: a Worker has six connections. */
const STORES_AT_ONCE = 6;

/** One change as it goes into its transaction. */
export interface Commit {
  readonly branch: string;
  readonly writer: WorkspaceWriter;
  readonly changes: readonly PlannableChange[];
  /** What must hold of the branch besides; throws what it is refused with. */
  readonly condition?: (view: BranchView) => void;
}

/** A writer that is a session. */
export interface ToolWriter extends WorkspaceWriter {
  readonly source: WriterSource;
}

/** What became of the files of a session that goes back. */
export interface Reverted {
  /** The version that it made; null when there was nothing to take back. */
  readonly version: number | null;
  readonly skipped: readonly SkippedFile[];
}

/**
 * Makes versions. The order of every change: (a) it is checked, so that what cannot be is refused before its bytes
 * move; (b) its contents go to R2; (c) one transaction checks it again, since others may have written during (b), and
 * writes blobs, manifest, version, fence and search index. Dying before the end of (c) leaves the old state, and
 * objects that nothing names.
 *
 * Rows written by (c): 1 for the version, 3 per changed path, 1 per content that is new to the workspace, 2 per text
 * that is new to the index, 3 per text that leaves it, 1 when the session's turn or wake is new.
 */
export class BranchWriter {
  readonly #store: WorkspaceStore;
  readonly #contents: FileContents;
  readonly #index: TextIndex;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #stores = new PQueue({ concurrency: STORES_AT_ONCE });

  constructor(parts: {
    store: WorkspaceStore;
    contents: FileContents;
    index: TextIndex;
    limits: Limits;
    clock: Clock;
    /** A version has been made. */
    changed: () => void;
  }) {
    this.#changed = parts.changed;
    this.#store = parts.store;
    this.#contents = parts.contents;
    this.#index = parts.index;
    this.#limits = parts.limits;
    this.#clock = parts.clock;
  }

  async change(branch: string, writer: WorkspaceWriter, changes: readonly FileChange[]): Promise<Changed> {
    const bytes = new Map<string, Uint8Array>();
    const plannable: PlannableChange[] = [];
    for (const change of changes) {
      if (change.kind !== "write") {
        plannable.push(change);
        continue;
      }
      const { bytes: given, ...rest } = change;
      this.#requireFileSize(given.length);
      // A copy, since it stays in the cache.
      const content = new Uint8Array(given);
      const sha256 = await sha256Hex(content);
      bytes.set(sha256, content);
      plannable.push({ ...rest, sha256, size: content.length });
    }
    const commit = { branch, writer, changes: plannable };
    this.check(commit);
    return this.commit(commit, await this.#storeAll(bytes));
  }

  /** Whether a change could be made now. Writes nothing. @throws whatever it would be refused with */
  check(commit: Commit): void {
    const view = this.#allow(commit);
    this.#totals(view, planChange(commit.changes, view));
  }

  /** Makes a change whose contents are stored, and removes those that came to nothing. */
  async commit(commit: Commit, contents: readonly StoredContent[]): Promise<Changed> {
    const written = contents.filter((content) => content.written).map((content) => content.blob);
    const used = new Set<string>();
    try {
      return this.#store.transaction(() => {
        const view = this.#allow(commit);
        const plan = planChange(commit.changes, view);
        const named = new Set([...plan.values()].map((content) => content?.sha256));
        for (const content of contents) {
          const { sha256, object } = content.blob;
          if (this.#index.record(content, named.has(sha256))) used.add(object);
        }
        return this.#write(commit, view, plan);
      });
    } catch (caught) {
      used.clear();
      throw caught;
    } finally {
      await this.#contents.discard(written.filter((blob) => !used.has(blob.object)));
      this.#contents.letGo(contents);
    }
  }

  /** Makes a branch what it was at a version. */
  restore(branch: string, version: number, writer: WorkspaceWriter): Changed {
    return this.#store.transaction(() => {
      const commit = { branch, writer };
      const view = this.#allow(commit);
      const then = new Map(
        new BranchView(this.#store, { branch, version }).files("").map((file) => [file.path, file]),
      );
      const plan = new Map<string, { sha256: string; size: number } | null>();
      for (const file of view.files("")) {
        const before = then.get(file.path);
        then.delete(file.path);
        if (before?.sha256 !== file.sha256) plan.set(file.path, before ?? null);
      }
      for (const [path, file] of then) plan.set(path, file);
      return this.#write(commit, view, plan);
    });
  }

  /**
   * Takes back what a session has changed since a point, as far as nobody else's changes are touched: one version, or
   * none when there is nothing to take back. The same call again changes nothing and answers the same.
   */
  revert(branch: string, writer: ToolWriter, point: SessionPoint): Reverted {
    const { versions, fences } = this.#store;
    return this.#store.transaction(() => {
      const view = this.#allow({ branch, writer });
      fences.raise(writer.source, lastVersion(this.#store));
      const [made] = versions.ofCall(writer.source.session, writer.source.callId);
      const through = made ? made.version - 1 : lastVersion(this.#store);
      const { plan, skipped } = planRevert(this.#store, branch, point, through);
      if (made) return { version: made.version, skipped };
      if (plan.size === 0) return { version: null, skipped };
      return { version: this.#write({ branch, writer }, view, plan).version, skipped };
    });
  }

  /**
   * The same fork again changes nothing.
   * @throws id_taken, not_found, invalid_request, workspace_full when there are as many branches as may be
   */
  fork(name: string, origin: BranchAt): void {
    if (!idSchema.safeParse(name).success) {
      throw new LightAgentError(
        "invalid_request",
        "A branch's name has 1 to 64 letters, digits, `_` or `-`.",
      );
    }
    const { branches, manifest } = this.#store;
    this.#store.transaction(() => {
      const existing = branches.origin(name);
      const view = new BranchView(this.#store, origin);
      const { version } = view.totals();
      const [nearest] = branches.lineage(origin.branch, version);
      const parent = nearest?.branch ?? origin.branch;
      if (existing) {
        if (existing.parent === parent && existing.version === version) return;
        throw new LightAgentError("id_taken", "The branch exists already.");
      }
      if (branches.names().length >= this.#limits.workspaceBranches) {
        throw full("branches", this.#limits.workspaceBranches);
      }
      const whole = view.layers.length > MAX_ANCESTORS;
      branches.add(name, { parent, version, whole });
      if (whole) for (const file of view.files("")) manifest.put(name, file);
    });
  }

  /** What a call of the writer's session has changed. An older process of the session cannot change it any more. */
  outcome(writer: WorkspaceWriter, callId: string): Changed | null {
    const { source } = writer;
    if (!source) return null;
    return this.#store.transaction(() => {
      this.#store.fences.check(source);
      this.#store.fences.raise(source, lastVersion(this.#store));
      const versions = this.#store.versions.ofCall(source.session, callId);
      const last = versions.at(-1);
      if (!last) return null;
      const paths = new Set(
        versions.flatMap(
          ({ branch, version, paths: known }) => known ?? this.#store.manifest.changedIn(branch, version),
        ),
      );
      return { version: last.version, paths: [...paths].sort(compareCodeUnits) };
    });
  }

  #allow({ branch, writer, condition }: Omit<Commit, "changes">): BranchView {
    this.#store.record.require();
    if (writer.source) this.#store.fences.check(writer.source);
    const view = new BranchView(this.#store, { branch });
    condition?.(view);
    return view;
  }

  #write({ branch, writer }: Omit<Commit, "changes">, view: BranchView, plan: ChangePlan): Changed {
    const totals = this.#totals(view, plan);
    const version = lastVersion(this.#store) + 1;
    const at = this.#clock();
    const replaced: FileEntry[] = [];
    for (const [path, content] of plan) {
      const before = view.file(path);
      if (before) replaced.push(before);
      const { sha256 = null, size = 0 } = content ?? {};
      this.#store.manifest.put(branch, { path, sha256, size, version, modifiedAt: at });
    }
    const paths = [...plan.keys()].sort(compareCodeUnits);
    this.#store.versions.add({ branch, version, at, writer, ...totals }, paths);
    if (writer.source) this.#store.fences.raise(writer.source, version - 1);
    this.#index.release(replaced);
    this.#changed();
    return { version, paths };
  }

  /** What the branch holds after a change. @throws workspace_full when that is more than before and than it may */
  #totals(view: BranchView, plan: ChangePlan): { files: number; bytes: number } {
    const before = view.totals();
    let { files, bytes } = before;
    for (const [path, content] of plan) {
      const file = view.file(path);
      files += (content ? 1 : 0) - (file ? 1 : 0);
      bytes += (content?.size ?? 0) - (file?.size ?? 0);
    }
    const { workspaceFiles, workspaceBytes } = this.#limits;
    if (files > workspaceFiles && files > before.files) throw full("files", workspaceFiles);
    if (bytes > workspaceBytes && bytes > before.bytes) throw full("bytes", workspaceBytes);
    return { files, bytes };
  }

  #requireFileSize(size: number): void {
    const { fileBytes } = this.#limits;
    if (size <= fileBytes) return;
    throw new LightAgentError("file_too_large", `A file may have ${fileBytes} bytes.`, {
      maxBytes: fileBytes,
    });
  }

  async #storeAll(bytes: ReadonlyMap<string, Uint8Array>): Promise<StoredContent[]> {
    const stores = [...bytes].map(async ([sha256, content]) =>
      this.#stores.add(async () => this.#contents.store(content, sha256)),
    );
    // All are waited for, so that what one failure makes useless can be removed.
    const results = await Promise.allSettled(stores);
    const stored = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const failed = results.find((result) => result.status === "rejected");
    if (!failed) return stored;
    await this.#contents.discard(stored.filter(({ written }) => written).map(({ blob }) => blob));
    this.#contents.letGo(stored);
    throw failed.reason;
  }
}

function full(limit: string, max: number): LightAgentError {
  return new LightAgentError("workspace_full", `The workspace holds as many ${limit} as it may.`, {
    limit,
    max,
  });
}
