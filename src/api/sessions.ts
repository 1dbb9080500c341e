import * as z from "zod";
import { sessionStateSchema } from "../runtime/protocol/frames.ts";
import { createId } from "./idempotency.ts";
import { sessionObject, tenantObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { createSession, sessionBody, sessionFields } from "./session-creation.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf, pageQuery } from "./validation.ts";

const sessionSummary = sessionStateSchema.pick({
  id: true,
  agent: true,
  agentVersion: true,
  workspace: true,
  title: true,
  status: true,
  head: true,
  createdAt: true,
  updatedAt: true,
});

/**
 * Sessions as resources. The list comes from the tenant's index, so that it wakes no session; everything about one
 * session comes from its own object.
 */
export const sessionRoutes: readonly Route[] = [
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "POST",
      path: "/v1/sessions",
      summary: "Creates a session. Without a workspace it gets one of its own.",
      body: sessionBody,
      responses: { 201: sessionStateSchema },
      async handle(context) {
        const { id: chosen, ...body } = context.body;
        const id = await createId(context, context.caller.tenant, "POST /v1/sessions", chosen);
        return { status: 201, body: await createSession(context, id, body) };
      },
    },
  ),
  tenantRoute(
    { role: "viewer", scope: "none" },
    {
      method: "GET",
      path: "/v1/sessions",
      summary: "Lists the sessions, the newest first, as of their last turns.",
      query: pageQuery,
      responses: { 200: pageOf(sessionSummary) },
      async handle({ environment, caller, query }) {
        return {
          status: 200,
          body: unwrap(await tenantObject(environment, caller.tenant).listSessions(query)),
        };
      },
    },
  ),
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session",
      summary: "The state of a session.",
      responses: { 200: sessionStateSchema },
      async handle({ environment, caller, params }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        return { status: 200, body: unwrap(await session.state()) };
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "PATCH",
      path: "/v1/sessions/:session",
      summary: "Changes title, metadata or budget of a session.",
      body: z.strictObject(sessionFields),
      responses: { 200: sessionStateSchema },
      async handle({ environment, caller, act, params, body }) {
        const state = unwrap(await sessionObject(environment, caller.tenant, params.session).update(body));
        const { title } = state;
        unwrap(await tenantObject(environment, caller.tenant).noteSession(params.session, { title }, act));
        return { status: 200, body: state };
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "DELETE",
      path: "/v1/sessions/:session",
      summary: "Stops and deletes a session. Its id is never used again; its workspace stays.",
      responses: { 202: null },
      async handle({ environment, caller, act, params }) {
        unwrap(await tenantObject(environment, caller.tenant).removeSession(params.session, act));
        return { status: 202 };
      },
    },
  ),
];
