import { describe, expect, it } from "vitest";
import { compilePolicy } from "../../../src/runtime/guard/permission-policy.ts";
import { strictPolicy } from "../../../src/runtime/guard/strict-policy.ts";
import type { GuardedCall, Verdict } from "../../../src/runtime/guard/verdict.ts";
import type { Condition, PolicyDefinition } from "../../../src/runtime/protocol/policy-definition.ts";

async function verdict(definition: PolicyDefinition, call: GuardedCall): Promise<Verdict> {
  return (await compilePolicy(definition)).verdict(call);
}

/** A definition as it comes from outside, whose type says nothing. */
async function compileUnchecked(definition: unknown): Promise<unknown> {
  return compilePolicy(definition as PolicyDefinition);
}

function invalid(details: Record<string, unknown>, message: RegExp): unknown {
  return expect.objectContaining({
    code: "invalid_request",
    message: expect.stringMatching(message),
    details: expect.objectContaining(details),
  });
}

/** Whether a condition holds of the field `f` of some arguments. */
async function holds(condition: Condition, args: Record<string, unknown>): Promise<boolean> {
  const rules = [{ when: { f: condition }, effect: "deny" as const }];
  return (await verdict({ rules }, { name: "t", args })).effect === "deny";
}

const call: GuardedCall = { name: "write_file", args: { path: "src/a.ts", content: "x" } };

describe("precedence", () => {
  it.each([
    ["nothing", {}, "allow"],
    ["a default", { default: "ask" }, "ask"],
    ["a list that names the tool", { ask: ["write_file"] }, "ask"],
    ["a list that names another tool", { deny: ["bash"] }, "allow"],
    ["an allow against the default", { default: "deny", allow: ["write_*"] }, "allow"],
    ["deny and allow of one tool", { allow: ["write_file"], deny: ["*"] }, "deny"],
    ["ask and allow of one tool", { allow: ["write_file"], ask: ["*_file"] }, "ask"],
    ["a rule against a list", { allow: ["*"], rules: [{ tool: "write_file", effect: "deny" }] }, "deny"],
    ["a list against a rule", { deny: ["*"], rules: [{ tool: "write_file", effect: "allow" }] }, "deny"],
    [
      "a later rule that is stricter",
      { rules: [{ effect: "allow" }, { effect: "ask" }, { tool: "write_file", effect: "deny" }] },
      "deny",
    ],
  ] as const)("[GUARD-2] with %s", async (_what, definition, effect) => {
    expect((await verdict(definition, call)).effect).toBe(effect);
  });

  it("[GUARD-12] a strict policy refuses what no rule speaks of", async () => {
    const policy = await compilePolicy(strictPolicy({ allow: ["read_*"], ask: ["write_file"] }));
    expect(policy.verdict({ name: "read_file", args: {} }).effect).toBe("allow");
    expect(policy.verdict(call).effect).toBe("ask");
    expect(policy.verdict({ name: "bash", args: {} })).toEqual({
      effect: "deny",
      reason: "no rule of the policy allows the call",
    });
    expect((await verdict(strictPolicy(), call)).effect).toBe("deny");
  });

  it("[GUARD-9] names the rule that decided and gives its description as the reason", async () => {
    const definition: PolicyDefinition = {
      default: "ask",
      deny: ["bash", "sh*"],
      rules: [
        { id: "no-env", description: "secrets stay where they are", when: { path: ".env" }, effect: "deny" },
        { tool: "delete", effect: "deny" },
        { tool: "move", effect: "allow" },
        { tool: "move", effect: "allow" },
      ],
    };
    const of = (name: string, args = {}): Promise<Verdict> => verdict(definition, { name, args });
    expect(await of("read_file", { path: ".env" })).toEqual({
      effect: "deny",
      ruleId: "no-env",
      reason: "secrets stay where they are",
    });
    expect(await of("delete")).toEqual({ effect: "deny", ruleId: "rule-2" });
    expect(await of("move")).toEqual({ effect: "allow", ruleId: "rule-3" });
    expect(await of("shell")).toEqual({ effect: "deny", ruleId: "deny:sh*" });
    expect(await of("grep")).toEqual({ effect: "ask", reason: "no rule of the policy allows the call" });
    expect(await verdict({}, call)).toEqual({ effect: "allow" });
  });
});

