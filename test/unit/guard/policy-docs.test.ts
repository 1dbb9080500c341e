import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compilePolicy } from "../../../src/runtime/guard/permission-policy.ts";
import type { PolicyDefinition } from "../../../src/runtime/protocol/policy-definition.ts";

const EXAMPLES = [...readFileSync("docs/policies.md", "utf8").matchAll(/```json\n([^]*?)```/g)].map(
  ([, json = ""]) => JSON.parse(json) as PolicyDefinition,
);
const [readOnly, source, commands, folder] = EXAMPLES;

async function effect(example: PolicyDefinition | undefined, name: string, args = {}): Promise<string> {
  return (await compilePolicy(example ?? {})).verdict({ name, args }).effect;
}

describe("the examples in docs/policies.md", () => {
  it("[GUARD-1] are policies", async () => {
    expect(EXAMPLES).toHaveLength(4);
    for (const example of EXAMPLES) await expect(compilePolicy(example)).resolves.toBeDefined();
  });

  it.each([
    [readOnly, "grep", {}, "allow"],
    [readOnly, "move", {}, "ask"],
    [readOnly, "bash", {}, "deny"],
    [source, "write_file", { path: "./src/a.ts" }, "allow"],
    [source, "write_file", { path: "src/../a.ts" }, "ask"],
    [source, "move", { from: "src/a", to: "src/b" }, "allow"],
    [source, "move", { from: "src/a", to: "b" }, "ask"],
    [source, "read_file", { path: "a" }, "allow"],
    [commands, "bash", { command: "git log --stat src/a.ts" }, "allow"],
    [commands, "bash", { command: "git log; rm x" }, "ask"],
    [commands, "bash", { command: "git log\nrm x" }, "ask"],
    [commands, "bash", { command: "git log --force" }, "deny"],
    [folder, "read_file", { path: "/app/secret/key" }, "deny"],
    [folder, "delete", { path: "app/" }, "deny"],
    [folder, "move", { from: "x", to: "app/secret" }, "deny"],
    [folder, "write_file", { path: "app/a" }, "allow"],
  ])("[GUARD-2] do what the text says: %#", async (example, name, args, expected) => {
    expect(await effect(example, name, args)).toBe(expected);
  });
});
