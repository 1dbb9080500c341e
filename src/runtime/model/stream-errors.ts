import type { Failure, FailureKind } from "./failure.ts";
import { ModelError } from "./model-error.ts";
import type { ModelErrorCode, ModelErrorOptions } from "./model-error.ts";
import { saysOverflow, windowIn } from "./overflow-texts.ts";

/** One row of the table: it applies when any of its marks does. */
interface FailureRule {
  readonly code: ModelErrorCode;
  /** Ours, since a provider's text may hold what the user wrote, or the key. */
  readonly message: string;
  readonly statuses?: (status: number) => boolean;
  /** In lower case; a provider's `code`, `type` or `status` is one of them. */
  readonly codes?: ReadonlySet<string>;
  /** Whether the provider's wording says so, for those that have no code. */
  readonly text?: (text: string) => boolean;
  readonly kinds?: readonly FailureKind[];
  /** What takes more than one fact to tell. */
  readonly when?: (failure: Failure) => boolean;
}

/**
 * How every failure of a model call is classified. The first row that applies stands, so the order decides: a 429 is
 * looked at before overflow, because "too many tokens per minute" reads like one, and an exhausted quota before that,
 * because it comes as a 429 and never passes.
 */
const FAILURE_RULES: readonly FailureRule[] = [
  {
    code: "quota_exhausted",
    message: "The provider's account has no credit left.",
    codes: new Set([
      "insufficient_quota",
      "billing_hard_limit_reached",
      "billing_not_active",
      "insufficient_credits",
    ]),
    text: (text) => /insufficient (?:quota|credits|balance|funds)|credit balance is too low/i.test(text),
    // Gemini words a rate limit like this too, and then says when to come back; so does OpenRouter with a 402.
    when: (failure) =>
      failure.retryAfterMs === undefined &&
      (failure.status === 402 || /exceeded your current quota/i.test(failure.text)),
  },
  {
    code: "rate_limited",
    message: "The provider refused the request for now.",
    statuses: (status) => status === 429 || status === 402,
    codes: new Set(["rate_limit_exceeded", "rate_limit_error", "too_many_requests", "throttlingexception"]),
    text: (text) =>
      /\brate.?limit|too many requests|tokens per (?:minute|min|hour|day)|\b[tr]p[md]\b|please wait before/i.test(
        text,
      ),
  },
  {
    code: "content_filter",
    message: "The provider's content filter refused the request.",
    codes: new Set(["content_filter", "content_policy_violation", "responsibleaipolicyviolation"]),
    text: (text) => /content management policy|content[ _]filter|content policy|was flagged/i.test(text),
  },
  {
    code: "context_overflow",
    message: "The request does not fit the model's context window.",
    statuses: (status) => status === 413,
    codes: new Set(["context_length_exceeded", "model_context_window_exceeded", "request_too_large"]),
    text: saysOverflow,
    // Cerebras answers 400 without a body.
    when: (failure) => failure.status === 400 && failure.text === "" && failure.codes.length === 0,
  },
  {
    code: "model_auth",
    message: "The provider refused the key.",
    statuses: (status) => status === 401 || status === 403,
    codes: new Set(["invalid_api_key", "authentication_error", "permission_error", "unauthenticated"]),
    text: (text) => /(?:incorrect|invalid) api key|api key not valid/i.test(text),
  },
  {
    code: "model_timeout",
    message: "The provider did not answer in time.",
    statuses: (status) => status === 408,
    kinds: ["timeout"],
  },
  {
    code: "model_unavailable",
    message: "The provider failed or is overloaded.",
    // 409 is how OpenAI reports a lock that another request holds.
    statuses: (status) => status >= 500 || status === 409,
    codes: new Set([
      "server_error",
      "internal_error",
      "overloaded_error",
      "service_unavailable",
      "api_error",
    ]),
    text: (text) => /overloaded|service (?:is )?(?:temporarily )?unavailable/i.test(text),
  },
  {
    code: "malformed_stream",
    message: "The provider sent something that is not a reply.",
    kinds: ["malformed"],
  },
  {
    code: "incomplete_stream",
    message: "The stream ended before the reply did.",
    kinds: ["incomplete"],
  },
  {
    code: "model_transport",
    message: "The connection to the provider failed.",
    kinds: ["connection"],
    when: (failure) => failure.kind === "thrown" && saysDisconnected(failure),
  },
  {
    code: "model_rejected",
    message: "The provider answered with a redirect, which is not followed.",
    statuses: (status) => status < 400,
  },
  {
    code: "model_rejected",
    message: "The provider refused the request as invalid.",
    statuses: (status) => status < 500,
    codes: new Set(["invalid_request_error", "model_not_found", "not_found_error"]),
  },
];

/** What no row applies to. */
const OTHERWISE: FailureRule = { code: "model_error", message: "The provider reported a failure." };

/** Classifies a failed model call by the table. The error holds nothing of the provider's text. */
export function classifyFailure(failure: Failure): ModelError {
  const rule = FAILURE_RULES.find((candidate) => applies(candidate, failure)) ?? OTHERWISE;
  const options: ModelErrorOptions = {};
  if (failure.status !== undefined) options.status = failure.status;
  if (failure.retryAfterMs !== undefined) options.retryAfterMs = failure.retryAfterMs;
  if (failure.shouldRetry !== undefined) options.retryable = failure.shouldRetry;
  const windowTokens = rule.code === "context_overflow" ? windowIn(failure.text) : null;
  if (windowTokens !== null) options.windowTokens = windowTokens;
  const status = failure.status === undefined ? "" : ` (status ${failure.status})`;
  return new ModelError(rule.code, rule.message.replace(/\.$/, `${status}.`), options);
}

function applies(rule: FailureRule, failure: Failure): boolean {
  return (
    (failure.status !== undefined && rule.statuses?.(failure.status) === true) ||
    failure.codes.some((code) => rule.codes?.has(code) === true) ||
    rule.text?.(failure.text) === true ||
    rule.kinds?.includes(failure.kind) === true ||
    rule.when?.(failure) === true
  );
}

/** Both runtimes throw plain errors when a socket breaks under a body: there is no class to tell them by. */
function saysDisconnected(failure: Failure): boolean {
  const code = /^(?:econn\w+|epipe|etimedout|enotfound|eai_again|und_err_\w+)$/;
  // Node: "terminated", "fetch failed"; workerd: "Network connection lost."
  const text =
    /\bterminated\b|fetch failed|network connection lost|socket|other side closed|premature close/i;
  return failure.codes.some((word) => code.test(word)) || text.test(failure.text);
}
