import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOf } from "../../conformance/workspace-steps.ts";
import { blockOf, fieldOf, ToolBench } from "./tool-bench.ts";

const KIB = 1024;

/** Follows `[next]` from a first call to the end; answers with the lines by number, parts of one line joined. */
async function readAll(bench: ToolBench, path: string): Promise<string[]> {
  const lines: string[] = [];
  let args: Record<string, unknown> | undefined = { path };
  for (let calls = 0; args; calls += 1) {
    if (calls > 200) throw new Error("does not end");
    const { content, isError } = await bench.run("read_file", args);
    expect([isError, bytesOf(content).length <= 256 * KIB]).toEqual([undefined, true]);
    const goesOn = Number(args.byteOffset ?? 0) > 0;
    for (const [index, line] of blockOf(content, "content").entries()) {
      const [, number = "", text = ""] = /^(\d+) \| (.*)$/s.exec(line) ?? [];
      if (goesOn && index === 0) lines[Number(number) - 1] += text;
      else {
        expect(Number(number)).toBe(lines.length + 1);
        lines.push(text);
      }
    }
    const next = fieldOf(content, "next");
    args =
      next === undefined
        ? undefined
        : (JSON.parse(next.slice("read_file(".length, -1)) as Record<string, unknown>);
  }
  return lines;
}

