import { LightAgentError } from "../runtime/protocol/errors.ts";
import { requireCounts } from "../runtime/workspace/counts.ts";
import type { Version } from "./version-store.ts";
import type { VersionEntry, VersionsPage } from "./workspace-api.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** Versions that one page may hold. */
const PAGE_MAX = 1_000;

/** A page of a branch's history, newest first, and on through the branches that it was forked from. */
export function versionHistory(
  { branches, versions }: WorkspaceStore,
  branch: string,
  { before, limit }: { before?: number; limit: number },
): VersionsPage {
  requireCounts({ before });
  requireCounts({ limit }, 1);
  if (limit > PAGE_MAX)
    throw new LightAgentError("invalid_request", `A page holds up to ${PAGE_MAX} versions.`);
  const through = before === undefined ? undefined : before - 1;
  // One more than asked for says whether a page follows.
  const found = versions.list(branches.lineage(branch, through), limit + 1);
  const page = found.slice(0, limit);
  return {
    versions: page.map(entryOf),
    next: found.length > limit ? (page.at(-1)?.version ?? null) : null,
  };
}

function entryOf({ version, at, writer, changes, paths, files, bytes }: Version): VersionEntry {
  const { by, source } = writer;
  const tool = source && { session: source.session, turn: source.turn, callId: source.callId };
  return { version, at, by, ...tool, changes, ...(paths && { paths }), files, bytes };
}
