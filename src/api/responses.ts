import { ERROR_CODES, LightAgentError, isLightAgentError, toErrorBody } from "../runtime/protocol/errors.ts";

/** The form of every error: `{ error: { code, message, details? } }` with the status of its code. */
export function errorResponse(caught: unknown): Response {
  const { code, message, details } = toErrorBody(caught);
  const headers = new Headers({ "content-type": "application/json" });
  if (code === "unauthorized") headers.set("www-authenticate", "Bearer");
  const allow = details?.["allow"];
  if (code === "method_not_allowed" && Array.isArray(allow)) headers.set("allow", allow.join(", "));
  const retryAfterMs = details?.["retryAfterMs"];
  if (typeof retryAfterMs === "number") headers.set("retry-after", String(Math.ceil(retryAfterMs / 1_000)));
  // A code without a status belongs in events: as an answer it is our fault.
  const status = ERROR_CODES[code].status || 500;
  return new Response(JSON.stringify({ error: { code, message, details } }), { status, headers });
}

/** What the platform says when a deploy, or the network, takes an object away in the middle of a call. */
const RESET = /object reset because its code was updated|script has been upgraded|network connection lost/i;

/**
 * What a caught value is to the caller. The platform's errors say by a mark, a reset by its text alone, that an object
 * does not answer for now; everything unknown stays as it is, so that its message goes nowhere.
 */
export function classify(caught: unknown): unknown {
  if (isLightAgentError(caught) || typeof caught !== "object" || caught === null) return caught;
  const { retryable, overloaded } = caught as { retryable?: unknown; overloaded?: unknown };
  const reset = caught instanceof Error && RESET.test(caught.message);
  if (retryable !== true && overloaded !== true && !reset) return caught;
  return new LightAgentError("unavailable", "The object does not answer for now.", { retryAfterMs: 1_000 });
}

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** Headers that every response bears; what a route has set itself stands. */
export function addCommonHeaders(headers: Headers, requestId: string): void {
  headers.set("x-request-id", requestId);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    if (!headers.has(name)) headers.set(name, value);
  }
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  if (!headers.has("content-security-policy")) {
    headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  }
}
