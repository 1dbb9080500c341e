import * as z from "zod";
import type { Tool } from "../runtime/tool/tool.ts";
import { pathFromArgument } from "../runtime/workspace/path-argument.ts";
import type { ListEntry } from "../runtime/workspace/workspace.ts";
import { block, counted, fields, fitting, joined, shownPath } from "./result-text.ts";
import { defineWorkspaceTool } from "./workspace-failure.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

const DEFAULT_ENTRIES = 300;
const MAX_ENTRIES = 1_000;
/** More levels than a path can have. */
const ALL_LEVELS = 1_000;

const schema = z.object({
  path: z.string().exactOptional().describe("The folder to show; the workspace's root without it."),
  depth: z.int().min(1).exactOptional().describe("How many levels to show; all without it."),
  maxFiles: z
    .int()
    .min(1)
    .exactOptional()
    .describe(`The most entries to show: ${DEFAULT_ENTRIES} by default, at most ${MAX_ENTRIES}.`),
});

/** Shows what is in a folder. */
export function createTreeTool(): Tool<typeof schema, WorkspaceToolContext> {
  return defineWorkspaceTool({
    name: "tree",
    description:
      "Shows the files and folders of the workspace as a tree: folders first, then files with their sizes. Leaves out " +
      ".git, node_modules and what .gitignore names, unless `path` is inside them. Where the limit cuts, upper levels " +
      "come first, and it says how many files are left out.",
    schema,
    readOnly: true,
    async execute({ path = "", depth = ALL_LEVELS, maxFiles = DEFAULT_ENTRIES }, { workspace }) {
      const folder = pathFromArgument(path);
      const limit = Math.min(maxFiles, MAX_ENTRIES);
      const { entries, omitted, ignored } = await workspace.list(folder, { depth, limit, hideIgnored: true });
      const { lines, left } = fitting(entries.map((entry) => treeLine(entry, folder)));
      const files = entries.filter((entry) => entry.kind === "file").length;
      const content = joined(
        fields(
          ["what", "Files and folders"],
          ["path", shownPath(folder)],
          [
            "shown",
            `${counted(entries.length - files, "folder")}, ${files} of ${counted(files + omitted, "file")}`,
          ],
          [
            "ignored",
            ignored > 0
              ? `${counted(ignored, "file")} that .gitignore, .git or node_modules hide`
              : undefined,
          ],
        ),
        block("content", lines.length === 0 ? ["(empty)"] : lines),
        left > 0 ? `(${left} more lines do not fit)` : undefined,
        fields([
          "hint",
          omitted > 0
            ? `${counted(omitted, "file")} left out: name a folder as path, or raise maxFiles.`
            : undefined,
        ]),
      );
      return { content };
    },
  });
}

function treeLine(entry: ListEntry, folder: string): string {
  const below = folder === "" ? entry.path : entry.path.slice(folder.length + 1);
  const names = below.split("/");
  const indent = "  ".repeat(names.length - 1);
  const name = names.at(-1) ?? "";
  if (entry.kind === "directory") return `${indent}${name}/ (${counted(entry.files, "file")})`;
  return `${indent}${name} ${shownSize(entry.size)}`;
}

function shownSize(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const kibibytes = bytes / 1_024;
  return kibibytes < 1_024 ? `${kibibytes.toFixed(1)} KiB` : `${(kibibytes / 1_024).toFixed(1)} MiB`;
}
