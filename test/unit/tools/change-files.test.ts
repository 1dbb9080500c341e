import { describe, expect, it } from "vitest";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { allPaths, bytesOf, textAt, write } from "../../conformance/workspace-steps.ts";
import { blockOf, fieldOf, ToolBench } from "./tool-bench.ts";

describe("write_file", () => {
  it("[TOOL-16] says whether it created or replaced a file, with its size and the new version", async () => {
    const bench = new ToolBench();
    expect(await bench.run("write_file", { path: "a/b/c.ts", content: "é\n" })).toEqual({
      content: "[what] File created\n[path] a/b/c.ts\n[size_bytes] 3",
      workspaceVersion: 1,
    });
    expect(await bench.run("write_file", { path: "/a/b/c.ts", content: "" })).toEqual({
      content: "[what] File replaced\n[path] a/b/c.ts\n[size_bytes] 0\n[size_before] 3",
      workspaceVersion: 2,
    });
    expect(await textAt(bench.workspace, "a/b/c.ts")).toBe("");
  });

  it("[TOOL-16] refuses what it cannot write, with the reason", async () => {
    const bench = await ToolBench.with({ "d/x": "1", f: "1" });
    const code = async (path: string, content = "") =>
      (await bench.run("write_file", { path, content })).code;
    expect(await code("d")).toBe("is_directory");
    expect(await code("f/x")).toBe("invalid_path");
    expect(await code(".")).toBe("invalid_path");
    expect(await code("../x")).toBe("path_escape");
    expect(await code("x", "half \uD800")).toBe("invalid_arguments");
    expect(await bench.workspace.version()).toBe(1);
  });

  it("[TOOL-16] writes although somebody else created the file meanwhile, and says that it was replaced", async () => {
    let disturbed = false;
    const bench: ToolBench = new ToolBench((workspace) => ({
      stat: async (path) => {
        const there = await workspace.stat(path);
        if (!disturbed) await write(bench.workspace, { a: "theirs" });
        disturbed = true;
        return there;
      },
    }));
    const result = await bench.run("write_file", { path: "a", content: "mine" });
    expect([fieldOf(result.content, "what"), result.workspaceVersion]).toEqual(["File replaced", 2]);
    expect(await textAt(bench.workspace, "a")).toBe("mine");
  });
});

