import { expect, it } from "vitest";
import type { SearchQuery, Workspace } from "../../src/runtime/workspace/workspace.ts";
import type { MakeWorkspaceSource } from "./workspace-steps.ts";
import { bytesOf, refuses, rest, write } from "./workspace-steps.ts";

type Options = Omit<SearchQuery, "kind" | "pattern">;

/** grep and glob. */
export function describeSearch(makeSource: MakeWorkspaceSource): void {
  const open = async (files: Readonly<Record<string, string>>): Promise<Workspace> => {
    const workspace = (await makeSource()).open(rest);
    if (Object.keys(files).length > 0) await write(workspace, files);
    return workspace;
  };

  it("[FILE-16] greps lines in order of path and line, without their ends", async () => {
    const workspace = await open({
      "b/crlf.txt": "one\r\ntwo\r\n",
      "b-c": "one",
      "b/no-end": "x\none",
      empty: "",
      "\uFEFFbom": "",
      bom: "\uFEFFone\n",
      blank: "\n\none\n\n",
    });
    expect(await grep(workspace, "one")).toEqual([
      "b-c:1:one",
      "b/crlf.txt:1:one",
      "b/no-end:2:one",
      "blank:3:one",
      "bom:1:one",
    ]);
    expect(await grep(workspace, "^one$")).toEqual([
      "b-c:1:one",
      "b/crlf.txt:1:one",
      "b/no-end:2:one",
      "blank:3:one",
      "bom:1:one",
    ]);
    expect(await grep(workspace, "^$")).toEqual(["blank:1:", "blank:2:", "blank:4:"]);
    expect(await grep(workspace, "o$", { path: "b" })).toEqual(["b/crlf.txt:2:two"]);
    expect(await grep(workspace, "nothing like it")).toEqual([]);
  });

  it("[FILE-16] greps RE2 syntax and plain text, by case and by word", async () => {
    const workspace = await open({ a: "foo(bar)\nFOO\nfoobar\nGröße ÄRGER\n\\d\n42" });
    const texts = async (pattern: string, options?: Options) =>
      (await grep(workspace, pattern, options)).map((line) => line.slice(4));
    expect(await texts("foo\\(")).toEqual(["foo(bar)"]);
    expect(await texts("foo(", { fixed: true })).toEqual(["foo(bar)"]);
    expect(await texts("\\d", { fixed: true })).toEqual(["\\d"]);
    expect(await texts("\\d")).toEqual(["42"]);
    expect(await texts("foo", { caseSensitive: false })).toEqual(["foo(bar)", "FOO", "foobar"]);
    expect(await texts("FOO(", { caseSensitive: false, fixed: true })).toEqual(["foo(bar)"]);
    expect(await texts("ärger", { caseSensitive: false })).toEqual(["Größe ÄRGER"]);
    expect(await texts("foo", { word: true })).toEqual(["foo(bar)"]);
    expect(await texts("foo|foobar", { word: true })).toEqual(["foo(bar)", "foobar"]);
    expect(await texts("Gr", { word: true })).toEqual([]);
    expect(await texts("Größe", { word: true, fixed: true })).toEqual(["Größe ÄRGER"]);
    expect(await texts("(?i)foo|4.")).toEqual(["foo(bar)", "FOO", "foobar", "42"]);
    expect(await texts("\\Afoobar\\z")).toEqual(["foobar"]);
    expect(await texts("[^a]\\s[^b]")).toEqual(["Größe ÄRGER"]);
  });

  it("[FILE-16] shows context lines, and long lines around their match", async () => {
    const long = `${"x".repeat(5_000)}needle${"y".repeat(5_000)}`;
    const workspace = await open({ a: `1\n2\n3 needle\n4\n5\n6`, b: `😀${long}\nafter`, c: "needle" });
    const { matches = [] } = await workspace.search({ kind: "grep", pattern: "needle", context: 2 });
    expect(matches[0]).toEqual({
      path: "a",
      line: 3,
      text: "3 needle",
      before: ["1", "2"],
      after: ["4", "5"],
    });
    expect(matches[1]).toMatchObject({ path: "b", line: 1, before: [], after: ["after"] });
    expect(matches[1]?.text).toMatch(/^…x+needley+…$/);
    expect(matches[1]?.text).toHaveLength(500);
    expect(matches[2]).toEqual({ path: "c", line: 1, text: "needle", before: [], after: [] });
    const [plain] = (await workspace.search({ kind: "grep", pattern: "needle" })).matches ?? [];
    expect(plain).toEqual({ path: "a", line: 3, text: "3 needle" });
  });

  it("[FILE-16] stops at the limit and says whether there is more", async () => {
    const workspace = await open({ a: "x\nx\n", b: "x\n" });
    const search = async (kind: "grep" | "glob", limit: number) => {
      const { matches, paths, more } = await workspace.search({
        kind,
        pattern: kind === "grep" ? "x" : "*",
        limit,
      });
      return [(matches ?? paths)?.length, more];
    };
    expect([await search("grep", 2), await search("grep", 3), await search("grep", 4)]).toEqual([
      [2, true],
      [3, false],
      [3, false],
    ]);
    expect([await search("glob", 1), await search("glob", 2)]).toEqual([
      [1, true],
      [2, false],
    ]);
    await refuses(workspace.search({ kind: "grep", pattern: "x", limit: -1 }), "invalid_request");
    await refuses(workspace.search({ kind: "grep", pattern: "x", context: 0.5 }), "invalid_request");
  });

  it("[FILE-16] names files that it cannot search", async () => {
    const workspace = await open({ a: "needle" });
    await workspace.change([{ kind: "write", path: "image", bytes: bytesOf("needle\0needle") }]);
    const result = await workspace.search({ kind: "grep", pattern: "needle" });
    expect(result).toMatchObject({ notSearched: [{ path: "image", reason: "binary" }], notSearchedCount: 1 });
    expect(result.matches).toHaveLength(1);
    expect(await workspace.search({ kind: "grep", pattern: "needle", include: ["a"] })).not.toHaveProperty(
      "notSearched",
    );
  });

  it("[FILE-17] searches what path, include and exclude leave", async () => {
    const files = [
      "a.ts",
      "src/a.ts",
      "src/a.js",
      "src/deep/b.ts",
      "src/deep/.hidden.ts",
      "src-old/a.ts",
      "lib/src/c.ts",
    ];
    const workspace = await open(Object.fromEntries(files.map((path) => [path, "x"])));
    const found = async (options: Options) =>
      (await grep(workspace, "x", options)).map((line) => line.split(":")[0]);
    expect(await found({ path: "src" })).toEqual([
      "src/a.js",
      "src/a.ts",
      "src/deep/.hidden.ts",
      "src/deep/b.ts",
    ]);
    expect(await found({ path: "src/a.ts" })).toEqual(["src/a.ts"]);
    expect(await found({ include: ["*.js", "b.*"] })).toEqual(["src/a.js", "src/deep/b.ts"]);
    expect(await found({ include: ["src/*.ts"] })).toEqual(["src/a.ts"]);
    expect(await found({ include: ["./src/**/*.ts"] })).toEqual([
      "src/a.ts",
      "src/deep/.hidden.ts",
      "src/deep/b.ts",
    ]);
    expect(await found({ include: ["src/"] })).toEqual([
      "lib/src/c.ts",
      "src/a.js",
      "src/a.ts",
      "src/deep/.hidden.ts",
      "src/deep/b.ts",
    ]);
    expect(await found({ exclude: ["src"] })).toEqual(["a.ts", "src-old/a.ts"]);
    expect(await found({ exclude: ["/src", "*.js", "lib/**"], include: ["*.ts"] })).toEqual([
      "a.ts",
      "src-old/a.ts",
    ]);
    expect(await found({ path: "src", include: ["deep/*.ts"] })).toEqual([]);
    await refuses(grep(workspace, "x", { path: "nothing" }), "path_not_found");
  });

  it("[FILE-66] can leave out what .gitignore files name, nested and negated, unless the path is among that", async () => {
    const files = {
      ".gitignore": "*.log\n/dist/\n!keep.log\n",
      "a.ts": "x",
      "a.log": "x",
      "keep.log": "x",
      "dist/b.ts": "x",
      "src/dist/c.ts": "x",
      "src/.gitignore": "*.gen.ts\n!a.log\n",
      "src/a.log": "x",
      "src/d.gen.ts": "x",
      "d.gen.ts": "x",
      "node_modules/e.ts": "x",
    };
    const workspace = await open(files);
    const shown = ["a.ts", "d.gen.ts", "keep.log", "src/a.log", "src/dist/c.ts"];
    const search = async (options: Options): Promise<string[]> =>
      (await grep(workspace, "^x$", { hideIgnored: true, ...options })).map(
        (line) => line.split(":")[0] ?? "",
      );
    expect(await search({})).toEqual(shown);
    const { paths } = await workspace.search({ kind: "glob", pattern: "**", hideIgnored: true });
    expect(paths).toEqual([".gitignore", ...shown, "src/.gitignore"].toSorted());
    expect(await search({ path: "src" })).toEqual(["src/a.log", "src/dist/c.ts"]);
    expect(await search({ path: "dist" })).toEqual(["dist/b.ts"]);
    expect(await search({ path: "a.log" })).toEqual(["a.log"]);
    expect(await search({ hideIgnored: false })).toHaveLength(9);
  });

  it("[FILE-18] globs paths relative to a folder, names with a dot included", async () => {
    const files = [
      "a.ts",
      ".env",
      "src/a.ts",
      "src/b.js",
      "src/x/.c.ts",
      "src/x/[id].ts",
      "src/x/d-1.ts",
      "src/x/d!.ts",
      "café/ü.md",
    ];
    const workspace = await open(Object.fromEntries(files.map((path) => [path, ""])));
    const glob = async (pattern: string, path?: string) =>
      (await workspace.search({ kind: "glob", pattern, ...(path === undefined ? {} : { path }) })).paths;
    expect(await glob("*")).toEqual([".env", "a.ts"]);
    expect(await glob("**")).toEqual(files.toSorted());
    expect(await glob("**/*.ts")).toEqual([
      "a.ts",
      "src/a.ts",
      "src/x/.c.ts",
      "src/x/[id].ts",
      "src/x/d!.ts",
      "src/x/d-1.ts",
    ]);
    expect(await glob("src/**/*.{js,ts}")).toEqual([
      "src/a.ts",
      "src/b.js",
      "src/x/.c.ts",
      "src/x/[id].ts",
      "src/x/d!.ts",
      "src/x/d-1.ts",
    ]);
    expect(await glob("{src/x,nothing}/d?[0-9].ts")).toEqual(["src/x/d-1.ts"]);
    expect(await glob("src/x/\\[id\\].ts")).toEqual(["src/x/[id].ts"]);
    expect(await glob("src/x/[!d]*.ts")).toEqual(["src/x/.c.ts", "src/x/[id].ts"]);
    expect(await glob("x/**", "src")).toEqual([
      "src/x/.c.ts",
      "src/x/[id].ts",
      "src/x/d!.ts",
      "src/x/d-1.ts",
    ]);
    expect(await glob("**/?.md")).toEqual(["café/ü.md"]);
    expect(await glob("src")).toEqual([]);
    await refuses(workspace.search({ kind: "glob", pattern: "*", path: "a.ts" }), "invalid_path");
    await refuses(workspace.search({ kind: "glob", pattern: "*", path: "nothing" }), "path_not_found");
  });

  it("[FILE-19] explains patterns that it refuses", async () => {
    const workspace = await open({ a: "x" });
    const refused: [SearchQuery["kind"], string, RegExp][] = [
      ["grep", "", /empty/],
      ["grep", "(", /missing closing \)/],
      ["grep", "(?=a)", /look-around/],
      ["grep", "(a)\\1", /back-references/],
      ["grep", "[", /missing closing \]/],
      ["grep", "a\\nb", /line break/],
      ["grep", "a\nb", /line break/],
      ["grep", "x".repeat(1_025), /1024 bytes/],
      ["grep", "x".repeat(100 * 1024), /1024 bytes/],
      ["grep", "(?:a{1000}b{1000}){1}".repeat(2), /too complex/],
      ["glob", "", /empty/],
      ["glob", "x".repeat(1_025), /1024/],
      ["glob", "[z-a]", /range/],
    ];
    for (const [kind, pattern, reason] of refused) {
      const search = workspace.search({ kind, pattern });
      await expect(search).rejects.toMatchObject({
        code: "invalid_pattern",
        message: expect.stringMatching(reason),
      });
    }
    await refuses(
      workspace.search({ kind: "grep", pattern: "x", include: Array(51).fill("*") }),
      "invalid_pattern",
    );
  });

  it("[FILE-19] needs time in proportion to the text, whatever the pattern", async () => {
    // Each of these takes an engine that backtracks longer than the test may last.
    const workspace = await open({ ["a".repeat(200)]: "a".repeat(200_000) });
    expect(await grep(workspace, "(a+)+$", { limit: 1 })).toHaveLength(1);
    expect(await grep(workspace, "(a+)+b")).toEqual([]);
    expect(await grep(workspace, "(.*)*x")).toEqual([]);
    const stars = `${"*a".repeat(30)}*b`;
    expect((await workspace.search({ kind: "glob", pattern: stars })).paths).toEqual([]);
    expect(await grep(workspace, "a", { include: [stars], exclude: [stars] })).toEqual([]);
  });
}

async function grep(workspace: Workspace, pattern: string, options: Options = {}): Promise<string[]> {
  const { matches = [] } = await workspace.search({ kind: "grep", pattern, ...options });
  return matches.map(({ path, line, text }) => `${path}:${line}:${text}`);
}
