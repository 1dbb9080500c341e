import { LightAgentError, isLightAgentError } from "../protocol/errors.ts";
import type { ErrorCode } from "../protocol/errors.ts";

/** The codes that a model call can fail with. */
const MODEL_ERROR_CODES = [
  "content_filter",
  "context_overflow",
  "empty_reply",
  "incomplete_stream",
  "invalid_output",
  "malformed_stream",
  "model_auth",
  "model_error",
  "model_rejected",
  "model_timeout",
  "model_transport",
  "model_unavailable",
  "quota_exhausted",
  "rate_limited",
] as const satisfies readonly ErrorCode[];

export type ModelErrorCode = (typeof MODEL_ERROR_CODES)[number];

/** Whether an error of a turn came from its model. */
export function isModelErrorCode(code: string): code is ModelErrorCode {
  return MODEL_ERROR_CODES.some((known) => known === code);
}

export interface ModelErrorOptions extends ErrorOptions {
  /** HTTP status, or the status that the provider named inside its stream. */
  status?: number;
  /** How long the provider asks to wait, in ms. */
  retryAfterMs?: number;
  /** Tokens of the model's window, when a provider that a request does not fit says them. */
  windowTokens?: number;
  /** What the provider says of a retry (`x-should-retry`), where that differs from what the code implies. */
  retryable?: boolean;
}

/** Failures that may pass by themselves; everything else fails again in the same way. */
const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set<ModelErrorCode>([
  "empty_reply",
  "incomplete_stream",
  "malformed_stream",
  "model_error",
  "model_timeout",
  "model_transport",
  "model_unavailable",
  "rate_limited",
]);

/** A failed model call, classified once, where it is made. Its message holds no secret and no user text. */
export class ModelError extends LightAgentError {
  readonly modelCode: ModelErrorCode;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly windowTokens: number | undefined;

  constructor(code: ModelErrorCode, message: string, options: ModelErrorOptions = {}) {
    super(code, message, undefined, options);
    this.name = "ModelError";
    this.modelCode = code;
    this.retryable = options.retryable ?? RETRYABLE.has(code);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.windowTokens = options.windowTokens;
  }
}

/** Whether a caught value is a {@link ModelError}, also one that crossed a module boundary. */
export function isModelError(value: unknown): value is ModelError {
  return isLightAgentError(value) && "modelCode" in value;
}
