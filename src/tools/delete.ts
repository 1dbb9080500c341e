import * as z from "zod";
import type { Tool } from "../runtime/tool/tool.ts";
import { pathFromArgument } from "../runtime/workspace/path-argument.ts";
import { findOutcome } from "./found-outcome.ts";
import { counted, fields } from "./result-text.ts";
import { defineWorkspaceTool } from "./workspace-failure.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

const schema = z.object({
  path: z.string().describe("The file or folder to delete, relative to the workspace's root."),
});

/** Deletes a file or a folder. */
export function createDeleteTool(): Tool<typeof schema, WorkspaceToolContext> {
  return defineWorkspaceTool({
    name: "delete",
    description: "Deletes a file, or a folder with all that is in it.",
    schema,
    async execute(args, { workspace }) {
      const path = pathFromArgument(args.path);
      const { version, paths } = await workspace.change([{ kind: "delete", path }]);
      const content = fields(["what", `Deleted ${counted(paths.length, "file")}`], ["path", path]);
      return { content, workspaceVersion: version };
    },
    findOutcome,
  });
}
