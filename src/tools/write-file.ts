import * as z from "zod";
import { DEFAULT_LIMITS } from "../runtime/protocol/limits.ts";
import type { Tool } from "../runtime/tool/tool.ts";
import { pathFromArgument } from "../runtime/workspace/path-argument.ts";
import { findOutcome } from "./found-outcome.ts";
import { fields } from "./result-text.ts";
import { retryOnConflict } from "./retry-on-conflict.ts";
import { defineWorkspaceTool, errorResult } from "./workspace-failure.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

const schema = z.object({
  path: z.string().describe("The file, relative to the workspace's root. Its folders are made."),
  content: z.string().describe("All that the file is to hold."),
});

/** Creates a file or replaces its whole content. */
export function createWriteFileTool(): Tool<typeof schema, WorkspaceToolContext> {
  return defineWorkspaceTool({
    name: "write_file",
    description:
      "Creates a file, or replaces all of its content; to change a part of a file use edit_file. Arguments may have " +
      `${DEFAULT_LIMITS.argumentBytes / 1024} KiB in all.`,
    schema,
    async execute({ path: argument, content }, { workspace }) {
      if (!content.isWellFormed()) {
        return errorResult("invalid_arguments", fields(["what", "The content holds half of a character."]));
      }
      const path = pathFromArgument(argument);
      const bytes = new TextEncoder().encode(content);
      const { before, version } = await retryOnConflict(async () => {
        const there = await workspace.stat(path);
        // Onto a directory the workspace itself refuses a write, with the reason.
        const condition = there?.kind === "directory" ? {} : { ifMatch: there?.sha256 ?? null };
        const changed = await workspace.change([{ kind: "write", path, bytes, ...condition }]);
        return { before: there?.kind === "file" ? there.size : undefined, version: changed.version };
      });
      const result = fields(
        ["what", before === undefined ? "File created" : "File replaced"],
        ["path", path],
        ["size_bytes", bytes.length],
        ["size_before", before],
      );
      return { content: result, workspaceVersion: version };
    },
    findOutcome,
  });
}
