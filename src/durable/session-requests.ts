import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { EventStreamQuery } from "./event-stream.ts";
import { CALLER_HEADER } from "./session-api.ts";
import type { Caller } from "./session-api.ts";

// Requests to the object's `fetch` come from this product's Worker alone, which has checked them; see session-api.ts.

/** @throws LightAgentError `invalid_cursor` */
export function cursorOf(url: URL): number {
  const text = url.searchParams.get("after") ?? "0";
  if (!/^\d{1,15}$/.test(text))
    throw new LightAgentError("invalid_cursor", "`after` is a whole number from 0 on.");
  return Number(text);
}

/** @throws LightAgentError `invalid_cursor` */
export function streamQueryOf(url: URL): EventStreamQuery {
  const types = url.searchParams.get("types");
  return {
    after: cursorOf(url),
    format: url.searchParams.get("format") === "ndjson" ? "ndjson" : "sse",
    types: types === null ? null : new Set(types.split(",")),
    until: url.searchParams.get("until"),
  };
}

/** @throws LightAgentError `unauthorized` for a request that did not come through the Worker's check */
export function callerOf(request: Request): Caller {
  const header = request.headers.get(CALLER_HEADER);
  if (header === null) throw new LightAgentError("unauthorized", "The request names no caller.");
  return JSON.parse(header) as Caller;
}
