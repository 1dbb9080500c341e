import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";

/** Bytes, gzipped. Raised only in the change that needs it, with the reason. */
const CEILING = 1_000_000;
/** The same without the shell, which is evaluated only when it is called. */
const CEILING_WITHOUT_SHELL = 450_000;
/** Text of a zod translation: all of them come along as soon as somebody imports `{ z }`. */
const TRANSLATION = "Input tidak valid";

let output: string;
let status: number | null;
let message: string;
let code: string;

/** What a dry run bundles. */
function bundle(...args: string[]): { status: number | null; message: string; code: string } {
  const folder = mkdtempSync(join(output, "bundle-"));
  const { status: exit, stderr } = spawnSync(
    process.execPath,
    ["node_modules/wrangler/bin/wrangler.js", "deploy", "--dry-run", "--outdir", folder, ...args],
    { encoding: "utf8", env: { ...process.env, CI: "true" } },
  );
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const modules = names.filter((name) => /\.m?js$/.test(name));
  const text = modules.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  return { status: exit, message: stderr, code: text };
}

beforeAll(() => {
  output = mkdtempSync(join(tmpdir(), "deploy-"));
  ({ status, message, code } = bundle());
});

afterAll(() => rmSync(output, { recursive: true }));

it("[REPO-7] a dry run of the deployment succeeds and exports the Durable Objects", () => {
  expect(status, message).toBe(0);
  const exported = code.match(/export\s*\{[^}]*\}/g)?.at(-1) ?? "";
  expect(exported.match(/\b(Memory|Session|Tenant|Workspace)\b/g)?.toSorted()).toEqual([
    "Memory",
    "Session",
    "Tenant",
    "Workspace",
  ]);
});

it("[REPO-7] the Worker stays within its size", () => {
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(CEILING);
});

it("[TOOL-45] the Worker without the shell stays within its size, and nothing needs Node", () => {
  // Another module in its place: everything but the shell itself is there.
  const { code: rest } = bundle("--alias", "just-bash/browser:ulid");
  expect(gzipSync(rest, { level: 9 }).length).toBeLessThanOrEqual(CEILING_WITHOUT_SHELL);
  expect(rest.length).toBeLessThan(code.length);
  expect(code).not.toMatch(/from\s*"node:/);
});

it("[REPO-5] no translation of zod comes along", () => {
  expect(code.includes(TRANSLATION)).toBe(false);
});