describe("edit_file", () => {
  const edit = (bench: ToolBench, path: string, ...edits: { old: string; new: string; all?: boolean }[]) =>
    bench.run("edit_file", { path, edits });

  it("[TOOL-17] replaces what is there once, in order, and shows the difference", async () => {
    const bench = await ToolBench.with({ "a.ts": "one\ntwo\nthree\nfour\nfive\nsix\n" });
    const result = await edit(
      bench,
      "a.ts",
      { old: "two\nthree", new: "2\n3" },
      { old: "3\nfour", new: "three and four" },
    );
    expect(result).toMatchObject({ workspaceVersion: 2 });
    expect(result.isError).toBeUndefined();
    expect(result.content.split("\n")).toEqual([
      "[what] Replaced 2 places",
      "[path] a.ts",
      "[size_bytes] 30",
      "[diff]",
      "@@ -1,6 +1,5 @@",
      " one",
      "-two",
      "-three",
      "-four",
      "+2",
      "+three and four",
      " five",
      " six",
    ]);
    expect(await textAt(bench.workspace, "a.ts")).toBe("one\n2\nthree and four\nfive\nsix\n");
  });

  it("[TOOL-17] replaces every one with `all`, and refuses several without it", async () => {
    const bench = await ToolBench.with({ a: "x y\nx\naaa\n" });
    const refused = await edit(bench, "a", { old: "x", new: "z" });
    expect(refused).toMatchObject({ isError: true, code: "edit_no_match" });
    expect([fieldOf(refused.content, "what"), fieldOf(refused.content, "lines")]).toEqual([
      expect.stringContaining("2 times"),
      "1, 2",
    ]);
    // Two places that overlap are two.
    expect((await edit(bench, "a", { old: "aa", new: "b" })).code).toBe("edit_no_match");
    const all = await edit(
      bench,
      "a",
      { old: "x", new: "xx", all: true },
      { old: "aa", new: "b", all: true },
    );
    expect(fieldOf(all.content, "what")).toBe("Replaced 3 places");
    expect(await textAt(bench.workspace, "a")).toBe("xx y\nxx\nba\n");
  });

  it("[TOOL-17] makes all edits or none", async () => {
    const bench = await ToolBench.with({ a: "one two" });
    const result = await edit(bench, "a", { old: "one", new: "1" }, { old: "one", new: "2" });
    expect([result.code, fieldOf(result.content, "what")]).toEqual([
      "edit_no_match",
      expect.stringContaining("edit 2 of 2"),
    ]);
    expect((await edit(bench, "a", { old: "one", new: "one" })).code).toBe("edit_no_match");
    expect((await edit(bench, "a", { old: "", new: "x" })).code).toBe("invalid_arguments");
    expect((await bench.run("edit_file", { path: "a", edits: [] })).code).toBe("invalid_arguments");
    expect([await textAt(bench.workspace, "a"), await bench.workspace.version()]).toEqual(["one two", 1]);
  });

  it("[TOOL-18] keeps line endings and the byte order mark", async () => {
    const bench = await ToolBench.with({
      crlf: "\uFEFFone\r\ntwo\r\nthree\r\n",
      mixed: "one\r\ntwo\nthree\r\nfour\r\n",
      lf: "one\ntwo\n",
    });
    const text = async (path: string) => textAt(bench.workspace, path);
    await edit(bench, "crlf", { old: "one\ntwo", new: "1\n1b\n2" });
    expect(await text("crlf")).toBe("\uFEFF1\r\n1b\r\n2\r\nthree\r\n");
    await edit(bench, "crlf", { old: "2\r\nthree", new: "2\r\n3" });
    expect(await text("crlf")).toBe("\uFEFF1\r\n1b\r\n2\r\n3\r\n");
    await edit(bench, "mixed", { old: "two\nthree", new: "2\n3" });
    expect(await text("mixed")).toBe("one\r\n2\r\n3\r\nfour\r\n");
    await edit(bench, "mixed", { old: "one", new: "1" });
    expect(await text("mixed")).toBe("1\r\n2\r\n3\r\nfour\r\n");
    await edit(bench, "lf", { old: "one\r\ntwo", new: "1\r\n2" });
    expect(await text("lf")).toBe("1\n2\n");
  });

  it("[TOOL-19] shows the nearest lines when the text is not there", async () => {
    const lines = Array.from({ length: 50 }, (_, index) => `const value${index} = compute(${index});`);
    const bench = await ToolBench.with({
      "a.ts": `${lines.join("\n")}\n\tif (ready) {\n\t\tstart();\n\t}\n`,
    });
    const near = await edit(bench, "a.ts", { old: "const value17 = computed(17);\nconst value18", new: "x" });
    expect(near).toMatchObject({ isError: true, code: "edit_no_match" });
    expect(blockOf(near.content, "nearest").slice(0, 2)).toEqual([
      "18 | const value17 = compute(17);",
      "19 | const value18 = compute(18);",
    ]);
    const blanks = await edit(bench, "a.ts", { old: "if (ready) {\n  start();\n}", new: "x" });
    expect(fieldOf(blanks.content, "how")).toContain("other blanks");
    expect(blockOf(blanks.content, "nearest").slice(0, 3)).toEqual([
      "51 | \tif (ready) {",
      "52 | \t\tstart();",
      "53 | \t}",
    ]);
    const far = await edit(bench, "a.ts", { old: "§§§§", new: "x" });
    expect(far.content).not.toContain("[nearest]");
  });

  it("[TOOL-20] edits again what somebody else changed meanwhile, if the edit still applies", async () => {
    const disturb = (texts: string[]) => {
      const bench: ToolBench = new ToolBench((workspace) => ({
        read: async (path, range) => {
          const content = await workspace.read(path, range);
          const text = texts.shift();
          if (text !== undefined) await write(bench.workspace, { a: text });
          return content;
        },
      }));
      return bench;
    };
    const applies = disturb(["first line\nold\n"]);
    await write(applies.workspace, { a: "old\n" });
    expect((await edit(applies, "a", { old: "old", new: "new" })).workspaceVersion).toBe(3);
    expect(await textAt(applies.workspace, "a")).toBe("first line\nnew\n");
    const gone = disturb(["something else\n"]);
    await write(gone.workspace, { a: "old\n" });
    expect((await edit(gone, "a", { old: "old", new: "new" })).code).toBe("edit_no_match");
    const again = disturb(["old 2\n", "old 3\n"]);
    await write(again.workspace, { a: "old\n" });
    const conflict = await edit(again, "a", { old: "old", new: "new" });
    expect([conflict.code, fieldOf(conflict.content, "how")]).toEqual([
      "write_conflict",
      expect.stringContaining("Read it again"),
    ]);
    expect(await textAt(again.workspace, "a")).toBe("old 3\n");
  });

  it("[TOOL-15] refuses to edit what is not text, too large, or not there", async () => {
    const bench = await ToolBench.with({ "d/x": "1" });
    await bench.workspace.change([
      { kind: "write", path: "binary", bytes: bytesOf("a\0b") },
      { kind: "write", path: "latin", bytes: Uint8Array.of(0xe9, 0x61) },
      { kind: "write", path: "large", bytes: new Uint8Array(8 * 1024 * 1024 + 1).fill(97) },
    ]);
    const codes = ["binary", "latin", "large", "d", "nothing"].map(
      async (path) => (await edit(bench, path, { old: "a", new: "b" })).code,
    );
    expect(await Promise.all(codes)).toEqual([
      "binary_file",
      "binary_file",
      "file_too_large",
      "is_directory",
      "path_not_found",
    ]);
  });

  it("[TOOL-17] shows a part of a difference that is too long to show", async () => {
    const bench = await ToolBench.with({ many: "x\n".repeat(5_000), wide: `x${"y".repeat(100_000)}` });
    const many = await edit(bench, "many", { old: "x", new: "z", all: true });
    expect(blockOf(many.content, "diff")).toEqual([expect.stringContaining("too many lines")]);
    const wide = await edit(bench, "wide", { old: "x", new: "z" });
    expect(wide.content.length).toBeLessThan(1_000);
    expect(await textAt(bench.workspace, "many")).toBe("z\n".repeat(5_000));
  });
});

