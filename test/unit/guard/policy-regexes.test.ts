import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { compilePolicy } from "../../../src/runtime/guard/permission-policy.ts";
import type { PolicyDefinition } from "../../../src/runtime/protocol/policy-definition.ts";
import { sourceFiles } from "../support/source-files.ts";

function denies(regex: string): PolicyDefinition {
  return { rules: [{ id: "r", when: { f: { regex } }, effect: "deny" }] };
}

async function matches(regex: string, text: string): Promise<boolean> {
  const policy = await compilePolicy(denies(regex));
  return policy.verdict({ name: "t", args: { f: text } }).effect === "deny";
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("regular expressions", () => {
  it.each([
    ["rm\\s+-rf", "sudo rm  -rf /", true],
    ["^git ", "git push", true],
    ["^git ", "x\ngit push", false],
    ["push$", "git push\n", false],
    ["^git [a-z]+$", "git push\nrm -rf /", false],
    ["(?m)^git ", "x\ngit push", true],
    ["(?i)DROP table", "drop TABLE users", true],
    ["drop table", "DROP TABLE users", false],
    ["^.$", "😀", true],
    ["\\.env\\b", "cat .env", true],
  ])("[GUARD-8] %s on %j: %s", async (regex, text, expected) => {
    expect(await matches(regex, text)).toBe(expected);
  });

  it.each([
    ["a group that is open", "(a"],
    ["a look-ahead", "a(?=b)"],
    ["a look-behind", "(?<=a)b"],
    ["a back-reference", "(a)\\1"],
    ["a range that is none", "[z-a]"],
    ["a count that is too large", "(?:a{1000}){1000}"],
    ["more instructions than a policy may have", "(?:[ab]{900}){5}"],
  ])("[GUARD-8] refuses %s, and names the rule and the field", async (_what, regex) => {
    await expect(compilePolicy(denies(regex))).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/^The policy's rule r is not valid: The regular expression/),
      details: { rule: "r", field: "f" },
    });
  });

  it("[GUARD-8] refuses expressions that are too complex together", async () => {
    const rules = Array.from({ length: 10 }, () => ({
      when: { f: { regex: "[ab]{500}c" } },
      effect: "deny" as const,
    }));
    await expect(compilePolicy({ rules: rules.slice(0, 7) })).resolves.toBeDefined();
    await expect(compilePolicy({ rules })).rejects.toMatchObject({ details: { rule: "rule-8", field: "f" } });
  });

  it("[GUARD-8] never reach the engine of JavaScript, which backtracks", async () => {
    const evil = "(a+)+$";
    const globs = "*a*a*a*a*a*a*b";
    const native = vi.spyOn(globalThis, "RegExp");
    const policy = await compilePolicy({
      deny: [globs],
      rules: [
        { when: { f: { regex: evil } }, effect: "deny" },
        { when: { f: { glob: globs } }, effect: "ask" },
      ],
    });
    const verdict = policy.verdict({ name: "a".repeat(60), args: { f: `${"a".repeat(60)}!` } });
    const sources = native.mock.calls.map(([source]) => String(source));
    expect(verdict.effect).toBe("allow");
    expect(sources.filter((source) => source.includes(evil) || source.includes("a*a"))).toEqual([]);
  });

  it("[GUARD-8] are compiled by re2js alone: no source of the guard makes native ones of variable text", () => {
    const dynamic = /\bRegExp\s*\(|\.(?:match|matchAll|search)\(/;
    expect("new RegExp(source)").toMatch(dynamic);
    const files = sourceFiles("src/runtime/guard").filter((file) => dynamic.test(readFileSync(file, "utf8")));
    // Its expressions are constants, put together when the module is loaded.
    expect(files).toEqual(["src/runtime/guard/redact-text.ts"]);
  });
});
