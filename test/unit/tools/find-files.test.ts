import { describe, expect, it } from "vitest";
import { bytesOf } from "../../conformance/workspace-steps.ts";
import { blockOf, fieldOf, ToolBench } from "./tool-bench.ts";

describe("tree", () => {
  it("[TOOL-8] shows folders first, then files with sizes, and hides what is ignored", async () => {
    const bench = await ToolBench.with({
      "README.md": "x".repeat(2_048),
      "src/b.ts": "12345",
      "src/a/deep.ts": "",
      "B.txt": "x",
      ".gitignore": "*.log\n",
      "debug.log": "x",
      "node_modules/zod/index.js": "x",
    });
    const { content, isError } = await bench.run("tree", {});
    expect(isError).toBeUndefined();
    expect(content.split("\n")).toEqual([
      "[what] Files and folders",
      "[path] .",
      "[shown] 2 folders, 5 of 5 files",
      "[ignored] 2 files that .gitignore, .git or node_modules hide",
      "[content]",
      "src/ (2 files)",
      "  a/ (1 file)",
      "    deep.ts 0 B",
      "  b.ts 5 B",
      ".gitignore 6 B",
      "B.txt 1 B",
      "README.md 2.0 KiB",
    ]);
    expect(blockOf((await bench.run("tree", { path: "/src/" })).content, "content")).toEqual([
      "a/ (1 file)",
      "  deep.ts 0 B",
      "b.ts 5 B",
    ]);
    expect(blockOf((await bench.run("tree", { path: "node_modules" })).content, "content")).toHaveLength(2);
    expect(blockOf((await bench.run("tree", { depth: 1 })).content, "content")[0]).toBe("src/ (2 files)");
    expect(blockOf((await new ToolBench().run("tree", {})).content, "content")).toEqual(["(empty)"]);
  });

  it("[TOOL-8] shows 300 entries, 1,000 at most, and says how many files are left out", async () => {
    const bench = await ToolBench.with(
      Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`d/${index}`, ""])),
    );
    const shown = async (args: Record<string, unknown>) => {
      const { content } = await bench.run("tree", args);
      return [blockOf(content, "content").length, fieldOf(content, "hint")?.split(":")[0]];
    };
    expect(await shown({})).toEqual([300, "1201 files left out"]);
    expect(await shown({ maxFiles: 5_000 })).toEqual([1_000, "501 files left out"]);
    expect(await shown({ maxFiles: 1 })).toEqual([1, "1500 files left out"]);
  });
});

describe("glob", () => {
  it("[TOOL-9] lists the paths that match, below a folder, without .git and node_modules", async () => {
    const bench = await ToolBench.with({
      "a.ts": "",
      "src/b.ts": "",
      "src/.c.ts": "",
      "node_modules/d.ts": "",
      ".git/e.ts": "",
    });
    const { content } = await bench.run("glob", { pattern: "**/*.ts" });
    expect(content.split("\n")).toEqual([
      "[what] Files whose path matches",
      "[pattern] **/*.ts",
      "[path] .",
      "[found] 3 files",
      "[content]",
      "a.ts",
      "src/.c.ts",
      "src/b.ts",
    ]);
    expect(blockOf((await bench.run("glob", { pattern: "*.ts", path: "./src" })).content, "content")).toEqual(
      ["src/.c.ts", "src/b.ts"],
    );
    expect(blockOf((await bench.run("glob", { pattern: "node_modules/*" })).content, "content")).toEqual([
      "node_modules/d.ts",
    ]);
    const none = await bench.run("glob", { pattern: "b.ts" });
    expect(fieldOf(none.content, "hint")).toContain("**/b.ts");
  });

  it("[TOOL-9] says that there is more than it shows", async () => {
    const bench = await ToolBench.with(
      Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`f${index}`, ""])),
    );
    const { content } = await bench.run("glob", { pattern: "f*" });
    expect(fieldOf(content, "found")).toContain("1000 shown, and there are more");
    expect(blockOf(content, "content")).toHaveLength(1_000);
  });
});

describe("grep", () => {
  it("[TOOL-10] shows path:line:text, counts, and what was not searched", async () => {
    const bench = await ToolBench.with({
      "b.ts": "find me\r\nnot\r\nfind me too",
      "a/c.ts": "find me",
      "node_modules/x": "find me",
      ".gitignore": "dist\n",
      "dist/x": "find me",
    });
    await bench.workspace.change([{ kind: "write", path: "z.png", bytes: bytesOf("\0find me") }]);
    expect(await bench.lines("grep", { pattern: "find \\w+" })).toEqual([
      "[what] Lines that match",
      "[pattern] find \\w+",
      "[path] .",
      "[matches] 3 lines in 2 files",
      "[not_searched] 1 file: z.png (binary)",
      "[content]",
      "a/c.ts:1:find me",
      "b.ts:1:find me",
      "b.ts:3:find me too",
    ]);
    expect(
      blockOf((await bench.run("grep", { pattern: "me", path: "node_modules" })).content, "content"),
    ).toEqual(["node_modules/x:1:find me"]);
    expect(blockOf((await bench.run("grep", { pattern: "me", path: "a/c.ts" })).content, "content")).toEqual([
      "a/c.ts:1:find me",
    ]);
    expect(fieldOf((await bench.run("grep", { pattern: "find", limit: 1 })).content, "matches")).toContain(
      "there are more",
    );
    expect(fieldOf((await bench.run("grep", { pattern: "a(b)" })).content, "hint")).toContain("fixed");
    expect(fieldOf((await bench.run("grep", { pattern: "FIND" })).content, "hint")).toContain(
      "caseSensitive",
    );
  });

  it("[TOOL-10] shows each line of overlapping contexts once", async () => {
    const text = Array.from({ length: 20 }, (_, index) =>
      index === 3 || index === 5 || index === 15 ? "hit" : `${index + 1}`,
    ).join("\n");
    const bench = await ToolBench.with({ a: text, b: "hit" });
    const { content } = await bench.run("grep", { pattern: "hit", context: 2 });
    expect(blockOf(content, "content").join(" ")).toBe(
      "a-2-2 a-3-3 a:4:hit a-5-5 a:6:hit a-7-7 a-8-8 -- a-14-14 a-15-15 a:16:hit a-17-17 a-18-18 -- b:1:hit",
    );
  });

  it.each([".", ".*", ".+", "^", "$", "^.*$", "*", "(.*)", "^.+$"])(
    "[TOOL-11] refuses %s, which matches every line",
    async (pattern) => {
      const bench = await ToolBench.with({ a: "x" });
      const result = await bench.run("grep", { pattern });
      expect(result).toMatchObject({ isError: true, code: "invalid_pattern" });
      expect(fieldOf(result.content, "how")).toContain("read_file");
      expect((await bench.run("grep", { pattern, fixed: true })).isError).toBeUndefined();
    },
  );

  it("[TOOL-11] explains an invalid pattern", async () => {
    const result = await new ToolBench().run("grep", { pattern: "(?<!a)b" });
    expect(result).toMatchObject({ isError: true, code: "invalid_pattern" });
    expect(result.content).toMatch(/RE2 syntax: look-around/);
    expect(fieldOf(result.content, "at")).toContain("(?<!a)");
    expect((await new ToolBench().run("grep", { pattern: "" })).code).toBe("invalid_pattern");
  });
});
