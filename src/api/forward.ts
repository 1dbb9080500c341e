import type { CALLER_HEADER } from "../durable/session-api.ts";
import type { Caller } from "../durable/session-api.ts";
import type { Fetches } from "./environment.ts";

const CALLER: typeof CALLER_HEADER = "x-light-agent-caller";

/** Headers of an object's answer that go out. */
const PASSED_BACK = [
  "accept-ranges",
  "content-disposition",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "retry-after",
];

/** What of a request reaches an object. */
export interface Forwarded {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: ReadableStream | null;
  /** Tells the object that the client has gone. */
  readonly signal: AbortSignal;
}

/**
 * Hands a request on to an object. It is a new one: nothing that a client sends reaches the object but what the
 * route names, and who calls stands in a header that only the Worker writes.
 */
export async function forward(
  object: Fetches,
  caller: Caller,
  url: string,
  { method = "GET", headers = {}, body = null, signal }: Forwarded,
): Promise<Response> {
  const all = { ...headers, [CALLER]: asciiJson(caller) };
  const response = await object.fetch(new Request(url, { method, headers: all, body, signal }));
  const passed = new Headers();
  for (const name of PASSED_BACK) {
    const value = response.headers.get(name);
    if (value !== null) passed.set(name, value);
  }
  return new Response(response.body, {
    status: response.status,
    headers: passed,
    webSocket: response.webSocket,
  });
}

/** The request headers among these that are there. */
export function pickHeaders(request: Request, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** JSON in ASCII alone, as a header's value must be. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
