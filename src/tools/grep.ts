import * as z from "zod";
import { DEFAULT_LIMITS } from "../runtime/protocol/limits.ts";
import type { Tool } from "../runtime/tool/tool.ts";
import { pathFromArgument } from "../runtime/workspace/path-argument.ts";
import type { SearchResult } from "../runtime/workspace/workspace.ts";
import { defaultHiding } from "./default-hiding.ts";
import { grepLines } from "./grep-lines.ts";
import { block, counted, fields, fitting, joined, shownPath } from "./result-text.ts";
import { defineWorkspaceTool, errorResult } from "./workspace-failure.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

const DEFAULT_MATCHES = 100;
const MAX_MATCHES = 1_000;
const UNSEARCHED_SHOWN = 5;

/** Patterns of which every line is a match: the answer would be the files themselves. */
const MATCHES_EVERYTHING = /^\^?(?:\(?\.[*+]?\??\)?|\.\*\.\*|\*|\[\\s\\S\][*+])?\$?$/;

const schema = z.object({
  pattern: z.string().describe("A regular expression in RE2 syntax, matched against single lines."),
  path: z.string().exactOptional().describe("The folder or file to search; the whole workspace without it."),
  include: z
    .array(z.string())
    .exactOptional()
    .describe('Globs; only files that match one are searched: ["*.ts"] by name, ["src/**/*.ts"] by path.'),
  exclude: z
    .array(z.string())
    .exactOptional()
    .describe('Globs of files or folders to pass over: ["*.min.js", "dist"].'),
  fixed: z.boolean().exactOptional().describe("Take the pattern as plain text."),
  caseSensitive: z.boolean().exactOptional().describe("True by default."),
  word: z.boolean().exactOptional().describe("Match whole words only."),
  context: z
    .int()
    .min(0)
    .exactOptional()
    .describe(`Lines to show before and after each match, at most ${DEFAULT_LIMITS.searchContextLines}.`),
  limit: z
    .int()
    .min(1)
    .exactOptional()
    .describe(`The most matches to show: ${DEFAULT_MATCHES} by default, at most ${MAX_MATCHES}.`),
});
type Arguments = z.infer<typeof schema>;

/** Finds lines of files. */
export function createGrepTool(): Tool<typeof schema, WorkspaceToolContext> {
  return defineWorkspaceTool({
    name: "grep",
    description:
      "Finds the lines of the workspace's text files that match a pattern, as path:line:text in order of path. The " +
      "pattern has RE2 syntax: no look-around, no back-references. Lines are shown up to " +
      `${DEFAULT_LIMITS.searchLineChars} characters. Binary files and files over ` +
      `${DEFAULT_LIMITS.searchFileBytes / 1024 / 1024} MiB are named as not searched. Skips .git, node_modules and ` +
      "what .gitignore names, unless `path` is inside them or `include` names .git or node_modules.",
    schema,
    readOnly: true,
    async execute(args, { workspace }) {
      if (
        args.fixed !== true &&
        args.pattern !== "" &&
        args.pattern !== "^$" &&
        MATCHES_EVERYTHING.test(args.pattern)
      ) {
        return matchesEverything(args.pattern);
      }
      const { limit = DEFAULT_MATCHES, include = [], exclude = [] } = args;
      const path = pathFromArgument(args.path ?? "");
      const hiding = defaultHiding(path, ...include);
      const result = await workspace.search({
        ...args,
        kind: "grep",
        path,
        limit: Math.min(limit, MAX_MATCHES),
        exclude: [...exclude, ...hiding.exclude],
        hideIgnored: hiding.hideIgnored,
      });
      return { content: resultText(args, path, result) };
    },
  });
}

function resultText(args: Arguments, path: string, result: SearchResult): string {
  const { matches = [], more } = result;
  const { lines, left } = fitting(grepLines(matches));
  const files = new Set(matches.map((match) => match.path)).size;
  const count = `${counted(matches.length, "line")} in ${counted(files, "file")}`;
  return joined(
    fields(
      ["what", "Lines that match"],
      ["pattern", args.pattern],
      ["path", shownPath(path)],
      [
        "matches",
        more ? `${count}, and there are more: narrow the pattern or the path, or raise limit` : count,
      ],
      ["not_searched", unsearched(result)],
    ),
    lines.length > 0 ? block("content", lines) : undefined,
    left > 0 ? `(${left} more lines do not fit)` : undefined,
    fields(["hint", matches.length === 0 ? emptyHint(args) : undefined]),
  );
}

function unsearched({ notSearched = [], notSearchedCount = 0 }: SearchResult): string | undefined {
  if (notSearchedCount === 0) return undefined;
  const named = notSearched.slice(0, UNSEARCHED_SHOWN).map(({ path, reason }) => `${path} (${reason})`);
  const rest = notSearchedCount > named.length ? ", …" : "";
  return `${counted(notSearchedCount, "file")}: ${named.join(", ")}${rest}`;
}

function emptyHint({ pattern, fixed, caseSensitive }: Arguments): string | undefined {
  if (fixed !== true && /[\\.+*?()|[\]{}^$]/.test(pattern)) {
    return "The pattern was read as a regular expression; `fixed: true` takes it as plain text.";
  }
  return caseSensitive === false ? undefined : "`caseSensitive: false` would find other spellings too.";
}

function matchesEverything(pattern: string): ReturnType<typeof errorResult> {
  const text = fields(
    ["what", "The pattern matches every line."],
    ["pattern", pattern],
    [
      "how",
      "Search for something that tells lines apart; `read_file` shows a file, `glob` and `tree` list files.",
    ],
  );
  return errorResult("invalid_pattern", text);
}
