import type { ToolResult } from "../runtime/tool/tool.ts";
import { block, fields, joined } from "./result-text.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

const PATHS_SHOWN = 50;

/** What a call had changed before its process died; null when it had changed nothing and may run. */
export async function findOutcome({ workspace, call }: WorkspaceToolContext): Promise<ToolResult | null> {
  const changed = await workspace.outcome(call.id);
  if (!changed) return null;
  const { paths, version } = changed;
  const left = paths.length - PATHS_SHOWN;
  const content = joined(
    fields(["what", "The call was interrupted after it had taken effect; its own report is lost."]),
    block("changed", [...paths.slice(0, PATHS_SHOWN), ...(left > 0 ? [`and ${left} more`] : [])]),
  );
  return { content, workspaceVersion: version };
}
