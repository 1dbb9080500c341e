import * as z from "zod";
import { canonicalPath } from "../runtime/workspace/canonical-path.ts";
import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { branchField, changedSchema } from "./files.ts";
import { workspaceObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { wholeNumber } from "./validation.ts";

const version = wholeNumber(0, Number.MAX_SAFE_INTEGER).exactOptional();

const side = z.object({ size: z.int(), sha256: z.string() });

const versionDiff = z.object({
  from: z.int(),
  to: z.int(),
  changes: z
    .array(
      z.object({
        path: z.string(),
        change: z.enum(["added", "changed", "deleted", "moved"]),
        from: z.string().exactOptional(),
        before: side.exactOptional(),
        after: side.exactOptional(),
      }),
    )
    .readonly(),
  more: z.boolean(),
});

const textDiff = z.object({ from: z.int(), to: z.int(), path: z.string(), patch: z.string().nullable() });

/** Many files at once, and what has changed. */
export const workspaceChangeRoutes: readonly Route[] = [
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "POST",
      path: "/v1/workspaces/:workspace/delete",
      summary: "Deletes files and folders by their paths, and files by a glob, as one version.",
      query: z.strictObject(branchField),
      body: z
        .strictObject({
          paths: z.array(z.string()).min(1).max(10_000).readonly().exactOptional(),
          pattern: z.string().min(1).exactOptional(),
        })
        .readonly(),
      responses: { 200: changedSchema },
      async handle({ environment, caller, params, query, body }) {
        const workspace = workspaceObject(environment, caller.tenant, params.workspace);
        const { branch = MAIN_BRANCH } = query;
        return {
          status: 200,
          body: unwrap(await workspace.deleteAll(branch, { by: caller.principal }, body)),
        };
      },
    },
  ),
  tenantRoute(
    { role: "viewer", scope: "none" },
    {
      method: "GET",
      path: "/v1/workspaces/:workspace/diff",
      summary:
        "What changed from one version of a branch to another, by path; with `path` the text of that file as a " +
        "unified diff (null for what is binary or too large). By default the last change.",
      query: z.strictObject({ ...branchField, from: version, to: version, path: z.string().exactOptional() }),
      responses: { 200: z.union([versionDiff, textDiff]) },
      async handle({ environment, caller, params, query }) {
        const workspace = workspaceObject(environment, caller.tenant, params.workspace);
        const { branch = MAIN_BRANCH, path, ...versions } = query;
        const range = { branch, ...versions };
        if (path === undefined) return { status: 200, body: unwrap(await workspace.diff(range)) };
        return { status: 200, body: unwrap(await workspace.textDiff(range, canonicalPath(path))) };
      },
    },
  ),
];
