import { isObject, parseObject, stringOr } from "./json-value.ts";
import type { JsonObject } from "./json-value.ts";
import { readRetryAfter, readShouldRetry } from "./retry-after.ts";
import type { HeaderReader } from "./retry-after.ts";

/**
 * Where a failure comes from: the provider `answered` with an error (a status, or an error object in its stream), the
 * `connection` broke, it stayed silent (`timeout`), what came was `malformed`, the stream was cut (`incomplete`), or
 * something was `thrown` that is none of these.
 */
export type FailureKind = "answered" | "connection" | "timeout" | "malformed" | "incomplete" | "thrown";

/** The facts of a failed model call by which it is classified. Its text is the provider's and never leaves here. */
export interface Failure {
  readonly kind: FailureKind;
  /** HTTP status, or the numeric code of an error inside a stream. */
  readonly status?: number | undefined;
  /** `code`, `type` and `status` of the error where they are words, in lower case. */
  readonly codes: readonly string[];
  readonly text: string;
  readonly retryAfterMs?: number | undefined;
  readonly shouldRetry?: boolean | undefined;
}

/** Longest text that is searched for known wordings. */
const TEXT_CHARS = 8_192;

/**
 * Reads a caught value of any origin: the openai SDK's errors, other SDKs' (`status`, `code`, `headers`), or a plain
 * Error of the runtime.
 * @param now ms since the epoch, for a Retry-After that is a date
 */
export function readFailure(caught: unknown, kind: FailureKind, now: number): Failure {
  const error: JsonObject = isObject(caught) ? caught : {};
  const body = readErrorObject(error["error"]);
  const headers = isHeaderReader(error["headers"]) ? error["headers"] : undefined;
  const status = statusOf(error["status"]) ?? body.status;
  const answered = kind === "thrown" && status !== undefined ? "answered" : kind;
  return {
    kind: answered,
    status,
    codes: [...body.codes, ...wordsOf(error)],
    text: [body.text, ownText(caught, error)].join("\n").trim().slice(0, TEXT_CHARS),
    ...(headers ? { retryAfterMs: readRetryAfter(headers, now), shouldRetry: readShouldRetry(headers) } : {}),
  };
}

/** Reads the error object that a provider sends as a body or inside its stream; a bare string counts as its text. */
export function readErrorObject(value: unknown): Failure {
  const listed: unknown = Array.isArray(value) ? value[0] : value;
  const outer = isObject(listed) ? listed : {};
  const error = isObject(outer["error"]) ? outer["error"] : outer;
  const metadata = isObject(error["metadata"]) ? error["metadata"] : {};
  // OpenRouter wraps the text of the vendor behind it.
  const texts = [error["message"], error["detail"], outer["error"], metadata["raw"], listed];
  return {
    kind: "answered",
    status: statusOf(error["code"]) ?? statusOf(error["status"]),
    codes: wordsOf(error),
    text: texts
      .map((text) => stringOr(text))
      .join("\n")
      .trim()
      .slice(0, TEXT_CHARS),
  };
}

/** The error that a body holds which should have been an event stream; null when it is no JSON error. */
export function readErrorBody(body: string): Failure | null {
  const text = body.trim();
  const value = parseObject(text) ?? parseObject(text.replace(/^\[/, "").replace(/\]$/, ""));
  return value?.["error"] ? readErrorObject(value["error"]) : null;
}

/** The message of the error itself and, for errors of `fetch`, of the one behind it. */
function ownText(caught: unknown, error: JsonObject): string {
  // The SDK's message for a response without a body says so; there is nothing of the provider's in it.
  const message = stringOr(error["message"], typeof caught === "string" ? caught : "");
  if (message.endsWith("(no body)")) return "";
  const cause = isObject(error["cause"]) ? stringOr(error["cause"]["message"]) : "";
  return `${message}\n${cause}`;
}

/** A number that is an HTTP status; providers put other numbers into `code` as well. */
function statusOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  const status = typeof number === "number" && Number.isInteger(number) && number >= 300 && number <= 599;
  return status ? number : undefined;
}

/** Which of the three fields holds the telling word differs by vendor. */
function wordsOf(error: JsonObject): string[] {
  const values = [error["code"], error["type"], error["status"]];
  return values.map((value) => stringOr(value).toLowerCase()).filter((word) => word !== "");
}

function isHeaderReader(value: unknown): value is HeaderReader {
  return isObject(value) && typeof value["get"] === "function";
}
