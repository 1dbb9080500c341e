import type { SourceFiles } from "./source-files.ts";

/** A call on a workspace that is measured, and what ripgrep is told to do the like; without it nothing is alike. */
interface FileCall {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  readonly ripgrep?: readonly string[];
}

/** More than there are of anything. */
const ALL = 1_000;

/** What a tool asks for beside grep: a glob, a tree, and single files. */
export function fileCalls(
  call: <T>(action: string, body: unknown) => Promise<T>,
  { files }: SourceFiles,
): FileCall[] {
  const paths = files.map(([path]) => path);
  let count = 0;
  const next = (): string => paths[(count += 7) % paths.length] ?? "";
  return [
    {
      name: "glob",
      ripgrep: ["--no-ignore", "--hidden", "--glob", "**/index.d.ts"],
      run: () => call("search", { kind: "glob", pattern: "**/index.d.ts", limit: ALL }),
    },
    { name: "tree", ripgrep: [], run: () => call("tree", { depth: ALL, limit: 300, hideIgnored: true }) },
    { name: "read", run: () => call("read", next()) },
    { name: "write", run: () => call("write", [[`new/${(count += 1)}.ts`, `export const n = ${count};`]]) },
    { name: "edit", run: () => call("edit", next()) },
  ];
}
