import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MemoryWorkspaceSource } from "../../../src/runtime/workspace/memory-workspace.ts";
import type { SearchQuery, Workspace } from "../../../src/runtime/workspace/workspace.ts";

/**
 * Where the two differ on purpose, and what makes ripgrep search as a workspace does:
 *
 * | RE2, and so a workspace | ripgrep | made equal by |
 * |---|---|---|
 * | `\w` `\d` `\s` `\b` know ASCII | Unicode | `(?-u:…)` or a class in their place |
 * | a file with NUL in its first 8 KiB is binary and named | the search of a file ends at a NUL | such files are left out here, `--text` for later NULs |
 * | a line ends before `\r\n` | before `\n` | `--crlf`, no pattern here that matches a `\r` there |
 * | UTF-16 is binary | is converted | `--encoding utf-8` |
 * | what is not UTF-8 is U+FFFD | bytes that `.` does not match | no pattern here that matches U+FFFD |
 * | files with a dot, ignored files: all are searched | passed over | `--hidden --no-ignore` |
 * | `*` in globs without `/` is about names, `include` may name folders | gitignore's rules | globs of names with `*` alone |
 */
const RIPGREP = ["--no-config", "--no-ignore", "--hidden", "--text", "--crlf", "--encoding", "utf-8"];
const SHOWN = [
  "--line-number",
  "--no-heading",
  "--with-filename",
  "--sort",
  "path",
  "--color",
  "never",
  "--null",
];

const PATTERNS = 600;
const SEED = 20_261_201;

const WORDS = [
  ..."needle Needle NEEDLE foo bar foobar foo_bar straße STRASSE Kelvin kelvin \u212Aelvin \u017Fet set Set Σίσυφος σίσυφοσ".split(
    " ",
  ),
  ..."日本語 日本 😀😁 a.b a+b f(x) [1] {2} \"q\" 'r' $x été ÉTÉ x² x½ Ⅷ Ⓐb a‿b 42 4711 ab xyz import export".split(
    " ",
  ),
];
const ENDS = ["\n", "\n", "\r\n", "\n\n", " ", " ", "\t", "", "-", ", "];
const NAMES = ["a.ts", "b.js", "c.d.ts", "d.md", "e.ts", ".hidden.ts", "ü.md"];

const body = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...ENDS)), { maxLength: 40 })
  .map((parts) => parts.flat().join(""));
const text = fc.oneof(
  { weight: 8, arbitrary: body },
  { weight: 1, arbitrary: body.map((short) => `\uFEFF${short}`) },
  { weight: 1, arbitrary: body.map((short) => `${"long ".repeat(2_000)}${short}${"y".repeat(3_000)}`) },
  { weight: 1, arbitrary: body.map((short) => `${`${"~".repeat(100)}\n`.repeat(90)}\0${short}\n\0 needle`) },
);

/** A pattern for either side. */
interface Both {
  readonly re2: string;
  readonly ripgrep: string;
}
const same = (source: string): Both => ({ re2: source, ripgrep: source });
const quoted = (word: string): string => word.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");

const word = fc.constantFrom(...WORDS);
const piece: fc.Arbitrary<Both> = fc.oneof(
  { weight: 6, arbitrary: word.map((chosen) => same(quoted(chosen))) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ..."[a-z]+ [A-Z]{2} [a-z]{2,4} x* (?:bar)+ foo? n e l [0-9]+ \\pL+ \\p{Greek} (?i:need) (ß|s) (?:need|fo+) [äéß] \\. 4{1}7"
        .split(" ")
        .map(same),
      { re2: "\\w+", ripgrep: "[0-9A-Za-z_]+" },
      { re2: "\\d", ripgrep: "[0-9]" },
      { re2: "\\b", ripgrep: "(?-u:\\b)" },
      { re2: "[\\t ]", ripgrep: "[\\t ]" },
    ),
  },
  { weight: 1, arbitrary: fc.tuple(word, word).map(([a, b]) => same(`(?:${quoted(a)}|${quoted(b)})`)) },
);
const pattern: fc.Arbitrary<Both> = fc
  .tuple(
    fc.constantFrom("", "", "", "^"),
    fc.array(piece, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "", "", "$"),
  )
  .map(([head, pieces, tail]) => ({
    re2: head + pieces.map(({ re2 }) => re2).join("") + tail,
    ripgrep: head + pieces.map(({ ripgrep }) => ripgrep).join("") + tail,
  }));

