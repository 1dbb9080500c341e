import * as z from "zod";
import { deployment } from "../deployment.ts";
import { durablePayloads } from "../runtime/protocol/durable-events.ts";
import type { DurableType } from "../runtime/protocol/durable-events.ts";
import { durableSchema, isEventType } from "../runtime/protocol/events.ts";
import { STREAM_TYPES, streamEvents, streamFormatOf } from "./event-stream.ts";
import { sessionObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { check, commaList, wholeNumber } from "./validation.ts";

/** A cursor: the `seq` of the last event that the reader has; 0 for none. */
export const afterField = wholeNumber(0, Number.MAX_SAFE_INTEGER);

const eventType = z.string().refine(isEventType, "is not an event type");

const eventsQuery = z.strictObject({
  after: afterField.default(0),
  limit: wholeNumber(1, deployment.limits.eventsPageMax).default(deployment.limits.eventsPageDefault),
  types: commaList(eventType).exactOptional(),
});

/** Any event of the log, for the API's description; what the log holds was checked when it was written. */
const durableEvent = z.union(Object.keys(durablePayloads).map((type) => durableSchema(type as DurableType)));

const eventsPage = z.object({
  events: z.array(durableEvent).readonly(),
  head: z.int(),
  next: z.int().nullable(),
  logId: z.string(),
});

/**
 * The log. A page is one RPC; a stream is the Session object's own response, which follows the log at the reader's
 * pace and passes through here untouched.
 */
export const eventRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/events",
      summary: "The log after a cursor: a JSON page, or by `Accept` a stream of it that follows live.",
      query: eventsQuery,
      responses: { 200: eventsPage },
      streams: STREAM_TYPES,
      async handle(context) {
        const { environment, request, caller, params, query } = context;
        const session = sessionObject(environment, caller.tenant, params.session);
        const format = streamFormatOf(request);
        if (format === null) return { status: 200, body: unwrap(await session.events(query)) };
        const { types } = query;
        const after = format === "sse" ? resumedAt(request, query.after) : query.after;
        return streamEvents(context, session, { format, after, ...(types && { types }) });
      },
    },
  ),
];

/** Browsers reconnect to the same address and say by a header how far they are. */
function resumedAt(request: Request, after: number): number {
  const last = request.headers.get("last-event-id");
  if (last === null || last === "") return after;
  return check(z.object({ after: afterField }), { after: last }, "query").after;
}
