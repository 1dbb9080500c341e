import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { deployment } from "../../../src/deployment.ts";
import { markdownBlocks } from "../support/markdown-blocks.ts";
import { toolReference } from "../support/tools-page.ts";
import { ToolBench } from "./tool-bench.ts";

const PAGE = "docs/tools.md";
const page = readFileSync(PAGE, "utf8");

/** The tools that have a section, in order. */
const described = [...page.matchAll(/^## `(\w+)`$/gm)].map(([, name = ""]) => name);

it("[DOCS-3] docs/tools.md has a section for each tool that the product registers, and for no other", () => {
  expect(described).toEqual(deployment.tools.map(({ name }) => name));
});

it("[DOCS-3] docs/tools.md has each tool's description and arguments as the code has them, and what it answers", async () => {
  const blocks = markdownBlocks(page).filter(({ language }) => language === "json");
  const [files, ...calls] = blocks.map(({ text, headings }) => ({
    section: headings.at(-1)?.replaceAll("`", "") ?? "",
    value: JSON.parse(text) as Record<string, string>,
    text,
  }));
  const bench = await ToolBench.with(files?.value ?? {});
  expect(new Set(calls.map(({ section }) => section))).toEqual(new Set(described));
  let made = page;
  for (const tool of deployment.tools) {
    const reference = toolReference(tool, deployment.defaultTools.includes(tool.name));
    made = replaced(
      made,
      `<!-- ${tool.name}: made from the code -->`,
      `<!-- ${tool.name}: end -->`,
      `\n${reference}\n`,
    );
  }
  for (const { section, value, text } of calls) {
    const tool = deployment.tools.find(({ name }) => name === section);
    expect(tool?.schema.safeParse(value).success, text).toBe(true);
    if (tool?.asksPerson === true) continue;
    const { content, isError } = await bench.run(section, value);
    expect(isError, content).not.toBe(true);
    const answer = content === "" ? "" : `${content.trimEnd()}\n`;
    made = replaced(made, `\n${text}\n\`\`\`\n\n\`\`\`text\n`, "```", answer);
  }
  await expect(made).toMatchFileSnapshot(`../../../${PAGE}`);
});

/** A text with what stands between two marks replaced. */
function replaced(text: string, begin: string, end: string, middle: string): string {
  const from = text.indexOf(begin) + begin.length;
  expect(from, begin).toBeGreaterThanOrEqual(begin.length);
  return text.slice(0, from) + middle + text.slice(text.indexOf(end, from));
}
