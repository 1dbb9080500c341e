import { expect, it } from "vitest";
import { promptSectionSchema } from "../../../src/runtime/protocol/agent-definition.ts";
import { builtinToolPrompts } from "../../../src/tools/builtin-tool-prompts.ts";
import { createBuiltinTools } from "../../../src/tools/builtin-tools.ts";
import { ToolBench } from "./tool-bench.ts";

it("[TOOL-25] take the documented arguments", () => {
  const shapes = new ToolBench().registry.getTools().map(({ name, schema }) => {
    const required = new Set(schema.required as string[]);
    const names = Object.keys(schema.properties as object).filter((field) => field !== "_intent");
    return `${name} ${names.map((field) => (required.has(field) ? field : `${field}?`)).join(" ")}`;
  });
  expect(shapes).toEqual([
    "tree path? depth? maxFiles?",
    "glob pattern path?",
    "grep pattern path? include? exclude? fixed? caseSensitive? word? context? limit?",
    "read_file path startLine? endLine? byteOffset?",
    "write_file path content",
    "edit_file path edits",
    "move from to",
    "delete path",
    "recall_indexed id? query? offset?",
    "bash command",
  ]);
});

it("[TOOL-25] come with a prompt that names them and their limits", () => {
  for (const prompt of builtinToolPrompts) expect(promptSectionSchema.parse(prompt)).toEqual(prompt);
  const text = builtinToolPrompts.map(({ content }) => content).join("\n");
  for (const name of ["tree", "glob", "grep", "read_file", "edit_file", "write_file"])
    expect(text).toContain(`\`${name}\``);
  expect(text).toMatch(/RE2 syntax/);
  expect(text).toMatch(/100 KiB/);
  expect(createBuiltinTools().every(({ description }) => description.length < 600)).toBe(true);
});
