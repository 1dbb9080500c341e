import { DEFAULT_LIMITS } from "../runtime/protocol/limits.ts";
import { WINDOW_BYTES } from "./line-window.ts";

/** How the built-in file tools are used well: for the prompts of an agent that has them. */
export const builtinToolPrompts: readonly { readonly name: string; readonly content: string }[] = [
  {
    name: "file_tools",
    content: [
      "You work on the files of one workspace. Paths are relative to its root, `/` separates names, upper and lower case matter.",
      "",
      "Find before you read, and read before you change:",
      "1. `tree` shows what there is; `glob` finds files by name.",
      "2. `grep` finds the lines that matter. Its pattern is a regular expression in RE2 syntax (no look-around, no back-references) for single lines; `fixed: true` takes it as plain text. Narrow it by `path` and `include` rather than raise `limit`.",
      "3. `read_file` shows a file with line numbers; the numbers and ` | ` are not part of it. When it says [next], that call shows what follows.",
      "4. `edit_file` changes parts of a file; copy `old` exactly from what you read. `write_file` makes new files. Independent calls can be made together.",
      "",
      `Limits: read_file shows ${WINDOW_BYTES / 1024} KiB at once; grep passes over binary files and those over ${DEFAULT_LIMITS.searchFileBytes / 1024 / 1024} MiB and says so; the arguments of a call may have ${DEFAULT_LIMITS.argumentBytes / 1024} KiB.`,
      "Answer with the paths and lines that you found, as path:line. Say so when you did not find something.",
    ].join("\n"),
  },
];
