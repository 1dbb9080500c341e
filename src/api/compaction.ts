import * as z from "zod";
import { unwrap } from "../runtime/protocol/answer.ts";
import { compactBodySchema } from "../runtime/protocol/frames.ts";
import { sessionObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";

/** Making a conversation smaller by hand; a turn does it by itself when it has to. */
export const compactionRoutes: readonly Route[] = [
  tenantRoute(
    { role: "member", scope: "prompt" },
    {
      method: "POST",
      path: "/v1/sessions/:session/compact",
      summary: "Puts a summary in the place of an earlier part of the conversation, between turns.",
      body: compactBodySchema,
      responses: { 200: z.object({ throughSeq: z.int(), before: z.int(), after: z.int() }) },
      async handle({ environment, caller, params, body }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        return { status: 200, body: unwrap(await session.compact(body, caller.principal)) };
      },
    },
  ),
];
