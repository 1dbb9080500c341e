import * as z from "zod";
import { durableSchema } from "../runtime/protocol/events.ts";
import { restoreBodySchema, sessionStateSchema } from "../runtime/protocol/frames.ts";
import { createId } from "./idempotency.ts";
import { sessionObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { forkBody, forkSession } from "./session-fork.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf, pageQuery } from "./validation.ts";

const checkpoint = z.object({
  turn: z.int().positive(),
  seq: z.int().nonnegative(),
  at: z.number(),
  preview: z.string(),
  workspaceVersion: z.int().nonnegative().nullable(),
});

/** Time travel: the points that a session can go back to, going back, and a session that begins at such a point. */
export const checkpointRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/checkpoints",
      summary: "The points just before each turn, the newest first.",
      query: pageQuery,
      responses: { 200: pageOf(checkpoint) },
      async handle({ environment, caller, params, query }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        return { status: 200, body: unwrap(await session.checkpoints(query)) };
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "prompt" },
    {
      method: "POST",
      path: "/v1/sessions/:session/restore",
      summary: "Takes the conversation, the files that the session changed, or both back to a point.",
      body: restoreBodySchema,
      responses: { 200: durableSchema("checkpoint_restore") },
      async handle({ environment, caller, params, body }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        return { status: 200, body: unwrap(await session.restore(body, caller.principal)) };
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "prompt" },
    {
      method: "POST",
      path: "/v1/sessions/:session/fork",
      summary: "Creates a session that begins as this one was at a point, on a branch of its workspace.",
      body: forkBody,
      responses: { 201: sessionStateSchema },
      async handle(context) {
        const { session } = context.params;
        const { id: chosen, ...body } = context.body;
        const route = `POST /v1/sessions/${session}/fork`;
        const id = await createId(context, context.caller.tenant, route, chosen);
        return { status: 201, body: await forkSession(context, session, id, body) };
      },
    },
  ),
];
