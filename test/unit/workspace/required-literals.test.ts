import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { requiredLiterals } from "../../../src/runtime/workspace/required-literals.ts";
import type { SearchQuery } from "../../../src/runtime/workspace/workspace.ts";

type Options = Omit<SearchQuery, "kind" | "pattern">;

const clausesOf = (pattern: string, options: Options = {}): (readonly string[])[] => [
  ...requiredLiterals({ kind: "grep", pattern, ...options }).clauses,
];

function compile(pattern: string, ignoreCase: boolean): RE2JS | null {
  try {
    return RE2JS.compile(pattern, RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
  } catch {
    return null;
  }
}

/** Every clause has a literal that the text holds, in the same case unless case is ignored. */
function expectContained(pattern: string, options: Options, text: string): void {
  const { clauses, ignoreCase, window } = requiredLiterals({ kind: "grep", pattern, ...options });
  const holds = (literal: string): boolean =>
    ignoreCase
      ? RE2JS.compile(RE2JS.quote(literal), RE2JS.CASE_INSENSITIVE).test(text)
      : text.includes(literal);
  const lacking = clauses.filter((clause) => !clause.some(holds));
  expect({ pattern, options, text, lacking }).toEqual({ pattern, options, text, lacking: [] });
  const held = new RegExp(window?.source ?? "").test(text);
  expect({ pattern, options, text, window: window?.source, held }).toMatchObject({ held: true });
}

/** A pattern and a text that it matches. */
interface Example {
  readonly source: string;
  readonly match: string;
}

const META = /[\\.+*?()|[\]{}^$]/;
const char = fc.constantFrom(...Array.from("abcksABKS ßſK\u0130ıéΣσς日本.*+{}()[]|\\^$-\"'_1😀"));
const literal = char.map((c): Example => ({ source: META.test(c) ? `\\${c}` : c, match: c }));
const classes = fc.constantFrom<Example>(
  { source: "[abc]", match: "b" },
  { source: "[]x]", match: "]" },
  { source: "[^]a]", match: "q" },
  { source: "[\\]a|(]", match: "|" },
  { source: "[[a]", match: "[" },
  { source: "[A-z]", match: "]" },
  { source: "[Y-b]", match: "^" },
  { source: "[k-s-]", match: "-" },
  { source: "[+-a]{2}", match: "\\]" },
  { source: "\\d", match: "7" },
  { source: "\\pL", match: "é" },
  { source: "\\p{Greek}", match: "σ" },
  { source: ".", match: "z" },
  { source: "\\x41", match: "A" },
  { source: "\\x{1F600}", match: "😀" },
  { source: "\\Qa.b\\E", match: "a.b" },
  { source: "\\101", match: "A" },
  { source: "[[:alpha:]]", match: "m" },
  { source: "(?i)", match: "" },
  { source: "(?-s)", match: "" },
  { source: "\\B", match: "" },
);
const { example } = fc.letrec<{ example: Example; item: Example; atom: Example }>((tie) => ({
  atom: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { arbitrary: literal, weight: 8 },
    { arbitrary: classes, weight: 2 },
    {
      arbitrary: fc
        .tuple(fc.constantFrom("(", "(?:", "(?i:", "(?P<n>", "(?s-i:"), tie("example"))
        .map(([open, { source, match }]): Example => ({ source: `${open}${source})`, match })),
      weight: 2,
    },
    {
      arbitrary: fc.tuple(tie("example"), tie("example"), fc.boolean()).map(([a, b, first]): Example => ({
        source: `(?:${a.source}|${b.source})`,
        match: (first ? a : b).match,
      })),
      weight: 2,
    },
  ),
  item: fc
    .tuple(
      tie("atom"),
      fc.constantFrom<[string, number]>(
        ...Array.from({ length: 6 }, (): [string, number] => ["", 1]),
        ["*", 0],
        ["+", 2],
        ["?", 0],
        ["+?", 1],
        ["{2}", 2],
        ["{0,3}", 0],
        ["{1,}", 3],
      ),
    )
    .map(([{ source, match }, [times, count]]): Example => ({
      source: source + (/^\(\?-?[is]\)$|\\B/.test(source) ? "" : times),
      match: /^\(\?-?[is]\)$|\\B/.test(source) ? match : match.repeat(count),
    })),
  example: fc.array(tie("item"), { minLength: 1, maxLength: 6 }).map((items): Example => ({
    source: items.map(({ source }) => source).join(""),
    match: items.map(({ match }) => match).join(""),
  })),
}));

