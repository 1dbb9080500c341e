import { LightAgentError } from "../protocol/errors.ts";
import { canonicalPath } from "./canonical-path.ts";

/**
 * The canonical path that a model means: `x`, `./x`, `/x`, `x/` and `a/../x` are all `x`; `.`, `/` and the empty
 * string are the root, `""`. A path that leaves the root is refused as such, before anything is looked up, so that no
 * answer tells what exists.
 * @throws LightAgentError `path_escape`, `invalid_path`
 */
export function pathFromArgument(argument: string): string {
  const kept: string[] = [];
  for (const segment of argument.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.pop() === undefined) {
      throw new LightAgentError("path_escape", "The path leads out of the workspace.");
    }
  }
  return kept.length === 0 ? "" : canonicalPath(kept.join("/"));
}
