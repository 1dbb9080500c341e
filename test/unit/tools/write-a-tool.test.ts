import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compilePolicy } from "../../../src/runtime/guard/permission-policy.ts";
import { agentDefinitionSchema } from "../../../src/runtime/protocol/agent-definition.ts";
import { markdownBlocks, printedLike } from "../support/markdown-blocks.ts";

const blocks = markdownBlocks(readFileSync("docs/write-a-tool.md", "utf8"));
const [tool, program] = blocks.filter(({ language }) => language === "ts").map(({ text }) => text);
const [printed] = blocks.filter(({ language }) => language === "text").map(({ text }) => text);
const [definition] = blocks.filter(({ language }) => language === "json").map(({ text }) => text);

let folder: string;

// A copy of the source, with the two files where the page says that they are.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tool-"));
  cpSync("src", join(folder, "src"), { recursive: true });
  for (const file of ["package.json", "tsconfig.base.json"]) cpSync(file, join(folder, file));
  symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "src/tools/count-words.ts"), tool ?? "");
  writeFileSync(join(folder, "try.ts"), program ?? "");
  const settings = {
    extends: "./tsconfig.base.json",
    compilerOptions: { types: ["node"] },
    files: ["try.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
});

afterAll(() => rmSync(folder, { recursive: true }));

function run(...command: readonly string[]): string {
  return execFileSync(process.execPath, command, { cwd: folder, encoding: "utf8" });
}

it("[DOCS-4] the tool of docs/write-a-tool.md type-checks", () => {
  expect(run(join(process.cwd(), "node_modules/typescript/bin/tsc"), "-p", ".")).toBe("");
});

it("[DOCS-4] the tool of docs/write-a-tool.md runs and prints what the page says", () => {
  expect(run("try.ts").trimEnd()).toMatch(printedLike(printed ?? ""));
});

it("[DOCS-4] the agent of docs/write-a-tool.md is one that the product takes", async () => {
  const { policy } = agentDefinitionSchema.parse(JSON.parse(definition ?? ""));
  expect(policy && (await compilePolicy(policy)).version).toMatch(/^[0-9a-f]{16}$/);
});
