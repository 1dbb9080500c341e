import { describe, expect, it } from "vitest";
import { composePolicies } from "../../../src/runtime/guard/compose-policies.ts";
import { compilePolicy } from "../../../src/runtime/guard/permission-policy.ts";
import { strictPolicy } from "../../../src/runtime/guard/strict-policy.ts";
import type { GuardedCall } from "../../../src/runtime/guard/verdict.ts";

const bash: GuardedCall = { name: "bash", args: {} };

describe("composed policies", () => {
  it("[GUARD-11] the strictest decides, and is named", async () => {
    const managed = await compilePolicy({ rules: [{ id: "managed", tool: "bash", effect: "deny" }] });
    const own = await compilePolicy(strictPolicy({ allow: ["bash", "read_file"], ask: ["write_file"] }));
    const both = composePolicies(own, managed);
    expect(both.verdict(bash)).toEqual({ effect: "deny", ruleId: "managed" });
    expect(both.verdict({ ...bash, name: "write_file" })).toEqual({
      effect: "ask",
      ruleId: "ask:write_file",
    });
    expect(both.verdict({ ...bash, name: "read_file" }).effect).toBe("allow");
    expect(both.verdict({ ...bash, name: "delete" }).effect).toBe("deny");
  });

  it("[GUARD-11] a dry run beside a policy that is enforced neither loosens nor tightens it", async () => {
    const enforced = await compilePolicy({ ask: ["bash"] });
    const trial = await compilePolicy({ deny: ["*"], dryRun: true });
    const both = composePolicies(trial, enforced);
    expect(both.dryRun).toBe(false);
    expect(both.verdict(bash).effect).toBe("ask");
    expect(both.verdict({ ...bash, name: "grep" }).effect).toBe("allow");
    const trials = composePolicies(trial, await compilePolicy({ dryRun: true }));
    expect(trials.dryRun).toBe(true);
    expect(trials.verdict(bash).effect).toBe("deny");
  });

  it("[GUARD-11] the version is that of all parts, in whatever order", async () => {
    const one = await compilePolicy({ deny: ["a"] });
    const two = await compilePolicy({ deny: ["b"] });
    expect(composePolicies(one).version).toBe(one.version);
    expect(composePolicies(one, two).version).toBe(composePolicies(two, one).version);
    expect(composePolicies(one, two).version).not.toBe(one.version);
  });

  it("[GUARD-10] a part that throws, or says what is no effect, denies", async () => {
    const fine = await compilePolicy({});
    const broken = {
      ...fine,
      verdict() {
        throw new Error("boom");
      },
    };
    const denied = { effect: "deny", reason: "policy error" };
    expect(composePolicies(fine, broken).verdict(bash)).toEqual(denied);
    const odd = { ...fine, verdict: () => JSON.parse('{"effect":"maybe"}') };
    expect(composePolicies(odd).verdict(bash)).toEqual(denied);
  });
});
