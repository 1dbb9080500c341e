import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { markdownBlocks, printedLike } from "../unit/support/markdown-blocks.ts";
import { Checkout } from "./checkout.ts";
import { Shell } from "./shell.ts";

const blocks = markdownBlocks(readFileSync("docs/tutorial.md", "utf8"));
const commands = blocks.flatMap((block, index) =>
  block.language === "sh" ? [{ ...block, printed: printedBelow(index) }] : [],
);

let checkout: Checkout;
let shell: Shell;

/** What the page says that the commands before it print; nothing when it says nothing. */
function printedBelow(index: number): string {
  const next = blocks[index + 1];
  return next?.language === "text" ? next.text : "";
}

beforeAll(async () => {
  checkout = await Checkout.make();
  shell = new Shell(checkout.folder, checkout.environment);
});

afterAll(async () => {
  await shell.end();
  await checkout.remove();
});

it("[DOCS-1] the tutorial has blocks of commands and of what they print, and no other", () => {
  expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(["sh", "text"]));
  const printed = blocks.filter(
    ({ language }, index) => language === "text" && blocks[index - 1]?.language !== "sh",
  );
  expect(printed).toEqual([]);
});

it.each(commands)("[DOCS-1] $headings.1: $text", async ({ text, printed }) => {
  const { output, code } = await shell.run(checkout.here(text));
  expect(output, shell.errors).toMatch(printedLike(checkout.here(printed)));
  expect(code, shell.errors).toBe(0);
});
