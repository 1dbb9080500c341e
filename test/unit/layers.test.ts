import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

/** A file of the copied tree and the one statement in it. */
type Planted = readonly [file: string, statement: string];

const REFUSED: readonly Planted[] = [
  // Upwards and sideways, one for each layer.
  ["src/runtime/protocol/a.ts", 'export { x } from "../model/x.ts";'],
  ["src/runtime/model/a.ts", 'export { x } from "../tool/x.ts";'],
  ["src/runtime/tool/a.ts", 'export { x } from "../model/x.ts";'],
  ["src/runtime/session/a.ts", 'export { x } from "../loop/x.ts";'],
  ["src/runtime/workspace/a.ts", 'export { x } from "../tool/x.ts";'],
  ["src/runtime/context/a.ts", 'export { x } from "../tool/x.ts";'],
  ["src/runtime/guard/a.ts", 'export { x } from "../loop/x.ts";'],
  ["src/runtime/trace/a.ts", 'export { x } from "../agent/x.ts";'],
  ["src/runtime/loop/a.ts", 'export { x } from "../guard/x.ts";'],
  ["src/runtime/loop/b.ts", 'export { x } from "../workspace/x.ts";'],
  ["src/runtime/loop/c.ts", 'export { x } from "../agent/x.ts";'],
  ["src/runtime/agent/a.ts", 'export { x } from "../mcp/x.ts";'],
  ["src/runtime/mcp/a.ts", 'export { x } from "../loop/x.ts";'],
  ["src/runtime/graph/a.ts", 'export { x } from "../session/x.ts";'],
  ["src/runtime/evolve/a.ts", 'export { x } from "../model/x.ts";'],
  ["src/runtime/unknown/a.ts", 'export { x } from "../protocol/x.ts";'],
  ["src/tools/a.ts", 'export { x } from "../runtime/loop/x.ts";'],
  // Every form of an import.
  ["src/runtime/loop/value.ts", 'import { x } from "../context/x.ts"; export const y = x;'],
  ["src/runtime/loop/all.ts", 'export * from "../context/x.ts";'],
  ["src/runtime/loop/effect.ts", 'import "../context/x.ts";'],
  ["src/runtime/loop/dynamic.ts", 'export const y = () => import("../context/x.ts");'],
  ["src/runtime/tool/type.ts", 'import type { X } from "../model/x.ts"; export type Y = X;'],
  ["src/runtime/tool/bare.ts", 'export { x } from "../model/x";'],
  ["src/runtime/tool/deep/a.ts", 'export { x } from "../../model/x.ts";'],
  ["src/runtime/tool/around.ts", 'export { x } from "../../runtime/model/x.ts";'],
  // The runtime is portable.
  ["src/runtime/agent/cloudflare.ts", 'export { env } from "cloudflare:workers";'],
  ["src/runtime/agent/node.ts", 'export { join } from "node:path";'],
  [
    "src/runtime/agent/types.ts",
    'import type { R2Bucket } from "@cloudflare/workers-types"; export type Y = R2Bucket;',
  ],
  ["src/runtime/agent/sockets.ts", 'export { Server } from "partyserver";'],
  ["src/runtime/agent/http.ts", 'export { Hono } from "hono";'],
  ["src/runtime/agent/http-deep.ts", 'export { cors } from "hono/cors";'],
  ["src/runtime/agent/durable.ts", 'export { x } from "../../durable/x.ts";'],
  ["src/runtime/agent/api.ts", 'export { x } from "../../api/x.ts";'],
  ["src/runtime/agent/tools.ts", 'export { x } from "../../tools/x.ts";'],
  ["src/runtime/agent/deployment.ts", 'export { x } from "../../deployment.ts";'],
  ["src/runtime/agent/barrel.ts", 'export { x } from "../../index.ts";'],
  ["src/tools/durable.ts", 'export { x } from "../durable/x.ts";'],
  ["src/index.ts", 'export { x } from "./durable/x.ts";'],
  // Packages have their places.
  ["src/runtime/session/zod.ts", 'export { z } from "zod";'],
  ["src/runtime/loop/openai.ts", 'export const y = () => import("openai");'],
  ["src/deployment.ts", 'export { OpenAI } from "openai";'],
  ["src/durable/openai.ts", 'export { OpenAI } from "openai";'],
  ["src/api/openai.ts", 'export { OpenAI } from "openai";'],
  // Routes and storage know each other by RPC only.
  ["src/api/store.ts", 'import type { X } from "../durable/log-store.ts"; export type Y = X;'],
  ["src/api/migrations.ts", 'import type { X } from "../durable/migrations.ts"; export type Y = X;'],
  ["src/api/value.ts", 'export { x } from "../durable/session.ts";'],
  ["src/durable/routes.ts", 'export { x } from "../api/x.ts";'],
  // Clients know the protocol.
  ["client/loop.ts", 'export { x } from "../src/runtime/loop/x.ts";'],
  ["client/api.ts", 'export { x } from "../src/api/x.ts";'],
  ["client/node.ts", 'export { join } from "node:path";'],
  ["web/session.ts", 'export { x } from "../src/durable/session.ts";'],
  ["web/deep/agent.ts", 'export { x } from "../../src/runtime/agent/x.ts";'],
];

