import type { EventStreamFilter } from "./event-stream-filter.ts";

/** The part of the standard `fetch` that a provider needs; injected where tests or a proxy stand in. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** Most bytes read of an error response. */
const ERROR_BODY_BYTES = 16_384;

/**
 * The fetch that the SDK is given for one call. It follows no redirect, since the request carries a key; it lets the
 * filter see the event stream; and it bounds the body of an error, which the SDK would read to its end.
 */
export function guardedFetch(
  fetchLike: FetchLike,
  filter: EventStreamFilter,
): (url: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const address = typeof url === "string" ? url : "href" in url ? url.href : url.url;
    const response = await fetchLike(address, { ...init, redirect: "manual" });
    const { body, status } = response;
    // Browsers give a redirect the status 0, with which no Response can be made.
    if (!body || status < 200) return response;
    const guarded = response.ok ? filtered(body, filter) : await head(body);
    return new Response(guarded, { status, headers: headersOf(response) });
  };
}

/** The headers without those about an encoding that the platform has undone by now. */
function headersOf(response: Response): Headers {
  const headers = new Headers(response.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return headers;
}

/** The body as the filter lets it through, read only as fast as it is read from. */
function filtered(body: ReadableStream<Uint8Array>, filter: EventStreamFilter): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const next = await reader.read();
          const bytes = next.done ? filter.end() : filter.push(next.value);
          if (bytes.length > 0) controller.enqueue(bytes);
          if (next.done) return controller.close();
          if (bytes.length > 0) return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The first bytes of a body as text; null for none, since some statuses allow no body. */
async function head(body: ReadableStream<Uint8Array>): Promise<string | null> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  while (bytes < ERROR_BODY_BYTES) {
    const next = await reader.read();
    if (next.done) break;
    bytes += next.value.length;
    text += decoder.decode(next.value, { stream: true });
  }
  // The rest is not waited for: the socket closes behind it.
  reader.cancel().catch(() => undefined);
  return text || null;
}
