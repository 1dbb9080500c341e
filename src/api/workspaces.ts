import * as z from "zod";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import { principalSchema } from "../runtime/protocol/principal.ts";
import { createId } from "./idempotency.ts";
import { tenantObject, workspaceObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { nameSchema, pageOf, pageQuery } from "./validation.ts";

const READ = { role: "viewer", scope: "none" } as const;
const CHANGE = { role: "member", scope: "none" } as const;

const workspaceView = z.object({
  id: z.string(),
  name: z.string(),
  version: z.int(),
  files: z.int(),
  bytes: z.int(),
  createdAt: z.number(),
  createdBy: principalSchema,
});

const workspaceSummary = workspaceView.pick({ id: true, name: true, createdAt: true });

export const workspaceRoutes: readonly Route[] = [
  tenantRoute(CHANGE, {
    method: "POST",
    path: "/v1/workspaces",
    summary: "Creates an empty workspace.",
    body: z.strictObject({ id: idSchema.exactOptional(), name: nameSchema.exactOptional() }),
    responses: { 201: workspaceView },
    async handle(context) {
      const { environment, caller, act, body } = context;
      const { tenant, principal } = caller;
      const { id, repeatable } = await createId(context, tenant, "POST /v1/workspaces", body.id);
      const { name = id } = body;
      // The tenant's index comes first, so that a request that was cut off is completed when it is repeated.
      const index = tenantObject(environment, tenant);
      const { fresh } = unwrap(await index.admitWorkspace({ id, name, repeatable }, act));
      const workspace = workspaceObject(environment, tenant, id);
      if (!fresh && !repeatable && (await workspace.state()).ok) {
        throw new LightAgentError("id_taken", "There is a workspace with this id.");
      }
      return { status: 201, body: unwrap(await workspace.create({ tenant, id, name, by: principal })) };
    },
  }),
  tenantRoute(READ, {
    method: "GET",
    path: "/v1/workspaces",
    summary: "Lists the workspaces, the newest first.",
    query: pageQuery,
    responses: { 200: pageOf(workspaceSummary) },
    async handle({ environment, caller, query }) {
      const index = tenantObject(environment, caller.tenant);
      return { status: 200, body: unwrap(await index.listWorkspaces(query)) };
    },
  }),
  tenantRoute(READ, {
    method: "GET",
    path: "/v1/workspaces/:workspace",
    summary: "A workspace, with the version of its main branch and what that holds.",
    responses: { 200: workspaceView },
    async handle({ environment, caller, params }) {
      const workspace = workspaceObject(environment, caller.tenant, params.workspace);
      return { status: 200, body: unwrap(await workspace.state()) };
    },
  }),
  tenantRoute(CHANGE, {
    method: "DELETE",
    path: "/v1/workspaces/:workspace",
    summary: "Deletes a workspace with all its versions. Its id is never used again.",
    responses: { 202: null },
    async handle({ environment, caller, act, params }) {
      unwrap(await tenantObject(environment, caller.tenant).removeWorkspace(params.workspace, act));
      return { status: 202 };
    },
  }),
];
