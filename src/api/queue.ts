import * as z from "zod";
import { principalSchema } from "../runtime/protocol/principal.ts";
import { sessionObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf } from "./validation.ts";

const queuedPrompt = z.object({
  promptId: z.string(),
  mode: z.string(),
  preview: z.string(),
  by: principalSchema,
  at: z.number(),
});

/** The prompts that have been accepted and wait. There are at most as many as the limit, so the list is one part. */
export const queueRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/queue",
      summary: "The prompts that wait, in the order in which they will run.",
      responses: { 200: pageOf(queuedPrompt) },
      async handle({ environment, caller, params }) {
        const data = unwrap(await sessionObject(environment, caller.tenant, params.session).waiting());
        return { status: 200, body: { data, next: null } };
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "prompt" },
    {
      method: "DELETE",
      path: "/v1/sessions/:session/queue/:promptId",
      summary: "Withdraws a waiting prompt.",
      responses: { 204: null },
      async handle({ environment, caller, params }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        unwrap(await session.unqueue(params.promptId, caller.principal));
        return { status: 204 };
      },
    },
  ),
];
