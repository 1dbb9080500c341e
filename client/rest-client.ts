import { LightAgentError } from "../src/runtime/protocol/errors.ts";
import type { ErrorCode } from "../src/runtime/protocol/errors.ts";
import type { SessionState } from "../src/runtime/protocol/frames.ts";
import type {
  FileEntry,
  FolderListing,
  NewSession,
  Page,
  QueuedPrompt,
  SessionSummary,
} from "./rest-types.ts";

export interface RestClientOptions {
  /** Where the deployment answers: `https://host`, without a trailing slash. */
  readonly url: string;
  /** An API key or a session token. */
  readonly credential: string;
  readonly fetch?: typeof fetch;
}

interface Call {
  readonly method?: string;
  readonly json?: unknown;
  readonly body?: Blob;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Entries of one folder that are asked for. */
const FOLDER_LIMIT = 1_000;

/**
 * The REST calls. Each rejects with the LightAgentError that the server answered, or with `unavailable` when it
 * cannot be reached.
 */
export class RestClient {
  readonly #options: RestClientOptions;

  constructor(options: RestClientOptions) {
    this.#options = options;
  }

  /** The sessions, newest first. */
  sessions(cursor: string | null = null): Promise<Page<SessionSummary>> {
    return this.#json(`/v1/sessions${cursor === null ? "" : `?cursor=${encodeURIComponent(cursor)}`}`);
  }

  createSession(session: NewSession = {}): Promise<SessionState> {
    return this.#json("/v1/sessions", { method: "POST", json: session });
  }

  session(id: string): Promise<SessionState> {
    return this.#json(sessionPath(id));
  }

  renameSession(id: string, title: string): Promise<SessionState> {
    return this.#json(sessionPath(id), { method: "PATCH", json: { title } });
  }

  /** The prompts that wait, in the order in which they will run. */
  async queue(session: string): Promise<readonly QueuedPrompt[]> {
    const { data } = await this.#json<Page<QueuedPrompt>>(`${sessionPath(session)}/queue`);
    return data;
  }

  /** The direct children of a folder; `""` is the root. */
  listFolder(workspace: string, path: string, signal?: AbortSignal): Promise<FolderListing> {
    return this.#json(`${filePath(workspace, path)}?depth=1&limit=${FOLDER_LIMIT}`, { signal });
  }

  /** The bytes of a file, at most the first `maxBytes` where that is given. */
  async readFile(workspace: string, path: string, maxBytes?: number): Promise<Blob> {
    const headers = maxBytes === undefined ? {} : { range: `bytes=0-${maxBytes - 1}` };
    try {
      return await (await this.#send(filePath(workspace, path), { headers })).blob();
    } catch (caught) {
      // No range lies inside of an empty file.
      if (caught instanceof LightAgentError && caught.code === "range_not_satisfiable") return new Blob([]);
      throw caught;
    }
  }

  writeFile(workspace: string, path: string, body: Blob, signal?: AbortSignal): Promise<FileEntry> {
    const headers = { "content-type": "application/octet-stream" };
    return this.#json(filePath(workspace, path), { method: "PUT", body, headers, signal });
  }

  async #json<T>(path: string, call?: Call): Promise<T> {
    return (await (await this.#send(path, call)).json()) as T;
  }

  async #send(path: string, { method = "GET", json, body, headers, signal }: Call = {}): Promise<Response> {
    const { url, credential, fetch = globalThis.fetch } = this.#options;
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(json !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(body && { body }),
      ...(signal && { signal }),
    }).catch((caught: unknown) => {
      signal?.throwIfAborted();
      throw new LightAgentError("unavailable", "The server cannot be reached.", undefined, { cause: caught });
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

function sessionPath(id: string): string {
  return `/v1/sessions/${encodeURIComponent(id)}`;
}

function filePath(workspace: string, path: string): string {
  const segments = path.split("/").map(encodeURIComponent);
  return `/v1/workspaces/${encodeURIComponent(workspace)}/files/${segments.join("/")}`;
}

/** The error of an answer; something in between, such as a proxy, may answer in another form. */
async function errorOf(response: Response): Promise<LightAgentError> {
  const body: unknown = await response.json().catch(() => null);
  const error = typeof body === "object" && body !== null && "error" in body ? body.error : null;
  if (isErrorBody(error)) return new LightAgentError(error.code, error.message, error.details);
  return new LightAgentError("unavailable", `The server answered with status ${response.status}.`);
}

/** Codes are taken as they come: a newer server may have some that this client does not know. */
function isErrorBody(
  error: unknown,
): error is { code: ErrorCode; message: string; details?: Record<string, unknown> } {
  if (typeof error !== "object" || error === null || !("code" in error) || !("message" in error))
    return false;
  return typeof error.code === "string" && typeof error.message === "string";
}