describe("move and delete", () => {
  it("[TOOL-21] move files and folders, and never overwrite", async () => {
    const bench = await ToolBench.with({ "a/1": "1", "a/2": "2", b: "3" });
    expect(await bench.run("move", { from: "./a/", to: "c/d" })).toEqual({
      content: "[what] Moved 2 files\n[from] a\n[to] c/d",
      workspaceVersion: 2,
    });
    expect(await allPaths(bench.workspace)).toEqual(["c/d/1", "c/d/2", "b"]);
    const code = async (from: string, to: string) => (await bench.run("move", { from, to })).code;
    expect([
      await code("b", "c"),
      await code("c", "c/x"),
      await code("x", "y"),
      await code("b", "../b"),
    ]).toEqual(["already_exists", "invalid_path", "path_not_found", "path_escape"]);
  });

  it("[TOOL-21] delete files and folders", async () => {
    const bench = await ToolBench.with({ "a/1": "1", "a/2": "2", b: "3" });
    expect(await bench.run("delete", { path: "a" })).toEqual({
      content: "[what] Deleted 2 files\n[path] a",
      workspaceVersion: 2,
    });
    expect(await bench.run("delete", { path: "b" })).toMatchObject({
      content: "[what] Deleted 1 file\n[path] b",
    });
    const gone = await bench.run("delete", { path: "b" });
    expect([gone.code, fieldOf(gone.content, "how")]).toEqual([
      "path_not_found",
      expect.stringContaining("tree"),
    ]);
    expect((await bench.run("delete", { path: "." })).code).toBe("invalid_path");
  });
});

