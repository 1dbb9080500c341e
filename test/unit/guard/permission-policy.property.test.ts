import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { composePolicies } from "../../../src/runtime/guard/compose-policies.ts";
import { compilePolicy } from "../../../src/runtime/guard/permission-policy.ts";
import type { PermissionPolicy } from "../../../src/runtime/guard/permission-policy.ts";
import type { GuardedCall } from "../../../src/runtime/guard/verdict.ts";
import type {
  Condition,
  Effect,
  PolicyDefinition,
  Rule,
} from "../../../src/runtime/protocol/policy-definition.ts";

const STRICTNESS: readonly Effect[] = ["allow", "ask", "deny"];
const effects = fc.constantFrom<Effect>(...STRICTNESS);
const globs = fc.constantFrom("*", "a*", "b", "*c", "read_file", "x*y");
const texts = fc.constantFrom("a", "src/a.ts", "./src/a.ts", "git push", "x/y/z", "");
const fields = fc.constantFrom(
  "a",
  "b",
  "a.b",
  "a.0",
  "list.1.b",
  "constructor",
  "toString.name",
  "__proto__x",
);

const plain = fc.oneof(
  fc.record({ equals: fc.oneof(texts, fc.integer({ max: 3 }), fc.boolean()) }),
  fc.record({ in: fc.array(texts, { minLength: 1, maxLength: 3 }) }),
  fc.record({ startsWith: fc.constantFrom("a", "src", "git") }),
  fc.record({ contains: fc.constantFrom("/", "a", ".ts") }),
  fc.record({ glob: fc.constantFrom("**", "src/*", "*.ts", "**/z") }),
  fc.record({ regex: fc.constantFrom("^a", "\\.ts$", "(a|b)+") }),
);
const conditions: fc.Arbitrary<Condition> = fc.oneof(texts, fc.boolean(), plain, fc.record({ not: plain }));

const rules: fc.Arbitrary<Rule> = fc.record(
  {
    tool: fc.oneof(globs, fc.array(globs, { minLength: 1, maxLength: 3 })),
    when: fc.dictionary(fields, conditions, { minKeys: 1, maxKeys: 2 }),
    effect: effects,
  },
  { requiredKeys: ["effect"] },
);
const lists = fc.array(globs, { maxLength: 2 });
const definitions: fc.Arbitrary<PolicyDefinition> = fc.record(
  { default: effects, allow: lists, ask: lists, deny: lists, rules: fc.array(rules, { maxLength: 6 }) },
  { requiredKeys: [] },
);

const values = fc.oneof(texts, fc.jsonValue({ maxDepth: 3 }));
const calls: fc.Arbitrary<GuardedCall> = fc.record({
  name: fc.oneof(fc.constantFrom("a", "ab", "b", "abc", "read_file"), fc.string()),
  args: fc.oneof(
    fc.dictionary(fc.constantFrom("a", "b", "list", "constructor"), values, { maxKeys: 4 }),
    fc.dictionary(fc.string(), values, { maxKeys: 4 }),
  ),
});

function rank(policy: PermissionPolicy, call: GuardedCall): number {
  return STRICTNESS.indexOf(policy.verdict(call).effect);
}

