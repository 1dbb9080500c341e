import { expect, it } from "vitest";
import { withLimits } from "../../../src/runtime/protocol/limits.ts";
import type { Limits } from "../../../src/runtime/protocol/limits.ts";
import { searchFiles } from "../../../src/runtime/workspace/search.ts";
import type { SearchableFile } from "../../../src/runtime/workspace/search.ts";
import type { SearchQuery, SearchResult } from "../../../src/runtime/workspace/workspace.ts";

/** Searches texts; tells which were read. */
async function search(
  texts: Readonly<Record<string, string>>,
  query: Partial<SearchQuery>,
  limits: Partial<Limits> = {},
): Promise<SearchResult & { read: string[] }> {
  const read: string[] = [];
  async function* files(): AsyncGenerator<SearchableFile> {
    for (const [path, text] of Object.entries(texts)) {
      yield { path, size: text.length, text: () => (read.push(path), text) };
    }
  }
  const result = await searchFiles({ kind: "grep", pattern: "x", ...query }, files(), withLimits(limits));
  return { ...result, read };
}

it("[FILE-17] reads no file that the query is not about", async () => {
  const texts = { a: "x", "b.ts": "x", "c/d.ts": "x" };
  expect((await search(texts, { include: ["*.ts"], exclude: ["c"] })).read).toEqual(["b.ts"]);
  expect((await search(texts, { kind: "glob", pattern: "**" })).read).toEqual([]);
  expect((await search(texts, { limit: 1 })).read).toEqual(["a", "b.ts"]);
});

it("[FILE-16] names the files that are too large, or beyond what may be scanned", async () => {
  const texts = { a: "x123", b: "x".repeat(100), c: "x12", d: "x12345678", e: "x" };
  const result = await search(texts, {}, { searchFileBytes: 50, searchScanBytes: 10 });
  expect(result.read).toEqual(["a", "c", "e"]);
  expect(result.notSearched).toEqual([
    { path: "b", reason: "larger than 50 bytes" },
    { path: "d", reason: "the search had read 10 bytes" },
  ]);
  expect([result.notSearchedCount, result.more]).toEqual([2, false]);
});

it("[FILE-16] names the first of many files that it cannot search, and counts all", async () => {
  const texts = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`f${index + 10}`, "x".repeat(9)]),
  );
  const result = await search(texts, {}, { searchFileBytes: 8, searchUnsearchedNamed: 3 });
  expect(result.notSearched?.map(({ path }) => path)).toEqual(["f10", "f11", "f12"]);
  expect(result.notSearchedCount).toBe(20);
});

it("[FILE-19] scans less text for a pattern that may cost more for each character", async () => {
  const texts = { a: "x".repeat(100), b: "x".repeat(100) };
  const limits = { searchWork: 5_000 };
  expect((await search(texts, { pattern: "x" }, limits)).read).toEqual(["a", "b"]);
  const costly = await search(texts, { pattern: "x{40}y?" }, limits);
  expect(costly.read).toEqual(["a"]);
  expect(costly.notSearched).toEqual([{ path: "b", reason: expect.stringContaining("too complex") }]);
});

it("[FILE-16] keeps an answer within its bounds, however much is asked for", async () => {
  const line = "x".repeat(400);
  const texts = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`f${index}`, `${line}\n`.repeat(50)]),
  );
  const query = { context: 1_000, limit: 1_000_000 };
  const result = await search(texts, query, {
    searchContextLines: 3,
    searchResultChars: 100_000,
    searchMatchesMax: 500,
  });
  expect(result.more).toBe(true);
  expect(result.matches?.[10]?.before).toHaveLength(3);
  const shown =
    result.matches?.flatMap(({ text, before = [], after = [] }) => [text, ...before, ...after]).join("") ??
    "";
  expect(shown.length).toBeLessThan(105_000);
  const many = await search(texts, { limit: 1_000_000 }, { searchMatchesMax: 500 });
  expect([many.matches?.length, many.more]).toEqual([500, true]);
});

it("[FILE-16] finds the same lines in a text as line by line, for patterns that could span lines", async () => {
  const text = "foo\nbar foo\r\n\r\n baz\nfoo bar\n\n";
  const lines = ["foo", "bar foo", "", " baz", "foo bar", ""];
  for (const pattern of [
    "foo\\s",
    "\\s",
    "^",
    "$",
    "^$",
    "foo$",
    "[^f]",
    "o\\b",
    "\\Bo",
    "(?s)o.b",
    "\\Afoo",
    "o\\z",
    "(?-m)^foo",
    "x*",
  ]) {
    const { matches = [] } = await search({ a: text }, { pattern });
    const single = await Promise.all(
      lines.map(async (line) => (await search({ a: `${line}\n` }, { pattern })).matches?.length),
    );
    expect([pattern, matches.map(({ line }) => line)]).toEqual([
      pattern,
      single.flatMap((count, index) => (count ? [index + 1] : [])),
    ]);
  }
});
