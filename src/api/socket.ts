import * as z from "zod";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { WEBSOCKET_PROTOCOL } from "../runtime/protocol/websocket.ts";
import { subprotocolsOf } from "./credentials.ts";
import { afterField } from "./events.ts";
import { forward } from "./forward.ts";
import { sessionObject } from "./objects.ts";
import { checkOrigin } from "./origins.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";

/** The way in for sockets. After the upgrade the Session object and the client talk past this Worker. */
export const socketRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/ws",
      summary: "A WebSocket: the log after a cursor, then everything live; prompts and interrupts in return.",
      query: z.strictObject({ after: afterField.default(0) }),
      responses: { 101: null },
      async handle({ environment, request, caller, params, query }) {
        if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
          throw new LightAgentError("invalid_request", "This address takes WebSocket upgrades only.");
        }
        checkOrigin(request, environment);
        const session = sessionObject(environment, caller.tenant, params.session);
        const response = await forward(session, caller, `https://session/ws?after=${query.after}`, {
          headers: { upgrade: "websocket" },
          signal: request.signal,
        });
        // A browser drops a connection whose answer selects none of the subprotocols that it offered.
        if (response.status === 101 && subprotocolsOf(request).includes(WEBSOCKET_PROTOCOL)) {
          response.headers.set("sec-websocket-protocol", WEBSOCKET_PROTOCOL);
        }
        return response;
      },
    },
  ),
];
