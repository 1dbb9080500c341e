import * as z from "zod";
import { unwrap } from "../runtime/protocol/answer.ts";
import { sessionObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { wholeNumber } from "./validation.ts";

const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().exactOptional(),
  name: z.string(),
  kind: z.enum(["INTERNAL", "CLIENT"]),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string().exactOptional(),
  attributes: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]))
    .readonly(),
  status: z.object({ code: z.enum(["UNSET", "OK", "ERROR"]) }),
});

/** What a turn did, step by step, and how long it took. */
export const traceRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/trace",
      summary: "The spans of one turn, the last one by default, by OpenTelemetry's names for generative AI.",
      query: z
        .strictObject({ turn: wholeNumber(1, Number.MAX_SAFE_INTEGER).nullable().default(null) })
        .readonly(),
      responses: { 200: z.object({ turn: z.int().nonnegative(), spans: z.array(span).readonly() }) },
      async handle({ environment, caller, params, query }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        return { status: 200, body: unwrap(await session.turnTrace(query.turn)) };
      },
    },
  ),
];
