import * as z from "zod";
import { principalSchema } from "../runtime/protocol/principal.ts";
import { tenantObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf, pageQuery } from "./validation.ts";

const auditRow = z.object({
  number: z.int(),
  at: z.number(),
  by: principalSchema,
  keyId: z.string().exactOptional(),
  action: z.string(),
  target: z.string(),
  result: z.string(),
  requestId: z.string().exactOptional(),
});

/** The audit log: read only, for admins. It is written where changes are made, never through HTTP. */
export const auditRoutes: readonly Route[] = [
  tenantRoute(
    { role: "admin", scope: "none" },
    {
      method: "GET",
      path: "/v1/audit",
      summary: "Who changed and decided what, newest first.",
      query: pageQuery,
      responses: { 200: pageOf(auditRow) },
      async handle({ environment, caller, query }) {
        return { status: 200, body: unwrap(await tenantObject(environment, caller.tenant).audit(query)) };
      },
    },
  ),
];
