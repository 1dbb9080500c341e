import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Environment } from "./environment.ts";

const REQUEST_HEADERS =
  "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, range, x-user-id";
const EXPOSED_HEADERS =
  "accept-ranges, content-disposition, content-range, etag, retry-after, x-request-id, x-session-id";
const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
const PREFLIGHT_SECONDS = "600";

/** The origin of a browser's request when it may call: the Worker's own, or one of ALLOWED_ORIGINS. */
function allowedOrigin(request: Request, environment: Environment): string | null {
  const origin = request.headers.get("origin");
  if (origin === null) return null;
  const listed = (environment.ALLOWED_ORIGINS ?? "").split(",").map((entry) => entry.trim());
  return origin === new URL(request.url).origin || listed.includes(origin) ? origin : null;
}

/**
 * Refuses a browser's request from a foreign page. For WebSockets, which browsers open across origins without
 * asking; for the rest, what the browser may read follows from {@link addCorsHeaders}.
 * @throws origin_not_allowed
 */
export function checkOrigin(request: Request, environment: Environment): void {
  if (request.headers.has("origin") && allowedOrigin(request, environment) === null) {
    throw new LightAgentError("origin_not_allowed", "This origin is not in ALLOWED_ORIGINS.");
  }
}

/** Tells a browser on an allowed page that it may read the response. */
export function addCorsHeaders(headers: Headers, request: Request, environment: Environment): void {
  headers.append("vary", "Origin");
  const origin = allowedOrigin(request, environment);
  if (origin === null) return;
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
}

/** The answer to `OPTIONS`, on any path: whether there is something is told by the request itself. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": REQUEST_HEADERS,
      "access-control-max-age": PREFLIGHT_SECONDS,
    },
  });
}
