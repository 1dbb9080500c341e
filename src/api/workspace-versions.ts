import * as z from "zod";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { principalSchema } from "../runtime/protocol/principal.ts";
import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import { branchField, changedSchema } from "./files.ts";
import { tenantObject, workspaceObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf, pageQuery } from "./validation.ts";

const versionEntry = z.object({
  version: z.int(),
  at: z.number(),
  by: principalSchema,
  session: z.string().exactOptional(),
  turn: z.int().exactOptional(),
  callId: z.string().exactOptional(),
  changes: z.int(),
  paths: z.array(z.string()).readonly().exactOptional(),
  files: z.int(),
  bytes: z.int(),
});

export const workspaceVersionRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "none" },
    {
      method: "GET",
      path: "/v1/workspaces/:workspace/versions",
      summary: "The versions of a branch, the newest first: who changed what, and when.",
      query: pageQuery.unwrap().extend(branchField),
      responses: { 200: pageOf(versionEntry) },
      async handle({ environment, caller, params, query }) {
        const workspace = workspaceObject(environment, caller.tenant, params.workspace);
        const { branch = MAIN_BRANCH, limit, cursor } = query;
        const before = beforeOf(cursor);
        const { versions, next } = unwrap(
          await workspace.versions(branch, { limit, ...(before !== null && { before }) }),
        );
        return { status: 200, body: { data: versions, next: next === null ? null : String(next) } };
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "POST",
      path: "/v1/workspaces/:workspace/restore",
      summary: "Makes a branch what it was at a version; the versions since stay in its history.",
      query: z.strictObject(branchField),
      body: z.strictObject({ version: z.int().nonnegative() }),
      responses: { 200: changedSchema },
      async handle({ environment, caller, act, params, query, body }) {
        const workspace = workspaceObject(environment, caller.tenant, params.workspace);
        const { branch = MAIN_BRANCH } = query;
        const changed = unwrap(await workspace.restore(branch, body.version, { by: caller.principal }));
        const target = `workspace:${params.workspace}`;
        unwrap(await tenantObject(environment, caller.tenant).record("workspace.restore", target, act));
        return { status: 200, body: changed };
      },
    },
  ),
];

function beforeOf(cursor: string | null): number | null {
  if (cursor === null) return null;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new LightAgentError("invalid_request", "The cursor is not the `next` of the part before.");
}