describe("rules", () => {
  it.each([
    ["write_file", true],
    ["write_*", true],
    ["*", true],
    ["*_f*e", true],
    ["w*i*t*e*_*f*i*l*e", true],
    ["write_file*", true],
    ["write", false],
    ["*write", false],
    ["Write_file", false],
    ["write-file", false],
  ])("[GUARD-3] the tool glob %s", async (glob, applies) => {
    const effect = applies ? "deny" : "allow";
    expect((await verdict({ deny: [glob] }, call)).effect).toBe(effect);
    expect((await verdict({ rules: [{ tool: glob, effect: "deny" }] }, call)).effect).toBe(effect);
    expect((await verdict({ rules: [{ tool: ["x", glob], effect: "deny" }] }, call)).effect).toBe(effect);
  });

  it("[GUARD-3] apply only when the tool and every field are as they say", async () => {
    const when = { path: { glob: "src/**" }, content: { contains: "x" } };
    const rules = [{ tool: "write_file", when, effect: "deny" as const }];
    expect((await verdict({ rules }, call)).effect).toBe("deny");
    expect((await verdict({ rules }, { ...call, name: "edit_file" })).effect).toBe("allow");
    expect((await verdict({ rules }, { ...call, args: { path: "src/a.ts", content: "y" } })).effect).toBe(
      "allow",
    );
    expect((await verdict({ rules }, { ...call, args: { path: "lib/a.ts", content: "x" } })).effect).toBe(
      "allow",
    );
  });
});

describe("conditions", () => {
  const cases: [Condition, unknown, boolean][] = [
    ["a", "a", true],
    ["a", "A", false],
    ["1", 1, false],
    [1, 1, true],
    [true, true, true],
    [false, null, false],
    [{ equals: "" }, "", true],
    [{ equals: 0 }, false, false],
    [{ in: ["a", 2, true] }, 2, true],
    [{ in: ["a", 2, true] }, "2", false],
    [{ startsWith: "git " }, "git push", true],
    [{ startsWith: "git " }, "agit push", false],
    [{ contains: "rm -rf" }, "x; rm -rf /", true],
    [{ contains: "rm -rf" }, ["rm -rf"], false],
    [{ glob: "src/*.ts" }, "src/a.ts", true],
    [{ glob: "src/*.ts" }, { path: "src/a.ts" }, false],
    [{ regex: "^git\\s" }, "git push", true],
    [{ regex: "\\d" }, 1, false],
    [{ startsWith: "a", contains: "z" }, "a-z", true],
    [{ startsWith: "a", contains: "z" }, "a-y", false],
    [{ not: "a" }, "b", true],
    [{ not: "a" }, "a", false],
    [{ not: { startsWith: "a" } }, "b", true],
    [{ not: { startsWith: "a" } }, 5, true],
    [{ not: { startsWith: "a", contains: "z" } }, "a", true],
    [{ startsWith: "src/", not: { contains: "secret" } }, "src/x", true],
    [{ startsWith: "src/", not: { contains: "secret" } }, "src/secret", false],
    [{ not: "a" }, null, true],
  ];
  it.each(cases)("[GUARD-4] %j of %j is %s", async (condition, value, expected) => {
    expect(await holds(condition, { f: value })).toBe(expected);
  });

  it.each<Condition>(["a", { in: ["a"] }, { regex: ".*" }, { not: "a" }, { not: { regex: "a" } }])(
    "[GUARD-5] a field that is not there does not fit %j",
    async (condition) => {
      expect(await holds(condition, {})).toBe(false);
      expect(await holds(condition, { g: "a" })).toBe(false);
      expect(await holds(condition, { f: undefined })).toBe(false);
    },
  );

  it.each([
    ["a.b.c", { a: { b: { c: "x" } } }, true],
    ["edits.1.old", { edits: [{ old: "y" }, { old: "x" }] }, true],
    ["edits.0.old", { edits: [{ old: "y" }, { old: "x" }] }, false],
    ["edits.2.old", { edits: [{ old: "y" }, { old: "x" }] }, false],
    ["edits.01.old", { edits: [{ old: "y" }, { old: "x" }] }, false],
    ["a.0", { a: "x" }, false],
    ["a.b", { a: null }, false],
    ["a.0", { a: { 0: "x" } }, true],
    ["constructor", { constructor: "x" }, true],
  ])("[GUARD-6] finds %s in %j: %s", async (path, args, found) => {
    const rules = [{ when: { [path]: "x" }, effect: "deny" as const }];
    expect((await verdict({ rules }, { name: "t", args })).effect).toBe(found ? "deny" : "allow");
  });

  it.each(["toString", "constructor.name", "__proto__.x", "list.length", "list.at", "text.length", "text.0"])(
    "[GUARD-6] does not find %s, which is no argument",
    async (path) => {
      const rules = [{ when: { [path]: { not: "nothing is equal to this" } }, effect: "deny" as const }];
      const args = { list: ["a"], text: "a" };
      expect((await verdict({ rules }, { name: "t", args })).effect).toBe("allow");
    },
  );
});

