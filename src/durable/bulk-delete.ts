import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import { requireCanonical } from "../runtime/workspace/canonical-path.ts";
import { pathFilter } from "../runtime/workspace/path-filter.ts";
import { compareCodeUnits } from "../runtime/workspace/path-order.ts";
import type { Changed, WorkspaceWriter } from "../runtime/workspace/workspace.ts";
import { BranchView } from "./branch-view.ts";
import type { BranchWriter } from "./branch-writer.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** Files and folders by their paths, and files by a glob. */
export interface Doomed {
  readonly paths?: readonly string[];
  readonly pattern?: string;
}

/**
 * Deletes all of them as one version.
 * @throws path_not_found for a path at which nothing is, or when nothing matches; invalid_path, invalid_pattern
 */
export async function bulkDelete(
  { store, writer, limits }: { store: WorkspaceStore; writer: BranchWriter; limits: Limits },
  branch: string,
  by: WorkspaceWriter,
  { paths = [], pattern }: Doomed,
): Promise<Changed> {
  for (const path of paths) requireCanonical(path);
  const matches = pattern === undefined ? null : await pathFilter({ kind: "glob", pattern }, limits);
  // From here on nothing waits, so that what is chosen is what is there.
  const matched = matches
    ? new BranchView(store, { branch }).files("").filter(({ path }) => matches(path))
    : [];
  const chosen = outermost([...paths, ...matched.map(({ path }) => path)]);
  if (chosen.length === 0) throw new LightAgentError("path_not_found", "Nothing matches.");
  const changes = chosen.map((path) => ({ kind: "delete" as const, path }));
  return writer.commit({ branch, writer: by, changes }, []);
}

/** Without what lies in a folder that is among them too. */
function outermost(paths: readonly string[]): string[] {
  const sorted = [...new Set(paths)].sort(compareCodeUnits);
  const all = new Set(sorted);
  return sorted.filter((path) => {
    for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1)) {
      if (all.has(path.slice(0, slash))) return false;
    }
    return true;
  });
}
