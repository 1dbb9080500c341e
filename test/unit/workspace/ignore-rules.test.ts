import * as fc from "fast-check";
import ignore from "ignore";
import { expect, it } from "vitest";
import { IgnoreRules } from "../../../src/runtime/workspace/ignore-rules.ts";

async function ignored(paths: readonly string[], files: Readonly<Record<string, string>>): Promise<string[]> {
  const rules = await IgnoreRules.load([...Object.keys(files), ...paths], (path) => files[path] ?? null);
  return paths.filter((path) => rules.ignores(path, false));
}

it.each([
  ["*.log", ["a.log", "b/c.log"], ["a.logs", "log"]],
  ["/build", ["build", "build/x"], ["a/build"]],
  ["build/", ["build/x", "a/build/x"], ["build", "a/build"]],
  ["a/b", ["a/b", "a/b/c"], ["x/a/b"]],
  ["a/**/z", ["a/z", "a/b/c/z"], ["z", "b/a/z"]],
  ["**/tmp", ["tmp/x", "a/tmp"], ["tmpx"]],
  ["abc/**", ["abc/x", "abc/y/z"], ["abc"]],
  ["*\n!*.md\n!docs/", ["a.ts"], ["a.md"]],
  ["dir/\n!dir/keep", ["dir/keep"], ["dir2/keep"]],
  ["# comment\n\n  \n\\#file\n\\!bang\nend\\ ", ["#file", "!bang", "end "], ["# comment", "end"]],
  ["a.txt   ", ["a.txt"], ["a.txt   "]],
  ["{a,b}", ["{a,b}"], ["a", "b"]],
  ["[abc].[!0-9]", ["a.x"], ["a.1", "d.x"]],
  ["[z-a]\n*.log", ["a.log"], ["z"]],
  ["*.LOG\r\n/x\r\n", ["a.LOG", "x"], ["a.log"]],
])("[FILE-10] reads %j as git does", async (text, hidden, shown) => {
  expect(await ignored([...hidden, ...shown], { ".gitignore": text })).toEqual(hidden);
});

it("[FILE-10] lets deeper ignore files overrule, not bring back what is in a hidden directory", async () => {
  const files = {
    ".gitignore": "*.log\nhidden/",
    "a/.gitignore": "!keep.log\nlocal",
    "hidden/.gitignore": "!back",
  };
  const paths = ["a/keep.log", "a/b/keep.log", "a/other.log", "a/local", "local", "hidden/back", "keep.log"];
  expect(await ignored(paths, files)).toEqual(["a/other.log", "a/local", "hidden/back", "keep.log"]);
});

it("[FILE-10] hides .git and node_modules at any depth, unless a rule says otherwise", async () => {
  const paths = [
    ".git/config",
    "a/.git/config",
    "node_modules/x",
    "a/node_modules/x",
    ".github/x",
    "node_modules.md",
  ];
  expect(await ignored(paths, {})).toEqual(paths.slice(0, 4));
  expect(await ignored(paths, { ".gitignore": "!node_modules/" })).toEqual(paths.slice(0, 2));
});

it("[FILE-10] needs no more time for rules that make an engine which backtracks hang", async () => {
  const path = `${"a".repeat(250)}/${"a".repeat(250)}`;
  const text = [`${"*a".repeat(100)}*b`, " ".repeat(60_000) + "x", "[".repeat(900), "\\"].join("\n");
  expect(await ignored([path], { ".gitignore": text })).toEqual([]);
});

it("[FILE-10] agrees with the ignore package on generated rules", async () => {
  const name = fc.constantFrom("a", "b", "ab", "a.log", ".x");
  const part = fc.oneof(name, fc.constantFrom("*", "*.log", "a*", "?", "**", "[ab]"));
  const rule = fc
    .tuple(
      fc.constantFrom("", "", "!"),
      fc.constantFrom("", "/"),
      fc.array(part, { minLength: 1, maxLength: 3 }),
      fc.constantFrom("", "/"),
    )
    .map(([negation, start, parts, end]) => negation + start + parts.join("/") + end);
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { maxLength: 5 }),
      fc.uniqueArray(path, { maxLength: 10 }),
      async (lines, paths) => {
        const text = lines.join("\n");
        const expected = paths.filter((candidate) => ignore().add(text).ignores(candidate));
        expect(await ignored(paths, { ".gitignore": text })).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});
