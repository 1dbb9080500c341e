import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { argumentsDigest } from "../../../src/runtime/guard/arguments-digest.ts";

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

it("[GUARD-14] is the SHA-256 of the JSON with sorted names", async () => {
  expect(await argumentsDigest({})).toBe(sha256("{}"));
  const args = { path: "a", edits: [{ old: "x", new: "y" }], B: null };
  const json = '{"B":null,"edits":[{"new":"y","old":"x"}],"path":"a"}';
  expect(await argumentsDigest(args)).toBe(sha256(json));
});

it("[GUARD-14] does not depend on the order of names, but on all else", async () => {
  const args = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 });
  await fc.assert(
    fc.asyncProperty(args, args, async (one, other) => {
      const digest = await argumentsDigest(one);
      expect(await argumentsDigest(reversed(one) as Record<string, unknown>)).toBe(digest);
      const same = JSON.stringify(reversed(reversed(one))) === JSON.stringify(reversed(reversed(other)));
      expect((await argumentsDigest(other)) === digest).toBe(same);
    }),
  );
});

it.each([
  [{ a: 1 }, { a: "1" }],
  [{ a: [1, 2] }, { a: [2, 1] }],
  [{ a: { b: 1 } }, { "a.b": 1 }],
  [{ a: "\ud800" }, { a: "\ufffd" }],
  [{}, { a: null }],
  [{}, JSON.parse('{"__proto__":1}') as Record<string, unknown>],
])("[GUARD-14] tells %j from %j", async (one, other) => {
  expect(await argumentsDigest(one)).not.toBe(await argumentsDigest(other));
});

/** The same value with the names of each object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, reversed(inner)] as const);
  return Object.fromEntries(entries.toReversed());
}
