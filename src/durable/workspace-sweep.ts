import type { Limits } from "../runtime/protocol/limits.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import type { Alarms } from "./alarms.ts";
import type { ContentHolds } from "./content-holds.ts";
import type { ObjectStorage } from "./object-storage.ts";
import type { TextIndex } from "./text-index.ts";
import type { StorageAllowance } from "./storage-allowance.ts";
import { lastVersion } from "./branch-view.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** So long after a change somebody looks whether it has left something behind. */
const SWEEP_MS = 24 * 60 * 60_000;

/** When R2 does not answer. */
const RETRY_MS = 10 * 60_000;

/** An object that nothing names may belong to a change of another instance, unless it is older than any change takes. */
const ORPHAN_MS = 60 * 60_000;

/** Rows that one transaction removes, so that no request waits for long. */
const ROWS = 10_000;
const BLOBS = 1_000;

export interface WorkspaceSweepParts {
  readonly store: WorkspaceStore;
  readonly objects: ObjectStorage;
  readonly index: TextIndex;
  readonly holds: ContentHolds;
  readonly allowance: StorageAllowance;
  readonly alarms: Alarms;
  readonly limits: Pick<Limits, "versions" | "versionsMs">;
  readonly clock: Clock;
}

/**
 * Removes what nothing names any more: versions beyond what is kept, branches of sessions that are deleted, contents
 * that no version names, objects that a change left behind when it died. What is named, what a running change holds,
 * and what a session or a fork may still go back to, stays.
 *
 * Of a content the row goes first and then the object: dying between leaves an object without a row, which the next
 * sweep finds. Each step may run twice.
 */
export class WorkspaceSweep {
  readonly #parts: WorkspaceSweepParts;

  constructor(parts: WorkspaceSweepParts) {
    this.#parts = parts;
  }

  /** Something has changed. Writes an alarm unless one is due. */
  async arm(inMs: number = SWEEP_MS): Promise<void> {
    const { alarms, clock } = this.#parts;
    await alarms.read();
    alarms.wakeBy(clock() + inMs);
  }

  /** A session is deleted: it goes back to nothing any more, and a branch of its own goes. Safe to repeat. */
  async release(session: string, branch: string | null): Promise<void> {
    const { store } = this.#parts;
    store.transaction(() => {
      store.fences.unpin(session);
      if (branch !== null && branch !== MAIN_BRANCH) store.branches.remove(branch);
    });
    await this.arm();
  }

  /** One sweep, by the alarm. Never throws: what fails is done again later. */
  async step(): Promise<void> {
    const { alarms, store, limits } = this.#parts;
    alarms.fired();
    // Set before the work: a sweep that dies half-way is followed by another.
    await this.arm(RETRY_MS);
    const version = lastVersion(store);
    let left: boolean;
    try {
      this.#forgetBranches();
      if (this.#forgetVersions() || (await this.#removeUnnamed())) return await this.#next(0);
      left = await this.#removeOrphans();
      await this.#parts.allowance.giveBack();
    } catch {
      // R2 does not answer. The alarm is set.
      return;
    }
    // What was passed over, what has changed meanwhile, and what only time takes away, is looked at another time.
    const changed = lastVersion(store) !== version;
    if (left || changed || store.versions.count() > limits.versions) await this.#next(SWEEP_MS);
    else alarms.clear();
  }

  async #next(inMs: number): Promise<void> {
    this.#parts.alarms.clear();
    await this.arm(inMs);
  }

  #forgetBranches(): void {
    const { store, index } = this.#parts;
    for (let gone = store.branches.abandoned(); gone.length > 0; gone = store.branches.abandoned()) {
      for (const branch of gone) {
        store.transaction(() => {
          const files = store.manifest.erase(branch);
          store.versions.erase(branch);
          store.branches.erase(branch);
          index.release(files);
        });
      }
    }
  }

  /** Whether there is more to forget than one transaction should. */
  #forgetVersions(): boolean {
    const { store } = this.#parts;
    const oldest = this.#oldestKept();
    if (oldest === null) return false;
    return store.transaction(() => {
      store.record.forgetBefore(oldest);
      let left = ROWS;
      for (const branch of store.branches.names()) {
        const points = [oldest, ...store.branches.forkVersions(branch)];
        left -= store.manifest.forget(branch, oldest, points, left);
        if (left <= 0) return true;
        store.versions.forget(branch, oldest, points);
      }
      return false;
    });
  }

  /** The oldest version that must be seen; null while that is every one. It never becomes older again. */
  #oldestKept(): number | null {
    const { store, limits, clock } = this.#parts;
    const { versions, versionsMs } = limits;
    const kept = store.versions.oldestOf(versions, clock() - versionsMs);
    if (kept === null) return null;
    const pinned = store.fences.oldestPin() ?? lastVersion(store);
    const oldest = Math.max(store.record.oldest(), Math.min(kept, pinned));
    return oldest > 0 ? oldest : null;
  }

  /** Whether some have gone and there may be more. */
  async #removeUnnamed(): Promise<boolean> {
    const { store, objects, holds } = this.#parts;
    const unnamed = store.blobs.unnamed(BLOBS);
    const gone = unnamed.filter(({ sha256 }) => !holds.has(sha256));
    store.transaction(() => {
      for (const { sha256, text } of gone) {
        if (text !== null && text !== "binary") store.texts.remove(text);
        store.blobs.remove(sha256);
      }
    });
    await objects.remove(gone.map(({ object }) => object));
    return gone.length > 0 && unnamed.length === BLOBS;
  }

  /** Whether objects that no row names are left, since they are too young or held. */
  async #removeOrphans(): Promise<boolean> {
    const { store, objects, holds, clock } = this.#parts;
    const old = clock() - ORPHAN_MS;
    const orphans: string[] = [];
    let young = 0;
    const known = store.blobs.objects();
    for await (const { id, writtenAt } of objects.all()) {
      if (known.has(id)) continue;
      if (writtenAt <= old) orphans.push(id);
      else young += 1;
    }
    // A content may have been recorded while the list was read.
    const named = store.blobs.objects();
    const left = orphans.filter((id) => !named.has(id) && !holds.has(id));
    for (let at = 0; at < left.length; at += BLOBS) await objects.remove(left.slice(at, at + BLOBS));
    return young > 0 || left.length < orphans.length;
  }
}
