/** How one call of the API is made. */
export interface RestCall {
  readonly method: string;
  /** `/v1/sessions/{session}`: each name in braces is an id, `{path}` a path whose slashes stay. */
  readonly path: string;
  /** The media type of the body that it takes. */
  readonly body?: string;
  /** Whether it takes query fields. */
  readonly query?: boolean;
  /** `bytes`: the answer itself, for its headers and to stream; `events`: NDJSON; `none`: nothing. */
  readonly answer: "json" | "bytes" | "events" | "none";
}

/** What can be sent as bytes. A stream is sent as it comes, where the platform can (browsers need HTTP/2 for it). */
export type Bytes = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string;

/** What every call takes. */
export interface CallOptions {
  /** Gives the call up: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Makes a create repeatable: the same key again is answered like the first time. On a prompt it is the promptId. */
  readonly idempotencyKey?: string | undefined;
  /** Further headers, such as `range`, `if-match` or `x-user-id`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}
