import { LightAgentError } from "../src/runtime/protocol/errors.ts";
import { credentialText } from "./credential.ts";
import type { Credential } from "./credential.ts";
import { EventStream } from "./event-stream.ts";
import type { Bytes, CallOptions, RestCall } from "./rest-call.ts";
import { REST_CALLS } from "./rest-calls.ts";
import type { RestCalls } from "./rest-calls.ts";
import { errorOf, unreachable } from "./rest-error.ts";

export interface RestClientOptions {
  /** Where the deployment answers: `https://host`, without a trailing slash. */
  readonly url: string;
  /** An API key or a session token; the root key for tenants. What a function of it throws, the call rejects with. */
  readonly credential: Credential;
  readonly fetch?: typeof fetch;
}

const JSON_TYPE = "application/json";
const ACCEPT = { json: JSON_TYPE, events: "application/x-ndjson", bytes: "*/*", none: "*/*" } as const;

/** Makes the calls of the table. */
class TableClient {
  readonly #options: RestClientOptions;

  constructor(options: RestClientOptions) {
    this.#options = options;
  }

  static {
    for (const [name, call] of Object.entries(REST_CALLS)) {
      const value = function (this: TableClient, ...args: unknown[]): Promise<unknown> {
        return this.#call(call, args);
      };
      Object.defineProperty(TableClient.prototype, name, { value });
    }
  }

  async #call(call: RestCall, args: readonly unknown[]): Promise<unknown> {
    const given = args.values();
    const next = (): unknown => given.next().value;
    const path = call.path.replaceAll(/\{(\w+)\}/g, (_, name) => segments(name, String(next())));
    const body = call.body === undefined ? undefined : next();
    const query = call.query ? queryText(next()) : "";
    // The signature in RestCalls says what stands where.
    const options = (next() ?? {}) as CallOptions;
    const response = await this.#send(call, path + query, body, options);
    if (call.answer === "bytes") return response;
    if (call.answer === "events") return new EventStream(response, options.signal);
    if (call.answer === "json") return readJson(response, options);
    await response.body?.cancel();
    return undefined;
  }

  async #send(
    { method, body: type, answer }: RestCall,
    path: string,
    body: unknown,
    { signal, idempotencyKey, headers }: CallOptions,
  ): Promise<Response> {
    const { url, credential, fetch = globalThis.fetch } = this.#options;
    const request = requestOf(url + path, {
      method,
      headers: {
        accept: ACCEPT[answer],
        ...(type !== undefined && { "content-type": type }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
        ...headers,
        authorization: `Bearer ${await credentialText(credential)}`,
      },
      ...(type !== undefined && { body: type === JSON_TYPE ? JSON.stringify(body ?? {}) : (body as Bytes) }),
      ...(body instanceof ReadableStream && { duplex: "half" }),
      ...(signal && { signal }),
    });
    const response = await fetch(request).catch((caught: unknown) => {
      signal?.throwIfAborted();
      throw unreachable("The server cannot be reached.", caught);
    });
    // A file that is still the same is an answer, too, and has no body.
    if (!response.ok && response.status !== 304) throw await errorOf(response);
    return response;
  }
}

/**
 * Every call of the REST API, each of which rejects with a RestError: what the server answered, or `unavailable` when
 * it cannot be reached. What cannot be sent is refused with a LightAgentError: `invalid_path`, `invalid_request`.
 */
export class RestClient extends (TableClient as unknown as new (options: RestClientOptions) => RestCalls) {
  /** The bytes of a file, at most the first `maxBytes` where that is given. */
  async readFile(workspace: string, path: string, maxBytes?: number): Promise<Blob> {
    const headers = maxBytes === undefined ? {} : { range: `bytes=0-${maxBytes - 1}` };
    try {
      return await (await this.openFile(workspace, path, {}, { headers })).blob();
    } catch (caught) {
      // No range lies inside of an empty file.
      if (caught instanceof LightAgentError && caught.code === "range_not_satisfiable") return new Blob([]);
      throw caught;
    }
  }
}

/**
 * A part of an address. A URL's parser would take `.` and `..` away, encoded or not, and so make another address of it.
 * @throws LightAgentError `invalid_path`
 */
function segments(name: string, value: string): string {
  const parts = name === "path" ? value.split("/") : [value];
  if (parts.some((part) => part === "." || part === "..")) {
    throw new LightAgentError("invalid_path", "A path is not in canonical form or leaves the workspace.");
  }
  return parts.map(encodeURIComponent).join("/");
}

/** A request before it is sent. @throws LightAgentError `invalid_request`, for what no request can be made of */
function requestOf(address: string, init: RequestInit): Request {
  try {
    return new Request(address, init);
  } catch (cause) {
    const message = "The address, the credential or a header cannot be used.";
    throw new LightAgentError("invalid_request", message, undefined, { cause });
  }
}

/** Query fields as the end of an address; those without a value are left out. */
function queryText(query: unknown): string {
  const fields = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (fields.length === 0) return "";
  return `?${new URLSearchParams(Object.fromEntries(fields.map(([name, value]) => [name, String(value)]))).toString()}`;
}

async function readJson(response: Response, { signal }: CallOptions): Promise<unknown> {
  try {
    return await response.json();
  } catch (caught) {
    signal?.throwIfAborted();
    throw unreachable("The answer was cut off, or is not JSON.", caught);
  }
}
