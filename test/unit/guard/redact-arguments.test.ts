import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactArguments } from "../../../src/runtime/guard/redact-arguments.ts";

function redacted(text: string): unknown {
  return redactArguments({ text })["text"];
}

const PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nq7w8\n-----END RSA PRIVATE KEY-----";
const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_w";

/** Texts that hold a secret, and the secret. */
const SECRETS: readonly (readonly [text: string, secret: string])[] = [
  ['curl -H "Authorization: Bearer abc.def-123" https://x.example/y', "abc.def-123"],
  ["bearer AbC123+/=", "AbC123"],
  ["Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
  ["Cookie: session=abc; theme=dark", "abc; theme"],
  ["use sk-proj-abcdefgh1234 here", "abcdefgh1234"],
  ["STRIPE sk_live_abcdefgh1234", "abcdefgh1234"],
  ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghij"],
  ["AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"],
  ["la_acme.k1.s3cr3tkey", "s3cr3tkey"],
  [`token is ${JWT}`, "eyJ"],
  ["write to bob.smith+x@mail.example.co.uk", "smith"],
  ["password=hunter2", "hunter2"],
  ["DB_PASSWORD='correct horse battery' ./run", "horse"],
  ['{"client_secret": "abc def"}', "def"],
  ['{\\"apiKey\\": \\"abc def\\"}', "def"],
  ['password: "a\\"b" rest', 'b"'],
  ['password="first\nsecond"', "second"],
  ['password="no end', "end"],
  ["X-Api-Key: 0123456789", "0123456789"],
  ["mysql --password hunter2", "hunter2"],
  ["https://x.example/?key=abcdef&y=1", "abcdef"],
  ["postgres://admin:hunter2@db.internal/x", "hunter2"],
  [PEM, "MIIE"],
  [`private_key: "${PEM}"`, "q7w8"],
  [`PRIVATE_KEY=${PEM}`, "q7w8"],
  [PEM.slice(0, 50), "MIIE"],
];

describe("secrets", () => {
  it.each(SECRETS)("[GUARD-15] are replaced in %j", (text, secret) => {
    const shown = redacted(text);
    expect(shown).toContain("[redacted]");
    expect(shown).not.toContain(secret);
  });

  it("[GUARD-15] are replaced wherever they stand", () => {
    const before = fc.stringMatching(/^[a-z .\n]{0,20}[ \n]$/);
    const after = fc.stringMatching(/^[ \n][a-z .\n]{0,20}$/);
    fc.assert(
      fc.property(before, fc.constantFrom(...SECRETS), after, (left, [text, secret], right) => {
        const shown = JSON.stringify(redactArguments({ list: [{ text: left + text + right }] }));
        expect(shown).not.toContain(JSON.stringify(secret).slice(1, -1));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    "git commit -m 'no secrets here'",
    "the tokens used: 500; a task-force at a desk-lamp",
    "src/a.ts:12: const keys = Object.keys(x);",
    "https://example.com/a?b=c",
    "npm install @scope/package@1.2.3",
    "rm -rf node_modules && echo done",
  ])("[GUARD-15] are not seen in %j", (text) => {
    expect(redacted(text)).toBe(text);
  });

  it("[GUARD-15] leave the text around them as it is", () => {
    expect(redacted("a password=x b")).toBe("a password=[redacted] b");
    expect(redacted("-H 'Authorization: Bearer abcdef' z")).toBe("-H 'Authorization: [redacted]' z");
    expect(redacted(`before\n${PEM}\nafter`)).toBe("before\n[redacted]\nafter");
    expect(redacted("a sk-abcdef123, b")).toBe("a [redacted], b");
  });

  it("[GUARD-15] are replaced in fields that are named like one, whatever they hold", () => {
    const args = {
      password: "x",
      apiKey: 5,
      nested: [{ clientSecret: ["a"], "x-api-key": { b: "c" }, Authorization: "Bearer x" }],
      maxTokens: 5,
      token: null,
      hasPassword: true,
      keyboard: "qwerty",
    };
    const hidden = "[redacted]";
    expect(redactArguments(args)).toEqual({
      ...args,
      password: hidden,
      apiKey: hidden,
      nested: [{ clientSecret: hidden, "x-api-key": hidden, Authorization: hidden }],
    });
  });

  it("[GUARD-16] in names are replaced, and no argument vanishes behind another", () => {
    expect(redactArguments({ "a@b.co": 1, "c@d.co": 2, "e@f.co": 3 })).toEqual({
      "[redacted]": 1,
      "[redacted]′": 2,
      "[redacted]′′": 3,
    });
    const own = JSON.parse('{"__proto__":{"a":1}}') as Record<string, unknown>;
    expect(Object.entries(redactArguments(own))).toEqual([["__proto__", { a: 1 }]]);
  });
});

describe("size", () => {
  it("[GUARD-16] a long text is cut, with how much is missing, and never within a character", () => {
    expect(redacted("a".repeat(4_000))).toBe("a".repeat(4_000));
    expect(redacted("a".repeat(5_000))).toBe(`${"a".repeat(4_000)}… [1000 more characters]`);
    expect(redacted(`a${"😀".repeat(3_000)}`)).toBe(`a${"😀".repeat(1_999)}… [2002 more characters]`);
  });

  it("[GUARD-16] a secret beyond the cut leaves no trace", () => {
    const shown = redacted(`${"a".repeat(4_000)} sk-abcdef123 ${"b".repeat(100)}`);
    expect(String(shown).slice(3_999)).toBe("a… [114 more characters]");
  });

  it.each(Array.from({ length: 60 }, (_, index) => 3_940 + index))(
    "[GUARD-16] a secret that the cut would split is replaced whole: at %i",
    (at) => {
      const text = `${"a ".repeat(at).slice(0, at)} password=hunter2-hunter2 ${JWT} x@example.com ${"b ".repeat(3_000)}`;
      expect(redacted(text)).not.toMatch(/hunt|eyJ|example/);
    },
  );

  it("[GUARD-16] deep nesting ends in a note", () => {
    let value: unknown = "bottom";
    for (let level = 0; level < 200; level++) value = level % 2 ? [value] : { a: value };
    const shown = JSON.stringify(redactArguments({ value }));
    expect(shown).toContain("nested too deep");
    expect(shown).not.toContain("bottom");
    const eight = { a: [{ a: [{ a: [{ a: ["bottom"] }] }] }] };
    expect(redactArguments(eight)).toEqual(eight);
  });

  it("[GUARD-16] what does not fit is counted", () => {
    const items = Array.from({ length: 100_000 }, (_, index) => index);
    const shown = redactArguments({ items })["items"] as unknown[];
    expect(shown.at(-1)).toBe(`[${items.length - shown.length + 1} more items]`);
    const wide = redactArguments(Object.fromEntries(items.map((index) => [`name${index}`, ""])));
    expect(Object.entries(wide).at(-1)).toEqual([
      "…",
      `[${items.length - Object.keys(wide).length + 1} more fields]`,
    ]);
    const texts = redactArguments({
      texts: Array.from({ length: 50 }, () => "x".repeat(4_000)),
      last: "seen?",
    });
    expect(texts["…"]).toBe("[1 more fields]");
  });

  it("[GUARD-16] is bounded for any arguments, which stay as they are", () => {
    const text = fc
      .tuple(fc.string({ minLength: 1 }), fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 9_000 })))
      .map(([piece, length]) => piece.repeat(length).slice(0, length));
    const tree = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 12, depthSize: "large" },
        text,
        fc.integer(),
        fc.array(tie("node"), { maxLength: 5 }),
        fc.dictionary(fc.oneof(fc.string(), fc.constant("api_key")), tie("node"), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree.node, { maxKeys: 20 }), (args) => {
        const before = JSON.stringify(args);
        const shown = redactArguments(args);
        expect(JSON.stringify(args)).toBe(before);
        expect(depthOf(shown)).toBeLessThanOrEqual(8);
        expect(lengthOf(shown)).toBeLessThan(64 * 1024);
      }),
      { numRuns: 100 },
    );
  });

  it("[GUARD-16] of many secret fields is bounded", () => {
    const args = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`${index}_token`, "x".repeat(100)]),
    );
    expect(lengthOf(redactArguments(args))).toBeLessThan(64 * 1024);
  });
});

/** Levels of lists and objects. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Characters of all names, texts and numbers. */
function lengthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return String(value).length;
  return Object.entries(value).reduce((sum, [name, inner]) => sum + name.length + lengthOf(inner), 0);
}