/** A form that the rule on imports does not see, and another rule forbids everywhere. */
const ANNOTATION: Planted = ["src/runtime/loop/annotation.ts", 'export type Y = import("../agent/x.ts").X;'];

const ALLOWED: readonly Planted[] = [
  ["src/runtime/protocol/zod.ts", 'import * as z from "zod"; export const y = z.string();'],
  ["src/runtime/model/protocol.ts", 'export { x } from "../protocol/x.ts";'],
  ["src/runtime/model/openai.ts", 'export const y = () => import("openai");'],
  ["src/runtime/tool/zod.ts", 'import * as z from "zod"; export const y = z.string();'],
  ["src/runtime/workspace/re2.ts", 'export const y = () => import("re2js");'],
  ["src/runtime/context/model.ts", 'export { x } from "../model/x.ts";'],
  ["src/runtime/guard/tool.ts", 'export { x } from "../tool/x.ts";'],
  ["src/runtime/guard/re2.ts", 'export const y = () => import("re2js");'],
  ["src/runtime/loop/session.ts", 'export { x } from "../session/x.ts";'],
  ["src/runtime/loop/context-type.ts", 'import type { X } from "../context/x.ts"; export type Y = X;'],
  ["src/runtime/agent/loop.ts", 'export { x } from "../loop/x.ts";'],
  ["src/runtime/agent/queue.ts", 'export { default as PQueue } from "p-queue";'],
  ["src/runtime/mcp/agent.ts", 'export { x } from "../agent/x.ts";'],
  ["src/tools/workspace.ts", 'export { x } from "../runtime/workspace/x.ts";'],
  ["src/durable/agent.ts", 'export { x } from "../runtime/agent/x.ts";'],
  ["src/durable/platform.ts", 'export { DurableObject } from "cloudflare:workers";'],
  ["src/api/session-type.ts", 'import type { X } from "../durable/session.ts"; export type Y = X;'],
  ["src/api/hono.ts", 'export { Hono } from "hono";'],
  ["client/protocol.ts", 'export { x } from "../src/runtime/protocol/x.ts";'],
  ["web/client.ts", 'export { x } from "../client/index.ts";'],
  ["web/index.ts", 'export { x } from "./api/x.ts";'],
];

const CYCLE: readonly Planted[] = [
  ["src/runtime/trace/one.ts", 'import { two } from "./two.ts"; export const one = (): unknown => two;'],
  ["src/runtime/trace/two.ts", 'import { one } from "./one.ts"; export const two = (): unknown => one;'],
];

interface Report {
  readonly diagnostics: readonly { readonly filename: string; readonly code: string }[];
}

let tree: string;
let status: number | null;
let broken: Map<string, string[]>;

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), "layers-"));
  ({ status, broken } = lint([...REFUSED, ANNOTATION, ...ALLOWED, ...CYCLE]));
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

/** Lints a tree of these files with the project's own configuration, and gives the broken rules by file. */
function lint(planted: readonly Planted[]): { status: number | null; broken: Map<string, string[]> } {
  for (const file of ["oxlint.config.ts", "package.json", "tsconfig.json", "tsconfig.base.json"]) {
    copyFileSync(file, join(tree, file));
  }
  symlinkSync(join(process.cwd(), "node_modules"), join(tree, "node_modules"));
  for (const [file, statement] of planted) {
    mkdirSync(join(tree, dirname(file)), { recursive: true });
    writeFileSync(join(tree, file), `${statement}\n`);
  }
  const oxlint = join(process.cwd(), "node_modules/oxlint/bin/oxlint");
  const run = spawnSync(process.execPath, [oxlint, "--format", "json"], { cwd: tree, encoding: "utf8" });
  const { diagnostics } = JSON.parse(run.stdout) as Report;
  const byFile = Map.groupBy(diagnostics, ({ filename }) => filename);
  return {
    status: run.status,
    broken: new Map([...byFile].map(([file, list]) => [file, list.map(({ code }) => code)])),
  };
}

it("[REPO-1] a breach fails the run", () => {
  expect(status).toBe(1);
});

it.each(REFUSED)("[REPO-1] refuses in %s: %s", (file) => {
  expect(broken.get(file)).toContain("eslint(no-restricted-imports)");
});

it("[REPO-1] refuses an import in the place of a type", () => {
  expect(broken.get(ANNOTATION[0])).toContain("typescript(consistent-type-imports)");
});

it.each(ALLOWED)("[REPO-1] allows in %s: %s", (file) => {
  expect(broken.get(file)).toBeUndefined();
});

it("[REPO-2] refuses a cycle", () => {
  for (const [file] of CYCLE) expect(broken.get(file)).toContain("import(no-cycle)");
});
