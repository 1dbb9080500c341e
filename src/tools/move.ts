import * as z from "zod";
import type { Tool } from "../runtime/tool/tool.ts";
import { pathFromArgument } from "../runtime/workspace/path-argument.ts";
import { findOutcome } from "./found-outcome.ts";
import { counted, fields } from "./result-text.ts";
import { defineWorkspaceTool } from "./workspace-failure.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

const schema = z.object({
  from: z.string().describe("The file or folder to move."),
  to: z.string().describe("Its new path, in full. Nothing may be there."),
});

/** Moves or renames a file or a folder. */
export function createMoveTool(): Tool<typeof schema, WorkspaceToolContext> {
  return defineWorkspaceTool({
    name: "move",
    description: "Moves or renames a file, or a folder with all that is in it. Never overwrites.",
    schema,
    async execute(args, { workspace }) {
      const from = pathFromArgument(args.from);
      const to = pathFromArgument(args.to);
      const { version, paths } = await workspace.change([{ kind: "move", from, to }]);
      // Of each file the path that it had and the one that it has were changed.
      const moved = counted(paths.length / 2, "file");
      const content = fields(["what", `Moved ${moved}`], ["from", from], ["to", to]);
      return { content, workspaceVersion: version };
    },
    findOutcome,
  });
}
