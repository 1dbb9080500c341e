import type { SessionApi } from "../durable/session-api.ts";
import type { Fetches } from "./environment.ts";
import { forward } from "./forward.ts";
import type { TenantContext } from "./route.ts";

/** Server-sent events, or one JSON object a line. */
export type StreamFormat = "sse" | "ndjson";

/** The media types of the two formats, for the API's description. */
export const STREAM_TYPES = ["text/event-stream", "application/x-ndjson"] as const;

/** The stream that a request's `Accept` asks for, if it asks for one. */
export function streamFormatOf(request: Request): StreamFormat | null {
  const accept = request.headers.get("accept") ?? "";
  // HEAD has no body to stream into.
  if (request.method === "HEAD") return null;
  if (accept.includes("text/event-stream")) return "sse";
  return accept.includes("application/x-ndjson") ? "ndjson" : null;
}

/** Which part of the log, in which form, and when it ends. */
export interface StreamQuery {
  readonly format: StreamFormat;
  /** Exclusive. */
  readonly after: number;
  readonly types?: readonly string[];
  /** The promptId whose outcome ends the stream. */
  readonly until?: string;
}

/** The events of a session from `after` on, as they come. */
export function streamEvents(
  context: TenantContext,
  session: SessionApi & Fetches,
  { format, after, types, until }: StreamQuery,
): Promise<Response> {
  const query = new URLSearchParams({ after: String(after), format });
  if (types) query.set("types", types.join(","));
  if (until !== undefined) query.set("until", until);
  const { signal } = context.request;
  return forward(session, context.caller, `https://session/stream?${query.toString()}`, { signal });
}