describe("read_file", () => {
  it("[TOOL-12] shows a small file whole, even if a range was asked for", async () => {
    const bench = await ToolBench.with({ "src/a.ts": "\uFEFFone\r\ntwo\r\n\r\nfour" });
    expect(await bench.lines("read_file", { path: "./src/a.ts" })).toEqual([
      "[what] Content of a file",
      "[path] src/a.ts",
      "[size_bytes] 19",
      "[total_lines] 4",
      "[complete] yes",
      "[range] lines 1-4",
      "[content]",
      "1 | one",
      "2 | two",
      "3 | ",
      "4 | four",
    ]);
    const ranged = (await bench.run("read_file", { path: "src/a.ts", startLine: 2, endLine: 2 })).content;
    expect([fieldOf(ranged, "complete"), blockOf(ranged, "content").length]).toEqual(["yes", 4]);
    expect(fieldOf(ranged, "reason")).toContain("shown whole");
  });

  it("[TOOL-12] shows an empty file", async () => {
    const bench = await ToolBench.with({ a: "" });
    const { content } = await bench.run("read_file", { path: "a" });
    expect([
      fieldOf(content, "total_lines"),
      fieldOf(content, "complete"),
      fieldOf(content, "range"),
    ]).toEqual(["0", "yes", "none"]);
    expect(blockOf(content, "content")).toEqual(["(empty)"]);
  });

  it("[TOOL-13] shows a window of a large file, and the exact call that goes on", async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index + 1} ${"x".repeat(40)}`);
    const bench = await ToolBench.with({ big: lines.join("\n") });
    const first = (await bench.run("read_file", { path: "big" })).content;
    expect([fieldOf(first, "total_lines"), fieldOf(first, "complete")]).toEqual(["5000", "no"]);
    const shown = blockOf(first, "content").length;
    expect(fieldOf(first, "next")).toBe(`read_file({"path":"big","startLine":${shown + 1}})`);
    const range = (await bench.run("read_file", { path: "big", startLine: 100, endLine: 102 })).content;
    expect(blockOf(range, "content")).toEqual(
      lines.slice(99, 102).map((line, index) => `${100 + index} | ${line}`),
    );
    expect(fieldOf(range, "range")).toBe("lines 100-102");
    const cut = (await bench.run("read_file", { path: "big", startLine: 10, endLine: 4_000 })).content;
    expect(fieldOf(cut, "next")).toMatch(/^read_file\(\{"path":"big","startLine":\d+,"endLine":4000\}\)$/);
    const end = (await bench.run("read_file", { path: "big", startLine: 4_999, endLine: 9_999 })).content;
    expect([blockOf(end, "content").length, fieldOf(end, "next")]).toEqual([2, undefined]);
    expect(await readAll(bench, "big")).toEqual(lines);
  });

  it("[TOOL-13] refuses ranges that cannot be", async () => {
    const bench = await ToolBench.with({ big: "x\n".repeat(60 * KIB), long: `${"x".repeat(150 * KIB)}\ny` });
    const refused = async (args: Record<string, unknown>) => {
      const { code, content } = await bench.run("read_file", args);
      return [code, fieldOf(content, "what")];
    };
    const beyond = expect.stringContaining("beyond the end: the file has 61440 lines");
    expect(await refused({ path: "big", startLine: 61_441 })).toEqual(["invalid_arguments", beyond]);
    expect(await refused({ path: "big", startLine: 9, endLine: 8 })).toEqual([
      "invalid_arguments",
      expect.stringContaining("before"),
    ]);
    expect(await refused({ path: "big", byteOffset: 1 })).toEqual([
      "invalid_arguments",
      expect.stringContaining("same line"),
    ]);
    const shorter = expect.stringContaining("shorter");
    expect(await refused({ path: "long", startLine: 1, endLine: 1, byteOffset: 150 * KIB + 1 })).toEqual([
      "invalid_arguments",
      shorter,
    ]);
    expect((await bench.run("read_file", { path: "big", startLine: 0 })).code).toBe("invalid_arguments");
  });

  it("[TOOL-14] goes through an overlong line by byte offsets, whole characters only", async () => {
    const long = "é😀x".repeat(40_000);
    const bench = await ToolBench.with({ long: `first\n${long}\nlast` });
    const { content } = await bench.run("read_file", { path: "long", startLine: 2 });
    expect(fieldOf(content, "next")).toMatch(
      /^read_file\(\{"path":"long","startLine":2,"endLine":2,"byteOffset":\d+\}\)$/,
    );
    expect(await readAll(bench, "long")).toEqual(["first", long, "last"]);
  });

  it("[TOOL-13] shows every line once, whatever the file", async () => {
    const line = fc.oneof(
      fc.constantFrom("", "x", "é", "\tif (a) {"),
      fc.nat(150_000).map((length) => "long é".repeat(Math.ceil(length / 6))),
      fc.nat(3_000).map((count) => "\n".repeat(count)),
    );
    const file = fc.array(line, { maxLength: 40 }).map((lines) => lines.join("\n"));
    await fc.assert(
      fc.asyncProperty(file, async (text) => {
        const bench = await ToolBench.with({ f: text });
        const expected = text.split("\n");
        if (expected.at(-1) === "") expected.pop();
        const lines = expected.length === 0 ? [] : await readAll(bench, "f");
        expect(lines.length).toBe(expected.length);
        expect(lines.every((shown, index) => shown === expected[index])).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  it("[TOOL-14] shows bytes that are not UTF-8, within the bounds, and says so", async () => {
    const bench = new ToolBench();
    const bytes = new Uint8Array(300 * KIB).fill(0xe9);
    await bench.workspace.change([{ kind: "write", path: "latin", bytes }]);
    const { content } = await bench.run("read_file", { path: "latin" });
    expect(bytesOf(content).length).toBeLessThan(256 * KIB);
    expect(fieldOf(content, "hint")).toContain("not UTF-8");
    expect((await readAll(bench, "latin"))[0]).toHaveLength(bytes.length);
  });

  it("[TOOL-14] does not count the lines of a very large file beyond its window", async () => {
    const bench = await ToolBench.with({ huge: "0123456789abcdef\n".repeat(1_200_000) });
    const { content } = await bench.run("read_file", {
      path: "huge",
      startLine: 1_000_000,
      endLine: 1_000_001,
    });
    expect(fieldOf(content, "total_lines")).toBe("more than 1000001");
    expect(blockOf(content, "content")).toEqual(["1000000 | 0123456789abcdef", "1000001 | 0123456789abcdef"]);
    const end = await bench.run("read_file", { path: "huge", startLine: 1_200_000 });
    expect([fieldOf(end.content, "total_lines"), fieldOf(end.content, "next")]).toEqual([
      "1200000",
      undefined,
    ]);
  });

  it("[TOOL-15] refuses binary files, folders and files that change while they are read", async () => {
    const bench = new ToolBench((workspace) => ({
      read: async (path, range) => {
        const content = await workspace.read(path, range);
        return range && range.offset > 0
          ? { ...content, entry: { ...content.entry, sha256: "other" } }
          : content;
      },
    }));
    const other = bench.workspace;
    await other.change([
      { kind: "write", path: "d/binary", bytes: bytesOf(`${"x".repeat(8_000)}\0`) },
      { kind: "write", path: "text", bytes: bytesOf(`${"x".repeat(9_000)}\0`) },
      { kind: "write", path: "large", bytes: bytesOf("x\n".repeat(KIB * KIB)) },
    ]);
    const code = async (path: string) => (await bench.run("read_file", { path })).code;
    expect([
      await code("d/binary"),
      await code("d"),
      await code("."),
      await code("nothing"),
      await code("text"),
    ]).toEqual(["binary_file", "is_directory", "is_directory", "path_not_found", undefined]);
    expect(await code("large")).toBe("write_conflict");
  });
});