describe("any policy", () => {
  // The first expression loads re2js, which is nothing that a property should wait for.
  beforeAll(() => compilePolicy({ rules: [{ when: { a: { regex: "a" } }, effect: "deny" }] }));

  it("[GUARD-2] says the same in whatever order its rules stand", async () => {
    const shuffled = definitions.chain((definition) =>
      fc.record({
        definition: fc.constant(definition),
        other: fc
          .shuffledSubarray([...(definition.rules ?? [])], { minLength: definition.rules?.length ?? 0 })
          .map((reordered) => ({
            ...definition,
            rules: reordered,
            allow: (definition.allow ?? []).toReversed(),
            deny: (definition.deny ?? []).toReversed(),
          })),
      }),
    );
    await fc.assert(
      fc.asyncProperty(shuffled, calls, async ({ definition, other }, call) => {
        expect(rank(await compilePolicy(other), call)).toBe(rank(await compilePolicy(definition), call));
      }),
      { numRuns: 300 },
    );
  });

  it("[GUARD-2] says what the strictest of its rules alone would say, else its default", async () => {
    let decided = 0;
    await fc.assert(
      fc.asyncProperty(definitions, calls, async (definition, call) => {
        const { allow = [], ask = [], deny = [] } = definition;
        const listed = Object.entries({ allow, ask, deny }).flatMap(([effect, list]) =>
          list.map((tool): Rule => ({ tool, effect: effect as Effect })),
        );
        const said: number[] = [];
        for (const rule of [...(definition.rules ?? []), ...listed]) {
          // As a denial a rule that applies shows; then it counts as what it is.
          const probe = await compilePolicy({ rules: [{ ...rule, effect: "deny" }] });
          if (rank(probe, call) === 2) said.push(STRICTNESS.indexOf(rule.effect));
        }
        if (said.length > 1) decided += 1;
        const expected =
          said.length > 0 ? Math.max(...said) : STRICTNESS.indexOf(definition.default ?? "allow");
        expect(rank(await compilePolicy(definition), call)).toBe(expected);
      }),
      { numRuns: 300 },
    );
    // Otherwise there would be nothing to take precedence.
    expect(decided).toBeGreaterThan(30);
  });

  it("[GUARD-10] has a verdict on any call, always the same, and leaves the arguments alone", async () => {
    await fc.assert(
      fc.asyncProperty(
        definitions,
        fc.array(calls, { minLength: 1, maxLength: 5 }),
        async (definition, some) => {
          const policy = await compilePolicy(definition);
          for (const call of some) {
            const before = structuredClone(call);
            const verdict = policy.verdict(call);
            expect(STRICTNESS).toContain(verdict.effect);
            expect(verdict.reason).not.toBe("policy error");
            expect(policy.verdict(call)).toEqual(verdict);
            expect(call).toEqual(before);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it("[GUARD-10] has a verdict on what is no call at all", async () => {
    const policy = await compilePolicy({ allow: ["a"], rules: [{ when: { a: "b" }, effect: "ask" }] });
    fc.assert(
      fc.property(fc.anything(), (anything) => {
        expect(STRICTNESS).toContain(policy.verdict(anything as GuardedCall).effect);
        expect(STRICTNESS).toContain(policy.verdict({ name: "a", args: anything } as GuardedCall).effect);
      }),
      { numRuns: 500 },
    );
  });

  it("[GUARD-6] finds no property of a prototype", async () => {
    const inherited = [Object.prototype, Array.prototype, String.prototype].flatMap((prototype) =>
      Object.getOwnPropertyNames(prototype),
    );
    const names = fc.constantFrom(...new Set(inherited));
    const paths = fc
      .tuple(
        fc.constantFrom([], ["list"], ["text"], ["object"], ["list", "0"]),
        fc.array(names, { minLength: 1, maxLength: 3 }),
      )
      .map(([start, rest]) => [...start, ...rest].join("."))
      // JSON with this name is refused before it could be a condition; see below.
      .filter((path) => path !== "__proto__");
    const args = { list: ["x"], text: "x", object: { y: 1 } };
    await fc.assert(
      fc.asyncProperty(paths, async (path) => {
        const when = { [path]: { not: "no value is equal to this" } };
        const policy = await compilePolicy({ rules: [{ when, effect: "deny" }] });
        expect(policy.verdict({ name: "t", args }).effect).toBe("allow");
      }),
      { numRuns: 300 },
    );
    const when = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const refused = compilePolicy({ rules: [{ when, effect: "deny" }] });
    await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("any composition", () => {
  it("[GUARD-11] is as strict as its strictest part, in whatever order", async () => {
    const several = fc.tuple(definitions, definitions, definitions);
    await fc.assert(
      fc.asyncProperty(several, calls, async (parts, call) => {
        const [one, two, three] = await Promise.all(parts.map((part) => compilePolicy(part)));
        if (!one || !two || !three) throw new Error("three parts make three policies");
        const strictest = Math.max(rank(one, call), rank(two, call), rank(three, call));
        for (const composed of [
          composePolicies(one, two, three),
          composePolicies(three, one, two),
          composePolicies(composePolicies(two, three), one),
        ]) {
          expect(rank(composed, call)).toBe(strictest);
        }
      }),
      { numRuns: 200 },
    );
  });
});
