import { LightAgentError } from "../runtime/protocol/errors.ts";
import { compareCodeUnits } from "../runtime/workspace/path-order.ts";
import { exactText } from "../runtime/workspace/text-file.ts";
import type { FileEntry } from "../runtime/workspace/workspace.ts";
import { BranchView } from "./branch-view.ts";
import type { FileContents } from "./file-contents.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** A file as it was on one side. */
export interface DiffSide {
  readonly size: number;
  readonly sha256: string;
}

/** What became of a path from one version to another. */
export interface PathChange {
  readonly path: string;
  readonly change: "added" | "changed" | "deleted" | "moved";
  /** Where a moved file was. */
  readonly from?: string;
  readonly before?: DiffSide;
  readonly after?: DiffSide;
}

export interface VersionDiff {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly PathChange[];
  /** Whether there are more than are named. */
  readonly more: boolean;
}

/** The texts of one path on both sides, as a unified diff. */
export interface TextDiff {
  readonly from: number;
  readonly to: number;
  readonly path: string;
  /** Null where a side is binary or too large, or too much has changed. */
  readonly patch: string | null;
}

/** Two versions of one branch. `from` is by default the one before `to`, `to` the branch's last one. */
export interface DiffRange {
  readonly branch: string;
  readonly from?: number;
  readonly to?: number;
}

const CHANGES = 10_000;
const TEXT_BYTES = 512 * 1024;
/** Beyond so many changed lines a difference takes long to find. */
const MOST_EDITS = 5_000;

/**
 * What changed between two versions of a branch, by path. A file that was at another path before, and is there no more,
 * was moved. Reads all files on both sides.
 * @throws not_found, invalid_request, version_gone
 */
export function versionDiff(store: WorkspaceStore, range: DiffRange): VersionDiff {
  const { from, to, before, after } = sides(store, range);
  const earlier = new Map(before.files("").map((file) => [file.path, file]));
  const changes: PathChange[] = [];
  const added: FileEntry[] = [];
  for (const file of after.files("")) {
    const known = earlier.get(file.path);
    earlier.delete(file.path);
    if (!known) added.push(file);
    else if (known.sha256 !== file.sha256) {
      changes.push({ path: file.path, change: "changed", before: side(known), after: side(file) });
    }
  }
  const gone = new Map([...earlier.values()].map((file) => [file.sha256, file]));
  for (const file of added) {
    const origin = gone.get(file.sha256);
    gone.delete(file.sha256);
    if (origin) earlier.delete(origin.path);
    const moved = origin && { from: origin.path, before: side(origin) };
    changes.push({ path: file.path, change: moved ? "moved" : "added", ...moved, after: side(file) });
  }
  for (const file of earlier.values()) {
    changes.push({ path: file.path, change: "deleted", before: side(file) });
  }
  changes.sort((a, b) => compareCodeUnits(a.path, b.path));
  return { from, to, changes: changes.slice(0, CHANGES), more: changes.length > CHANGES };
}

/** @throws not_found, invalid_request, version_gone; path_not_found when neither side has the file */
export async function textDiff(
  store: WorkspaceStore,
  contents: FileContents,
  range: DiffRange,
  path: string,
): Promise<TextDiff> {
  const { from, to, before, after } = sides(store, range);
  const [old, now] = [before.file(path), after.file(path)];
  if (!old && !now) throw new LightAgentError("path_not_found", "Nothing is at the path.", { path });
  const texts = await Promise.all([textOf(old, contents), textOf(now, contents)]);
  return { from, to, path, patch: await patchOf(path, ...texts) };
}

async function patchOf(path: string, before: string | null, after: string | null): Promise<string | null> {
  if (before === null || after === null) return null;
  const { createTwoFilesPatch } = await import("diff");
  const options = { context: 3, maxEditLength: MOST_EDITS };
  return createTwoFilesPatch(path, path, before, after, undefined, undefined, options) ?? null;
}

/** The text of a side; empty where the file was not, null for what is no text to compare. */
async function textOf(file: FileEntry | undefined, contents: FileContents): Promise<string | null> {
  if (!file) return "";
  if (file.size > TEXT_BYTES) return null;
  return exactText(await contents.read(file.sha256, { offset: 0, length: file.size }));
}

function sides(store: WorkspaceStore, { branch, from, to }: DiffRange) {
  const last = to ?? new BranchView(store, { branch }).totals().version;
  const first = from ?? Math.max(last - 1, store.record.oldest());
  return {
    from: first,
    to: last,
    before: new BranchView(store, { branch, version: first }),
    after: new BranchView(store, { branch, version: last }),
  };
}

function side({ size, sha256 }: FileEntry): DiffSide {
  return { size, sha256 };
}
