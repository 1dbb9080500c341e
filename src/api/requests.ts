import * as z from "zod";
import { durableSchema } from "../runtime/protocol/events.ts";
import { answerBodySchema, decisionBodySchema } from "../runtime/protocol/frames.ts";
import { sessionObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf } from "./validation.ts";

const openRequest = z.union([durableSchema("approval_request"), durableSchema("input_request")]);

/** What a session's turn waits for a person to say: approvals of calls, and questions. */
export const requestRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/requests",
      summary: "The approvals and questions that are open, as the events that opened them.",
      responses: { 200: pageOf(openRequest) },
      async handle({ environment, caller, params }) {
        const open = unwrap(await sessionObject(environment, caller.tenant, params.session).requests());
        return { status: 200, body: { data: open.map((request) => ({ ...request })), next: null } };
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "decide" },
    {
      method: "POST",
      path: "/v1/sessions/:session/approvals/:approval",
      summary: "Allows or denies a call. The first answer wins; the same again is answered alike.",
      body: decisionBodySchema,
      responses: { 200: z.object({}) },
      async handle({ environment, caller, params, body }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        unwrap(await session.decide(params.approval, body, caller.principal));
        return { status: 200, body: {} };
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "decide" },
    {
      method: "POST",
      path: "/v1/sessions/:session/inputs/:input",
      summary: "Answers a question. The first answer wins; the same again is answered alike.",
      body: answerBodySchema,
      responses: { 200: z.object({}) },
      async handle({ environment, caller, params, body }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        unwrap(await session.answerQuestion(params.input, body, caller.principal));
        return { status: 200, body: {} };
      },
    },
  ),
];
