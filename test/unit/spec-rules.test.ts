import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { sourceFiles } from "./support/source-files.ts";

/** A rule's id at the start of a list item of SPEC.md. */
const RULE = /^- \*\*([A-Z]+-\d+)\*\*/gm;
/** Ids in brackets at the start of a title, which is a string, so after its quote. */
const TITLE = /["'`]((?:\[[A-Z]+-\d+\]\s*)+)/g;

const rules = [...readFileSync("SPEC.md", "utf8").matchAll(RULE)].map(([, id = ""]) => id);
const tested = new Map(
  sourceFiles("test").flatMap((file) => idsOfTitles(readFileSync(file, "utf8")).map((id) => [id, file])),
);

function idsOfTitles(text: string): string[] {
  return [...text.matchAll(TITLE)].flatMap(([, ids = ""]) => ids.match(/[A-Z]+-\d+/g) ?? []);
}

it("[REPO-4] no rule has another one's id", () => {
  expect(rules.filter((id, index) => rules.indexOf(id) !== index)).toEqual([]);
});

it("[REPO-4] every rule that a test names is in SPEC.md", () => {
  expect([...tested].filter(([id]) => !rules.includes(id))).toEqual([]);
});

it("[REPO-4] every rule in SPEC.md has a test", () => {
  expect(rules.filter((id) => !tested.has(id))).toEqual([]);
});

it("[REPO-4] finds the ids in titles and nowhere else", () => {
  const id = (number: number): string => `[AB-${number}]`;
  const titles = `it('${id(1)} x'); it(\`${id(2)} ${id(3)} y\`); it.each([])("${id(4)} %s")`;
  expect(idsOfTitles(`${titles}; list${id(5)}`)).toEqual(["AB-1", "AB-2", "AB-3", "AB-4"]);
});
