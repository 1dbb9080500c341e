import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryWorkspaceSource } from "../../src/runtime/workspace/memory-workspace.ts";
import type { SearchQuery } from "../../src/runtime/workspace/workspace.ts";
import { checkInvariants } from "./workspace-invariants.ts";
import { OVER_REST, OWNER, bytesOf, inWorkspace, unindex, write } from "./workspace-rig.ts";
import type { Rig } from "./workspace-rig.ts";
import { steppingBucket } from "./workspace-faults.ts";

type Files = Readonly<Record<string, Uint8Array>>;

/** Counts what is asked of R2. */
function counted(): { operations: number; wrap: (bucket: R2Bucket) => ReturnType<typeof steppingBucket> } {
  const count = {
    operations: 0,
    wrap: (bucket: R2Bucket) => steppingBucket(bucket, () => (count.operations += 1)),
  };
  return count;
}

/** How many texts and entries of trigrams there are. */
function indexed({ storage: { sql } }: Rig): [number, number] {
  const count = (table: string) =>
    sql.exec<{ count: number }>(`SELECT count(*) AS count FROM ${table}`).one().count;
  return [count("texts"), count("text_trigrams")];
}

async function fill({ restart }: Rig, files: Files): Promise<void> {
  const changes = Object.entries(files).map(([path, bytes]) => ({ kind: "write", path, bytes }) as const);
  await restart().writer.change("main", OVER_REST, changes);
}

const grep = (pattern: string, options: Partial<SearchQuery> = {}): SearchQuery => ({
  kind: "grep",
  pattern,
  ...options,
});

const WORDS = [
  ..."needle Needle NEEDLE foo bar foobar straße STRASSE İstanbul istanbul ISTANBUL Kelvin kelvin ſet set Σίσυφος σίσυφος".split(
    " ",
  ),
  ..."日本語 日本 😀😁😂 a.b a+b f(x) [1] {2} \"q\" 'r' \\d $x ^y été ÉTÉ été \uFFFD µm μm ab xyz".split(" "),
];
const ENDS = ["\n", "\r\n", "\n\n", " ", "\t", "", "\r", "-"];

const text = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...ENDS)), { maxLength: 12 })
  .map((parts) => parts.flat().join(""));

const content = fc.oneof(
  { weight: 8, arbitrary: text.map(bytesOf) },
  { weight: 1, arbitrary: text.map((body) => bytesOf(`\uFEFF\uFEFF${body}`)) },
  { weight: 1, arbitrary: text.map((body) => bytesOf(`${body}\0needle${body}`)) },
  { weight: 1, arbitrary: text.map((body) => bytesOf(`${"x".repeat(9_000)}\0${body} needle`)) },
  {
    weight: 1,
    arbitrary: text.map((body) => bytesOf(`${"long ".repeat(2_000)}${body}${"y".repeat(3_000)}`)),
  },
  // Of several parts.
  {
    weight: 3,
    arbitrary: fc
      .array(text, { minLength: 2, maxLength: 4 })
      .map((bodies) => bytesOf(bodies.join(`${"\nfiller of many lines".repeat(900)}\n`))),
  },
  {
    weight: 1,
    arbitrary: text.map((body) => new Uint8Array([...bytesOf(body), 0xff, 0xc3, ...bytesOf(body), 0xe2])),
  },
);

const quoted = (word: string): string => word.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS).map(quoted) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ..."\\w+ . .* [a-z] \\b ^ $ \\s? \\pL (?i) \\d \\x6e [^n] n e l foo? (?:bar)+ (ß|ss) s{2} \\Qa.b\\E \\PL x{0} (?:need|foo) \\A".split(
        " ",
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS))
      .map(([a, b]) => `(${quoted(a)}|${quoted(b)})`),
  },
);
const query = fc.record<SearchQuery>(
  {
    kind: fc.constant("grep"),
    pattern: fc.oneof(
      fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join("")),
      fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 2 }).map((words) => words.join("")),
    ),
    fixed: fc.boolean(),
    caseSensitive: fc.boolean(),
    word: fc.boolean(),
    context: fc.constantFrom(0, 0, 2),
    limit: fc.constantFrom(1, 7, 1_000),
  },
  { requiredKeys: ["kind", "pattern"] },
);