describe("required literals", () => {
  it("[FILE-61] are what every match contains", () => {
    expect(clausesOf("foo.*bar")).toEqual([["foo"], ["bar"]]);
    expect(clausesOf("foo|barn")).toEqual([["foo", "barn"]]);
    expect(clausesOf("(?:import|export) \\{ x+y")).toEqual([["import { x", "export { x"], ["xy"]]);
    expect(clausesOf("colou?r")).toEqual([["color", "colour"]]);
    expect(clausesOf("colou*r")).toEqual([["colo"], ["r"]]);
    expect(clausesOf("export (async )?function")).toEqual([["export function", "export async function"]]);
    expect(clausesOf("(?:(?:a|b)(?:c|d)(?:e|f)|g)hi")).toEqual([
      "ace acf ade adf bce bcf bde bdf g".split(" "),
      ["hi"],
    ]);
    expect(clausesOf("a{0}bcd")).toEqual([["bcd"]]);
    expect(clausesOf("f(x", { fixed: true })).toEqual([["f(x"]]);
    expect(clausesOf("if (x) {".replace(/[()]/g, "\\$&"))).toEqual([["if (x) {"]]);
    expect(clausesOf("straße", { caseSensitive: false })).toEqual([["stra"], ["e"]]);
    expect(clausesOf("(?i)task")).toEqual([["task"]]);
    for (const nothing of [
      "foo|",
      "(foo)*",
      "[abc]+",
      "foo|b?",
      "\\x66oo",
      "\\Qfoo\\E",
      "x{3",
      "[[:alpha:]]foo",
    ]) {
      expect([nothing, clausesOf(nothing)]).toEqual([nothing, []]);
    }
  });

  it("[FILE-61] are beside them characters in a row, each one of few", () => {
    const windowOf = (pattern: string) => requiredLiterals({ kind: "grep", pattern }).window?.source;
    expect(windowOf("\\b[A-C]{2}\\d{2,}x")).toBe("[ABC][ABC][0123456789]");
    expect(windowOf("[ab]?[cd]+[ef]")).toBe("[cd][ef]");
    expect(windowOf("(?i)[jk]")).toBe("[jJkK\\u212A]");
    for (const nothing of ["[^a]", "[é]", "\\s.", "[ab]|c"])
      expect([nothing, windowOf(nothing) || ""]).toEqual([nothing, ""]);
  });

  it("[FILE-61] hold for whatever pattern and a text that it matches", () => {
    let matched = 0;
    fc.assert(
      fc.property(example, fc.boolean(), char, char, ({ source, match }, caseSensitive, before, after) => {
        const compiled = compile(source, !caseSensitive);
        for (const text of [match, before + match + after, match.toUpperCase(), match.toLowerCase()]) {
          if (!compiled?.test(text)) continue;
          matched += 1;
          expectContained(source, { caseSensitive }, text);
        }
        if (match !== "") expectContained(match, { fixed: true, caseSensitive }, before + match + after);
      }),
      { numRuns: 500 },
    );
    expect(matched).toBeGreaterThan(700);
  });

  it("[FILE-61] hold for any string that is a pattern, and any text that it matches", () => {
    const syntax = fc.string({
      unit: fc.constantFrom(...Array.from("aaabbbcc|()*+?{}[]\\^$.,012pQEx:-i")),
      maxLength: 14,
    });
    const text = fc.string({ unit: fc.constantFrom(...Array.from("abcABC012(){}[]|.-:,^$")), maxLength: 24 });
    let matched = 0;
    fc.assert(
      fc.property(
        syntax,
        fc.array(text, { minLength: 6, maxLength: 6 }),
        fc.boolean(),
        (pattern, texts, caseSensitive) => {
          const compiled = compile(pattern, !caseSensitive);
          for (const candidate of compiled ? texts : []) {
            if (!compiled?.test(candidate)) continue;
            matched += 1;
            expectContained(pattern, { caseSensitive }, candidate);
          }
        },
      ),
      { numRuns: 4_000 },
    );
    expect(matched).toBeGreaterThan(300);
  });
});
