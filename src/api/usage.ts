import * as z from "zod";
import { usageSchema } from "../runtime/protocol/usage.ts";
import { tenantObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf, pageQuery } from "./validation.ts";

const usageSum = z.object({
  day: z.string(),
  agent: z.string(),
  model: z.string(),
  usage: usageSchema,
  cost: z.int(),
});

/** Days of UTC, both included. */
const usageQuery = pageQuery.unwrap().extend({
  from: z.iso.date().default("0001-01-01"),
  to: z.iso.date().default("9999-12-31"),
});

/** Tokens and costs, for admins. They come from the reports of turns, so a running turn is not among them yet. */
export const usageRoutes: readonly Route[] = [
  tenantRoute(
    { role: "admin", scope: "none" },
    {
      method: "GET",
      path: "/v1/usage",
      summary: "What was used, in sums by day, agent and model.",
      query: usageQuery,
      responses: { 200: pageOf(usageSum) },
      async handle({ environment, caller, query }) {
        const { from, to, ...page } = query;
        const tenant = tenantObject(environment, caller.tenant);
        return { status: 200, body: unwrap(await tenant.usage({ from, to }, page)) };
      },
    },
  ),
];