describe("the index of texts", () => {
  it("[FILE-60] a search of what is indexed asks nothing of R2", async () => {
    const r2 = counted();
    await inWorkspace(
      async (rig) => {
        const many = Array.from({ length: 100 }, (_, n) => [
          `d${n % 9}/f${n}`,
          bytesOf(`line\nvalue ${n};\nend`),
        ]);
        await fill(rig, {
          ...Object.fromEntries(many),
          large: bytesOf(`${"0123456789\n".repeat(190_000)}value 7;`),
        });
        const { reader } = rig.enter();
        const found = async (pattern: string, options?: Partial<SearchQuery>) =>
          (await reader.search("main", grep(pattern, options))).matches?.map(({ path }) => path);
        expect(await found("value 7;", { fixed: true })).toEqual(["d7/f7", "large"]);
        expect(await found("VALUE 89;", { caseSensitive: false })).toEqual(["d8/f89"]);
        expect((await found("^v.*[05];$"))?.length).toBe(20);
        expect(await found("no such text")).toEqual([]);
        expect(await found("value 8", { path: "d8/f8" })).toEqual(["d8/f8"]);
        expect(r2.operations).toBe(0);
        await rig
          .enter()
          .writer.change("main", OVER_REST, [write(".gitignore", "d1\n"), write("d2/.gitignore", "f2")]);
        r2.operations = 0;
        const shown = await found("value \\d;", { hideIgnored: true });
        expect(shown).toEqual([
          "d0/f0",
          "d0/f9",
          "d3/f3",
          "d4/f4",
          "d5/f5",
          "d6/f6",
          "d7/f7",
          "d8/f8",
          "large",
        ]);
        await reader.list({ branch: "main" }, "", { depth: 1, limit: 99, hideIgnored: true });
        expect(r2.operations).toBe(0);
      },
      { bucket: r2.wrap },
    );
  });

  it("[FILE-62] an indexed search finds exactly what a search of all texts finds", async () => {
    const found = { patterns: new Set<string>(), matches: 0, empty: 0 };
    for (let round = 0; round < 3; round += 1) {
      await inWorkspace(async (rig) => {
        const samples = fc.sample(content, { numRuns: 24, seed: 100 + round });
        const files = Object.fromEntries(samples.map((bytes, n) => [`d${n % 3}/${n}`, bytes]));
        await fill(rig, files);
        // Some that came later, one that went, one that is there twice, and some that are not indexed yet.
        const { writer, reader } = rig.enter();
        await writer.change("main", OVER_REST, [
          { kind: "delete", path: "d0/0" },
          write("d1/1", "needle, changed\r\n日本語 straße"),
          { kind: "move", from: "d2/2", to: "moved" },
          { kind: "write", path: "twice", bytes: files["d0/3"] ?? new Uint8Array() },
        ]);
        if (round === 2) unindex(rig);
        const plain = new MemoryWorkspaceSource().open({ writer: { by: OWNER } });
        for (const { path, sha256, size } of reader.view({ branch: "main" }).files("")) {
          const { bytes } = await reader.read({ branch: "main" }, path, { offset: 0, length: size });
          expect(sha256).not.toBe("");
          await plain.change([{ kind: "write", path, bytes }]);
        }
        const run = async (search: () => Promise<unknown>): Promise<unknown> =>
          search().catch((caught: unknown) => (caught as { code?: string }).code);
        for (const asked of fc.sample(query, { numRuns: 180, seed: round })) {
          const expected = await run(() => plain.search(asked));
          expect([asked, await run(() => reader.search("main", asked))]).toEqual([asked, expected]);
          if (typeof expected === "string") continue;
          found.patterns.add(asked.pattern);
          const length = (expected as { matches?: unknown[] }).matches?.length ?? 0;
          found.matches += length;
          if (length === 0) found.empty += 1;
        }
        await checkInvariants(rig);
      });
    }
    expect(found.patterns.size).toBeGreaterThan(300);
    expect([found.matches > 500, found.empty > 100]).toEqual([true, true]);
  });

  it("[FILE-88] of a large text only the parts are read that hold the literals; lines keep their numbers and surroundings", async () => {
    await inWorkspace(async (rig) => {
      const lines = Array.from(
        { length: 20_000 },
        (_, n) => `line ${n + 1} of a large file${n % 5_000 === 4_999 ? " needle" : ""}`,
      );
      lines[7] = "x".repeat(40_000);
      await fill(rig, { large: bytesOf(lines.join("\n")), other: bytesOf("none") });
      const { reader, store } = rig.enter();
      const [parts] = indexed(rig);
      expect(parts).toBeGreaterThan(30);
      const found = await reader.search("main", grep("of a .* needle$"));
      expect(found.matches?.map(({ line, text: shown }) => [line, shown])).toEqual(
        [5_000, 10_000, 15_000, 20_000].map((line) => [line, lines[line - 1]]),
      );
      expect(store.texts.holding('"nee" AND "eed"').size).toBe(1);
      expect([...store.texts.holding('"nee" AND "eed"').values()].flat()).toHaveLength(4);
      const around = await reader.search("main", grep("needle", { context: 1, limit: 1 }));
      expect(around.matches).toEqual([
        { path: "large", line: 5_000, text: lines[4_999], before: [lines[4_998]], after: [lines[5_000]] },
      ]);
      expect((await reader.search("main", grep("^x+$"))).matches?.[0]?.line).toBe(8);
      await checkInvariants(rig);
    });
  });

  it("[FILE-61] letters that are equal without their case are so for the index", async () => {
    await inWorkspace(async (rig) => {
      await fill(rig, {
        kelvin: bytesOf("ab\u212A"),
        long: bytesOf("ab\u017F"),
        dotted: bytesOf("ab\u0130"),
        sharp: bytesOf("abß"),
        capital: bytesOf("ABẞ"),
      });
      const { reader } = rig.enter();
      const found = async (pattern: string) =>
        (await reader.search("main", grep(pattern, { caseSensitive: false }))).matches?.map(
          ({ path }) => path,
        );
      expect([await found("abk"), await found("ABS")]).toEqual([["kelvin"], ["long"]]);
      expect([await found("abi"), await found("abß")]).toEqual([[], ["capital", "sharp"]]);
    });
  });

  it("[FILE-63] a text is indexed once, as long as some branch's head names it", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      const change = (branch: string, ...changes: Parameters<typeof writer.change>[2]) =>
        writer.change(branch, OVER_REST, changes);
      await change("main", write("a", "same"), write("b", "same"), write("c", "own"));
      expect(indexed(rig)).toEqual([2, 2]);
      await change("main", write("a", "new"), { kind: "delete", path: "c" });
      expect(indexed(rig)).toEqual([2, 2]);
      await change("main", { kind: "move", from: "b", to: "d" });
      writer.fork("side", { branch: "main" });
      await change("main", write("d", "newer"), { kind: "delete", path: "a" });
      // What the fork still has stays.
      expect(indexed(rig)).toEqual([3, 3]);
      await checkInvariants(rig);
      await change("side", write("d", "newer"), { kind: "delete", path: "a" });
      expect(indexed(rig)).toEqual([1, 1]);
      await change("side", { kind: "write", path: "image", bytes: new Uint8Array(4) });
      expect(indexed(rig)).toEqual([1, 1]);
      await checkInvariants(rig);
    });
  });

  it("[FILE-64] what is not indexed is read from R2 and indexed by the search that reads it, within bounds", async () => {
    const r2 = counted();
    await inWorkspace(
      async (rig) => {
        // Five of 4 MB are more than one search indexes.
        const many = Array.from({ length: 5 }, (_, n) => [
          `f${n}`,
          bytesOf(`${"x".repeat(4_000_000)}\nnumber ${n}`),
        ]);
        await fill(rig, {
          ...Object.fromEntries(many),
          image: new Uint8Array(9),
          small: bytesOf("number 0"),
        });
        unindex(rig);
        const { reader, writer } = rig.enter();
        const search = async (pattern: string) => {
          r2.operations = 0;
          const { matches, notSearched } = await reader.search("main", grep(pattern));
          return [matches?.map(({ path }) => path), notSearched?.map(({ path }) => path), r2.operations];
        };
        expect(await search("number 0$")).toEqual([["f0", "small"], ["image"], 7]);
        expect(await search("number 4")).toEqual([["f4"], ["image"], 1]);
        expect(await search("number 4")).toEqual([["f4"], ["image"], 0]);
        // A restored text has left the index before, and comes back the same way.
        await writer.change("main", OVER_REST, [write("f1", "other")]);
        writer.restore("main", 1, OVER_REST);
        expect(await search("number 1$")).toEqual([["f1"], ["image"], 1]);
        expect(await search("number 1$")).toEqual([["f1"], ["image"], 0]);
        await checkInvariants(rig);
      },
      { bucket: r2.wrap },
    );
  });

  it("[FILE-64] a large upload is indexed by the first search, in rows of at most a megabyte", async () => {
    const r2 = counted();
    await inWorkspace(
      async (rig) => {
        const { files, reader } = rig.enter();
        const body = bytesOf(`${"😀 line of a large file\n".repeat(120_000)}needle`);
        const request = new Request("https://workspace/files?path=big", { method: "PUT", body });
        expect((await files.respond(request, OWNER)).status).toBe(201);
        expect(indexed(rig)).toEqual([0, 0]);
        for (const operations of [1, 0]) {
          r2.operations = 0;
          const { matches } = await reader.search("main", grep("need[l]e"));
          expect([matches, r2.operations]).toEqual([
            [{ path: "big", line: 120_001, text: "needle" }],
            operations,
          ]);
        }
        const rows = rig.storage.sql
          .exec<{ size: number }>("SELECT octet_length(body) AS size FROM texts")
          .toArray();
        expect(rows.length).toBeGreaterThan(2);
        for (const { size } of rows) expect(size).toBeLessThanOrEqual(1_000_000);
        await checkInvariants(rig);
      },
      { bucket: r2.wrap },
    );
  });
});
