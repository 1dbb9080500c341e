import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { sourceFiles } from "./support/source-files.ts";

/** A transaction over several stores is no SQL: its place is above them. */
const SQL = /\bsql\s*\.\s*exec\s*(<.*?>\s*)?\(/s;
const PLACES = /^src\/durable\/([a-z-]+-store|([a-z-]+-)?migrations)\.ts$/;

it("[REPO-3] SQL stands in stores and migrations only", () => {
  const withSql = sourceFiles("src").filter((file) => SQL.test(readFileSync(file, "utf8")));
  expect(withSql.filter((file) => !PLACES.test(file))).toEqual([]);
});

it.each([
  "this.ctx.storage.sql.exec('SELECT 1')",
  "sql.exec<{ n: number }>(query)",
  "storage.sql\n  .exec(query)",
])("[REPO-3] finds SQL in %j", (text) => {
  expect(text).toMatch(SQL);
});
