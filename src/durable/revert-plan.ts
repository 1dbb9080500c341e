import type { ChangePlan } from "../runtime/workspace/change-plan.ts";
import { compareCodeUnits } from "../runtime/workspace/path-order.ts";
import { BranchView } from "./branch-view.ts";
import type { SessionPoint } from "./session-point.ts";
import type { Version } from "./version-store.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** A file that a restore left as it is, and why. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

/** So many files are named as skipped; the others are counted in one entry more, so that the event stays small. */
const SKIPPED_NAMED = 500;

/**
 * The version that a branch had at a point of a session: the last one before the session's first later change, or the
 * one that is known, whichever is earlier. Reads all versions of the branch.
 * @throws not_found
 */
export function versionAt(store: WorkspaceStore, branch: string, point: SessionPoint): number {
  const first = store.versions.firstAfter(store.branches.lineage(branch), point);
  const before = first === null ? new BranchView(store, { branch }).totals().version : first - 1;
  return Math.min(before, point.version ?? before);
}

/**
 * What it takes to make a session's files what they were at a point: every path that only the session has changed
 * since. Paths that others have changed too, or whose place is taken, are left out and named.
 * @param through The version that is to be changed: what came after it does not count
 * @throws not_found
 */
export function planRevert(
  store: WorkspaceStore,
  branch: string,
  point: SessionPoint,
  through: number,
): { plan: ChangePlan; skipped: SkippedFile[] } {
  const base = versionAt(store, branch, point);
  const owners = new Map<string, { own: boolean; others: boolean }>();
  for (const version of store.versions.between(store.branches.lineage(branch, through), base)) {
    const own = isOwn(version, point);
    for (const path of version.paths ?? store.manifest.changedIn(version.branch, version.version)) {
      const known = owners.get(path) ?? { own: false, others: false };
      owners.set(path, { own: known.own || own, others: known.others || !own });
    }
  }
  const then = new BranchView(store, { branch, version: base });
  const now = new BranchView(store, { branch, version: through });
  const plan = new Map<string, { sha256: string; size: number } | null>();
  const skipped: SkippedFile[] = [];
  for (const [path, { own, others }] of owners) {
    if (own && others) skipped.push({ path, reason: "somebody else has changed it since" });
    if (!own || others) continue;
    const file = then.file(path) ?? null;
    if (file?.sha256 !== now.file(path)?.sha256) plan.set(path, file);
  }
  for (const path of blocked(plan, now)) {
    plan.delete(path);
    skipped.push({ path, reason: "something else is in its place" });
  }
  return { plan, skipped: named(skipped.sort((a, b) => compareCodeUnits(a.path, b.path))) };
}

function isOwn({ writer: { source } }: Version, { sessions }: SessionPoint): boolean {
  return source !== undefined && sessions.includes(source.session);
}

/** Files that cannot come back, since somebody's file is where a folder of theirs was, or a folder where they were. */
function blocked(plan: ChangePlan, now: BranchView): string[] {
  const isFile = (path: string): boolean =>
    (plan.get(path) ?? now.file(path)) !== undefined && plan.get(path) !== null;
  const isFolder = (path: string): boolean => {
    for (const below of now.below(path)) if (isFile(below)) return true;
    return false;
  };
  return [...plan].flatMap(([path, content]) => {
    if (content === null) return [];
    const parts = path.split("/");
    const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
    return folders.some(isFile) || isFolder(path) ? [path] : [];
  });
}

function named(skipped: SkippedFile[]): SkippedFile[] {
  if (skipped.length <= SKIPPED_NAMED) return skipped;
  const more = skipped.length - SKIPPED_NAMED;
  return [...skipped.slice(0, SKIPPED_NAMED), { path: "", reason: `and ${more} more` }];
}
