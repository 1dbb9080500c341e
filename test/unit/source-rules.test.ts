import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { sourceFiles } from "./support/source-files.ts";

function filesThatMatch(folders: readonly string[], pattern: RegExp): string[] {
  return folders.flatMap(sourceFiles).filter((file) => pattern.test(readFileSync(file, "utf8")));
}

it("[REPO-5] zod is imported as a namespace, since `{ z }` costs 66 kB more", () => {
  const named = /import\s+(?!type\b)[^*;]*?from\s+"zod"/;
  expect('import { z } from "zod";').toMatch(named);
  expect('import * as z from "zod";').not.toMatch(named);
  expect(filesThatMatch(["src"], named)).toEqual([]);
});

it("[REPO-6] no comment switches a check off", () => {
  const off = /(oxlint|eslint)-disable|@ts-(ignore|nocheck|expect-error)|oxfmt-ignore/;
  expect(filesThatMatch(["src", "client", "web", "scripts", "bench"], off)).toEqual([]);
});