describe("definitions", () => {
  it.each([
    ["no object", [], {}],
    ["an unknown field", { defaults: "deny" }, {}],
    ["an unknown effect", { default: "block" }, { field: "default" }],
    ["a glob that no tool can fit", { deny: ["bash(rm *)"] }, { field: "deny.0" }],
    ["too many globs", { deny: Array.from({ length: 201 }, () => "a") }, { field: "deny" }],
    [
      "too many rules",
      { rules: Array.from({ length: 201 }, () => ({ effect: "deny" })) },
      { field: "rules" },
    ],
    ["too much of everything", { rules: Array.from({ length: 200 }, () => long()) }, {}],
    [
      "a rule without effect",
      { rules: [{ effect: "ask" }, { tool: "bash" }] },
      { rule: "rule-2", field: "effect" },
    ],
    ["a rule with an unknown field", { rules: [{ id: "a", tols: "bash", effect: "deny" }] }, { rule: "a" }],
    ["an empty list of tools", { rules: [{ tool: [], effect: "deny" }] }, { rule: "rule-1", field: "tool" }],
    ["no field", { rules: [{ when: {}, effect: "deny" }] }, { rule: "rule-1", field: "when" }],
    ["a field without a name", { rules: [{ when: { "a..b": 1 }, effect: "deny" }] }, { rule: "rule-1" }],
    ["no operator", { rules: [{ when: { a: {} }, effect: "deny" }] }, { rule: "rule-1", field: "when.a" }],
    ["an unknown operator", { rules: [{ when: { a: { like: "x" } }, effect: "deny" }] }, { field: "when.a" }],
    ["null", { rules: [{ when: { a: null }, effect: "deny" }] }, { field: "when.a" }],
    [
      "not within not",
      { rules: [{ when: { a: { not: { not: 1 } } }, effect: "deny" }] },
      { field: "when.a.not" },
    ],
    [
      "an empty prefix",
      { rules: [{ when: { a: { startsWith: "" } }, effect: "deny" }] },
      { field: "when.a.startsWith" },
    ],
    [
      "a long expression",
      { rules: [{ when: { a: { regex: "a".repeat(1025) } }, effect: "deny" }] },
      { rule: "rule-1" },
    ],
    ["an id that is none", { rules: [{ id: "a b", effect: "deny" }] }, { rule: "rule-1", field: "id" }],
    [
      "the same id twice",
      {
        rules: [
          { id: "a", effect: "deny" },
          { id: "a", effect: "ask" },
        ],
      },
      { rule: "a" },
    ],
    [
      "an id of another rule",
      { rules: [{ id: "rule-2", effect: "deny" }, { effect: "ask" }] },
      { rule: "rule-2" },
    ],
    [
      "a condition that would be dropped",
      { rules: [{ when: JSON.parse('{"a":1,"__proto__":2}') as unknown, effect: "allow" }] },
      {},
    ],
  ])("[GUARD-1] refuses %s", async (_what, definition, details) => {
    await expect(compileUnchecked(definition)).rejects.toEqual(invalid(details, /^The policy/));
  });

  it("[GUARD-1] takes every field of the documented form", async () => {
    const definition: PolicyDefinition = {
      default: "ask",
      allow: ["read_*"],
      ask: ["*"],
      deny: ["bash"],
      dryRun: true,
      rules: [
        {
          id: "all",
          description: "Everything that a rule can say.",
          tool: ["a", "b-*"],
          when: {
            "a.0.b": { equals: 1, in: [1, 2], not: { startsWith: "x" } },
            b: { startsWith: "a", contains: "b", glob: "**", regex: ".", not: 7 },
            c: false,
          },
          effect: "allow",
        },
      ],
    };
    expect(await compilePolicy(definition)).toMatchObject({ dryRun: true });
    expect(await compilePolicy({})).toMatchObject({ dryRun: false });
  });

  it("[GUARD-13] have a version that stands for what they say, not for how it is written", async () => {
    const version = async (definition: PolicyDefinition): Promise<string> =>
      (await compilePolicy(definition)).version;
    const first = await version({ default: "ask", rules: [{ tool: "a", effect: "deny" }] });
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(await version({ rules: [{ effect: "deny", tool: "a" }], default: "ask" })).toBe(first);
    expect(await version({ rules: [{ effect: "deny", tool: "b" }], default: "ask" })).not.toBe(first);
    expect(await version({ default: "ask", rules: [{ tool: "a", effect: "deny" }], dryRun: true })).not.toBe(
      first,
    );
  });

  it("[GUARD-13] are taken as they were when the policy was made", async () => {
    const definition = { deny: ["bash"] };
    const policy = await compilePolicy(definition);
    definition.deny.pop();
    expect(policy.verdict({ name: "bash", args: {} }).effect).toBe("deny");
  });
});

it("[GUARD-10] a policy that fails inside denies", async () => {
  const policy = await compilePolicy({ rules: [{ when: { f: "a" }, effect: "allow" }] });
  const args = Object.defineProperty({}, "f", {
    get() {
      throw new Error("boom");
    },
  });
  expect(policy.verdict({ name: "t", args })).toEqual({ effect: "deny", reason: "policy error" });
});

/** A rule of the longest description. */
function long(): unknown {
  return { description: "a".repeat(500), effect: "deny" };
}
