import * as z from "zod";
import { DEFAULT_LIMITS } from "../runtime/protocol/limits.ts";
import type { Tool } from "../runtime/tool/tool.ts";
import { pathFromArgument } from "../runtime/workspace/path-argument.ts";
import { defaultHiding } from "./default-hiding.ts";
import { block, counted, fields, fitting, joined, shownPath } from "./result-text.ts";
import { defineWorkspaceTool } from "./workspace-failure.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

const schema = z.object({
  pattern: z
    .string()
    .describe("A glob relative to `path`, such as **/*.ts or src/**/*.{js,ts}. `*` stays within one folder."),
  path: z.string().exactOptional().describe("The folder to look in; the workspace's root without it."),
});

/** Finds files by their paths. */
export function createGlobTool(): Tool<typeof schema, WorkspaceToolContext> {
  return defineWorkspaceTool({
    name: "glob",
    description:
      "Finds files by the form of their paths, in alphabetical order. Knows *, ?, **, [abc] and {a,b}; names that begin " +
      "with a dot count. Skips .git, node_modules and what .gitignore names, unless `path` is inside them or " +
      "`pattern` names .git or node_modules. Shows at most " +
      `${DEFAULT_LIMITS.searchMatches} paths.`,
    schema,
    readOnly: true,
    async execute({ pattern, path = "" }, { workspace }) {
      const folder = pathFromArgument(path);
      const hiding = defaultHiding(pattern, folder);
      const { paths = [], more } = await workspace.search({ kind: "glob", pattern, path: folder, ...hiding });
      const { lines, left } = fitting(paths);
      const found = counted(paths.length, "file");
      const content = joined(
        fields(
          ["what", "Files whose path matches"],
          ["pattern", pattern],
          ["path", shownPath(folder)],
          [
            "found",
            more || left > 0 ? `${lines.length} shown, and there are more: use a narrower pattern` : found,
          ],
        ),
        paths.length > 0 ? block("content", lines) : undefined,
        fields(["hint", paths.length === 0 ? emptyHint(pattern) : undefined]),
      );
      return { content };
    },
  });
}

function emptyHint(pattern: string): string {
  return pattern.includes("/")
    ? "Nothing matches. `tree` shows what there is; upper and lower case matter."
    : `Nothing matches in this very folder. **/${pattern} looks in all folders below too.`;
}
