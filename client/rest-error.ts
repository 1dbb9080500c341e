import { LightAgentError } from "../src/runtime/protocol/errors.ts";
import type { ErrorCode } from "../src/runtime/protocol/errors.ts";

interface Answered {
  /** The HTTP status; 0 when no answer came. */
  readonly status: number;
  /** Finds the request in the operator's log; null when the answer was not the server's. */
  readonly requestId: string | null;
  /** After how many ms the same call may succeed, where the server says so. */
  readonly retryAfterMs: number | null;
}

const UNANSWERED: Answered = { status: 0, requestId: null, retryAfterMs: null };

/** Why a call of the API failed: the code and message of the server's answer, and what its headers say. */
export class RestError extends LightAgentError {
  readonly status: Answered["status"];
  readonly requestId: Answered["requestId"];
  readonly retryAfterMs: Answered["retryAfterMs"];

  constructor(
    code: ErrorCode,
    message: string,
    details?: Record<string, unknown>,
    { status, requestId, retryAfterMs }: Answered = UNANSWERED,
    options?: ErrorOptions,
  ) {
    super(code, message, details, options);
    this.status = status;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The error when no answer came, or not all of it. */
export function unreachable(message: string, cause: unknown): RestError {
  return new RestError("unavailable", message, undefined, UNANSWERED, { cause });
}

/** The error of an answer; something in between, such as a proxy, may answer in another form. */
export async function errorOf(response: Response): Promise<RestError> {
  const body: unknown = await response.json().catch(() => null);
  const error = typeof body === "object" && body !== null && "error" in body ? body.error : null;
  const { status, headers } = response;
  const known = isErrorBody(error);
  const answered = {
    status,
    requestId: headers.get("x-request-id"),
    retryAfterMs: retryAfterOf(known ? error.details?.["retryAfterMs"] : undefined, headers),
  };
  if (known) return new RestError(error.code, error.message, error.details, answered);
  return new RestError("unavailable", `The server answered with status ${status}.`, undefined, answered);
}

/** The details are exact; the header, which a proxy may have set, counts in seconds. */
function retryAfterOf(exact: unknown, headers: Headers): number | null {
  if (typeof exact === "number") return exact;
  const seconds = headers.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1_000 : null;
}

/** Codes are taken as they come: a newer server may have some that this client does not know. */
function isErrorBody(
  error: unknown,
): error is { code: ErrorCode; message: string; details?: Record<string, unknown> } {
  if (typeof error !== "object" || error === null || !("code" in error) || !("message" in error))
    return false;
  return typeof error.code === "string" && typeof error.message === "string";
}
