import { forward, pickHeaders } from "./forward.ts";
import { sessionObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";

/** What was too long for the log. The bytes stream from R2 through the Session object, a range at a time. */
export const artifactRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/artifacts/:ref",
      summary: "The bytes of a string that was too long for the log; Range is honoured.",
      responses: { 200: ["application/octet-stream"], 206: ["application/octet-stream"] },
      async handle({ environment, request, caller, params }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        const response = await forward(session, caller, `https://session/artifacts/${params.ref}`, {
          headers: pickHeaders(request, ["range"]),
          signal: request.signal,
        });
        // Models and tools wrote it: a browser must not take it for a page of ours.
        if (response.ok) response.headers.set("content-disposition", "attachment");
        return response;
      },
    },
  ),
];
