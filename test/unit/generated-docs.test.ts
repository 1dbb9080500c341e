import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ERROR_CODES } from "../../src/runtime/protocol/errors.ts";
import { DEFAULT_LIMITS } from "../../src/runtime/protocol/limits.ts";

/** Where the tables come from, and how they are made again. */
function page(title: string, source: string, text: string, table: readonly string[]): string {
  const made = `Made from \`${source}\`: after a change there, \`npx vitest run --project unit generated-docs -u\`.`;
  return [`# ${title}`, "", `${text} ${made}`, "", ...table, ""].join("\n");
}

it("[API-43] docs/errors.md is the list of error codes", async () => {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { status, means }]) => `| \`${code}\` | ${status === 0 ? "–" : status} | ${means} |`,
  );
  const text =
    'Every error is `{ "error": { "code", "message", "details"? } }` with the status of its code and an ' +
    "`x-request-id`. Codes without a status appear in events, tool results and socket frames only.";
  const table = ["| code | status | means |", "| --- | --- | --- |", ...rows];
  await expect(page("Errors", "src/runtime/protocol/errors.ts", text, table)).toMatchFileSnapshot(
    "../../docs/errors.md",
  );
});

it("[API-43] docs/limits.md is the table of limits", async () => {
  const rows = limitsInSource().map(
    ({ name, about }) => `| \`${name}\` | ${shown(name, DEFAULT_LIMITS[name])} | ${about} |`,
  );
  expect(rows).toHaveLength(Object.keys(DEFAULT_LIMITS).length);
  const text =
    "Every bound of the product. A deployment changes them in `src/deployment.ts`; the root key makes them smaller " +
    "for a tenant by `PATCH /v1/tenants/:t`.";
  const table = ["| limit | default | what it bounds |", "| --- | --- | --- |", ...rows];
  await expect(page("Limits", "src/runtime/protocol/limits.ts", text, table)).toMatchFileSnapshot(
    "../../docs/limits.md",
  );
});

/** The limits in their order, each with the comment above it, or above the first of its group. */
function limitsInSource(): { name: keyof typeof DEFAULT_LIMITS; about: string }[] {
  const source = readFileSync("src/runtime/protocol/limits.ts", "utf8");
  const table = source.slice(source.indexOf("DEFAULT_LIMITS = {"), source.indexOf("} as const"));
  let about = "";
  return [...table.matchAll(/\/\*\*(.*?)\*\/|^ {2}(\w+):/gms)].flatMap(([, comment, name]) => {
    if (comment !== undefined) about = comment.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim();
    return name === undefined ? [] : [{ name: name as keyof typeof DEFAULT_LIMITS, about }];
  });
}

const UNITS: readonly [suffix: RegExp, units: readonly [name: string, size: number][]][] = [
  [
    /Bytes$/,
    [
      ["GiB", 1024 ** 3],
      ["MiB", 1024 ** 2],
      ["KiB", 1024],
    ],
  ],
  [
    /Ms$/,
    [
      ["days", 86_400_000],
      ["h", 3_600_000],
      ["min", 60_000],
      ["s", 1_000],
    ],
  ],
];

/** A number in the largest unit that holds it whole. */
function shown(name: string, value: number): string {
  const units = UNITS.find(([suffix]) => suffix.test(name))?.[1] ?? [];
  const unit = units.find(([, size]) => value % size === 0);
  if (unit) return `${value / unit[1]} ${unit[0]}`;
  return name.endsWith("Ms") ? `${value} ms` : value.toLocaleString("en-US");
}
