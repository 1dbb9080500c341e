import type { ToolContext } from "../runtime/tool/tool.ts";
import type { Workspace } from "../runtime/workspace/workspace.ts";

/** What the file tools are given beside the context of their call. */
export interface WorkspaceToolContext extends ToolContext {
  /** Open for this call alone; refuses everything once the call is settled. */
  readonly workspace: Workspace;
}