describe("all file tools", () => {
  it("[TOOL-22] tell the loop which of them change something, and look up their effect after a crash", async () => {
    const bench = await ToolBench.with({ a: "old", m: "", d: "" });
    const changing: [string, Record<string, unknown>, string[]][] = [
      ["write_file", { path: "w", content: "x" }, ["w"]],
      ["edit_file", { path: "a", edits: [{ old: "old", new: "new" }] }, ["a"]],
      ["move", { from: "m", to: "n" }, ["m", "n"]],
      ["delete", { path: "d" }, ["d"]],
    ];
    for (const name of ["tree", "glob", "grep", "read_file"]) {
      expect(bench.registry.get(name)).toMatchObject({
        readOnly: true,
        idempotent: true,
        findOutcome: undefined,
      });
    }
    for (const [name, args, paths] of changing) {
      const tool = bench.registry.get(name);
      expect(tool).toMatchObject({ readOnly: false, idempotent: false });
      const site = bench.site(name);
      expect(await tool?.findOutcome?.(site)).toBeNull();
      const { workspaceVersion, isError } = (await tool?.execute(args, site)) ?? {};
      expect(isError).toBeUndefined();
      const found = await tool?.findOutcome?.(site);
      expect(found).toMatchObject({ workspaceVersion });
      expect(blockOf(found?.content ?? "", "changed")).toEqual(paths);
    }
  });

  it("[TOOL-23] answer no call with more than 256 KiB", async () => {
    const path = (index: number) => `${"d".repeat(200)}/${"é".repeat(100)}/${"f".repeat(240)}${index}`;
    const bench = await ToolBench.with(
      Object.fromEntries(
        Array.from({ length: 1_000 }, (_, index) => [path(index), `x ${"y".repeat(600)}\n`.repeat(3)]),
      ),
    );
    const calls: [string, Record<string, unknown>][] = [
      ["tree", { maxFiles: 1_000 }],
      ["glob", { pattern: "**" }],
      ["grep", { pattern: "x", limit: 1_000, context: 20 }],
      ["grep", { pattern: "x".repeat(1_000), fixed: true }],
      ["read_file", { path: path(0) }],
    ];
    for (const [name, args] of calls) {
      const { content, isError } = await bench.run(name, args);
      expect([name, isError, bytesOf(content).length <= 256 * 1024]).toEqual([name, undefined, true]);
    }
    const { content } = await bench.run("grep", { pattern: "x", limit: 1_000 });
    expect(content).toMatch(/\(\d+ more lines do not fit\)/);
  });

  it("[TOOL-24] give the workspace's refusals to the model, and everything else to the loop", async () => {
    const failing = (caught: unknown) =>
      new ToolBench(() => ({
        stat: () => Promise.reject(caught),
        read: () => Promise.reject(caught),
        list: () => Promise.reject(caught),
        search: () => Promise.reject(caught),
        change: () => Promise.reject(caught),
      }));
    const calls: [string, Record<string, unknown>][] = [
      ["tree", {}],
      ["glob", { pattern: "x" }],
      ["grep", { pattern: "x" }],
      ["read_file", { path: "x" }],
      ["write_file", { path: "x", content: "" }],
      ["edit_file", { path: "x", edits: [{ old: "a", new: "b" }] }],
      ["move", { from: "x", to: "y" }],
      ["delete", { path: "x" }],
    ];
    for (const [name, args] of calls) {
      const refused = await failing(new LightAgentError("version_gone", "Too old.")).run(name, args);
      expect(refused).toMatchObject({
        isError: true,
        code: "version_gone",
        content: expect.stringMatching(/^\[what\] Too old\./),
      });
      await expect(failing(new TypeError("a bug")).run(name, args)).rejects.toThrow("a bug");
    }
  });

  it("[TOOL-24] refuse a path that leaves the workspace before they look at anything", async () => {
    const looked: string[] = [];
    const note = (what: string) => () => Promise.reject(new Error(String(looked.push(what))));
    const bench = new ToolBench(() => ({
      stat: note("stat"),
      read: note("read"),
      list: note("list"),
      search: note("search"),
      change: note("change"),
    }));
    for (const path of ["../x", "a/../../x", "/.."]) {
      const calls: [string, Record<string, unknown>][] = [
        ["tree", { path }],
        ["glob", { pattern: "x", path }],
        ["grep", { pattern: "x", path }],
        ["read_file", { path }],
        ["write_file", { path, content: "" }],
        ["edit_file", { path, edits: [{ old: "a", new: "b" }] }],
        ["move", { from: path, to: "y" }],
        ["move", { from: "y", to: path }],
        ["delete", { path }],
      ];
      for (const [name, args] of calls) {
        expect(await bench.run(name, args)).toMatchObject({
          isError: true,
          code: "path_escape",
          content: expect.stringContaining(path),
        });
      }
    }
    expect(looked).toEqual([]);
  });
});