const query = fc.record({
  pattern: fc.oneof(
    { weight: 2, arbitrary: pattern },
    word.map((chosen) => same(quoted(chosen))),
  ),
  plain: fc.tuple(word, fc.constantFrom("", "", " ", "\t", "-", ", ")).map(([a, b]) => a + b),
  fixed: fc.boolean(),
  caseSensitive: fc.boolean(),
  word: fc.boolean(),
  context: fc.constantFrom(0, 0, 1, 3),
  include: fc.constantFrom([], [], ["*.ts"], ["*.md", "*.js"], ["*.d.ts"]),
  exclude: fc.constantFrom([], [], ["*.md"], [".*"]),
});
type Asked = typeof query extends fc.Arbitrary<infer Query> ? Query : never;

describe("a search beside ripgrep", () => {
  const folder = mkdtempSync(join(tmpdir(), "light-agent-ripgrep-"));
  const workspace: Workspace = new MemoryWorkspaceSource().open({
    writer: { by: { kind: "system", id: "test" } },
  });

  beforeAll(async () => {
    const texts = fc.sample(text, { numRuns: 60, seed: SEED });
    const files = texts.map((content, n): [string, Uint8Array] => [
      `d${n % 4}/${n}/${NAMES[n % NAMES.length]}`,
      new TextEncoder().encode(content),
    ]);
    files.push(["latin1.ts", Buffer.from("caf\u00e9 needle 42\nfoo \u00ff bar\n", "latin1")]);
    for (const [path, bytes] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
    await workspace.change(files.map(([path, bytes]) => ({ kind: "write", path, bytes })));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("[FILE-65] finds the lines that ripgrep finds", async () => {
    const asked = fc.sample(query, { numRuns: PATTERNS, seed: SEED });
    const sources = new Set<string>();
    const matched = { patterns: new Set<string>(), lines: 0 };
    for (const one of asked) {
      const source = one.fixed ? one.plain : one.pattern.re2;
      const found = await own(workspace, one);
      expect({ one, lines: found }).toEqual({ one, lines: ripgrep(folder, one) });
      sources.add(source);
      if (found.length > 0) matched.patterns.add(source);
      matched.lines += found.length;
    }
    expect(sources.size).toBeGreaterThan(250);
    // The others match nothing, on either side.
    expect(matched.patterns.size).toBeGreaterThan(100);
    expect(matched.lines).toBeGreaterThan(3_000);
  });
});

/** Lines as `path:number:text`, those around them with `-`. */
async function own(workspace: Workspace, asked: Asked): Promise<string[]> {
  const { pattern: both, plain, ...options } = asked;
  const searched: SearchQuery = {
    ...options,
    kind: "grep",
    pattern: asked.fixed ? plain : both.re2,
    limit: 10_000,
  };
  const { matches = [], more } = await workspace.search(searched);
  expect(more).toBe(false);
  const lines = new Map<string, string>();
  const isMatch = new Set<string>();
  for (const { path, line, text: shown, before = [], after = [] } of matches) {
    for (const [at, around] of [...before, shown, ...after].entries()) {
      const key = `${path}\0${line - before.length + at}`;
      if (at === before.length) isMatch.add(key);
      // A long line is cut, around its match or from its beginning.
      lines.set(key, around.length >= 500 ? "(long)" : around);
    }
  }
  return [...lines].map(([key, shown]) => `${key}${isMatch.has(key) ? ":" : "-"}${shown}`).sort();
}

function ripgrep(folder: string, asked: Asked): string[] {
  const args = [
    ...RIPGREP,
    ...SHOWN,
    ...(asked.fixed ? ["--fixed-strings"] : []),
    ...(asked.caseSensitive ? [] : ["--ignore-case"]),
    ...(asked.word ? ["--word-regexp"] : []),
    ...(asked.context > 0 ? ["--context", String(asked.context), "--no-context-separator"] : []),
    ...asked.include.flatMap((glob) => ["--glob", glob]),
    ...asked.exclude.flatMap((glob) => ["--glob", `!${glob}`]),
    "--regexp",
    asked.fixed ? asked.plain : asked.pattern.ripgrep,
    ".",
  ];
  const { stdout, stderr, status } = spawnSync(rgPath, args, { cwd: folder, maxBuffer: 1 << 28 });
  if (status !== 0 && status !== 1) throw new Error(stderr.toString());
  const lines = stdout.toString().split("\n");
  lines.pop();
  return lines
    .map((line) => {
      const [, path, number, kind, shown = ""] = /^\.\/(.*?)\0(\d+)([:-])(.*)$/s.exec(line) ?? [];
      const content = shown.replace(/\r$/, "").replace(/^\uFEFF/, "");
      return `${path}\0${number}${kind}${content.length >= 500 ? "(long)" : content}`;
    })
    .sort();
}
