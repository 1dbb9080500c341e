/**
 * The closed list of error codes. `status` is the HTTP status where the code is an answer to a request;
 * codes with status 0 appear only in events (`error.code`, `tool_result.code`) or socket frames.
 */
export const ERROR_CODES = {
  // The request itself.
  invalid_request: { status: 400, means: "A body, query, header or id does not have the documented form." },
  invalid_json: { status: 400, means: "The body or frame is not JSON." },
  invalid_cursor: { status: 400, means: "`after` is not a whole number from 0 on." },
  invalid_path: { status: 400, means: "A path is not in canonical form or leaves the workspace." },
  invalid_skill: {
    status: 400,
    means: "A SKILL.md is not in the format of Agent Skills, or what the skill depends on is circular.",
  },
  invalid_pattern: { status: 400, means: "A search pattern is too long or not valid RE2 or glob syntax." },
  unauthorized: { status: 401, means: "No credential, or one that is unknown, expired or revoked." },
  forbidden: { status: 403, means: "The credential's role or scopes do not allow this." },
  origin_not_allowed: { status: 403, means: "The browser's Origin is not in ALLOWED_ORIGINS." },
  not_found: { status: 404, means: "No such resource for this tenant." },
  method_not_allowed: { status: 405, means: "The resource exists, this method on it does not." },
  id_taken: { status: 409, means: "The chosen id exists already, or has been deleted and is never reused." },
  busy: {
    status: 409,
    means: "A turn is running or prompts wait, and the request asks for an idle session.",
  },
  idempotency_mismatch: { status: 409, means: "The same id came before with another body." },
  already_decided: { status: 409, means: "The request has another answer already." },
  write_conflict: { status: 409, means: "The file changed since it was read." },
  write_fenced: { status: 409, means: "The writer has been replaced by a later one of the same session." },
  storage_full: { status: 409, means: "The tenant's workspaces hold as many bytes together as they may." },
  workspace_full: { status: 409, means: "The workspace holds as many files or bytes as it may." },
  version_gone: { status: 410, means: "The version is older than what the workspace keeps." },
  precondition_failed: { status: 412, means: "If-Match or If-None-Match does not hold." },
  too_large: { status: 413, means: "The body is larger than allowed." },
  prompt_too_large: { status: 413, means: "The content of a prompt is larger than allowed." },
  file_too_large: { status: 413, means: "The file is larger than allowed." },
  unsupported_media_type: { status: 415, means: "The body is not of the content type that the route takes." },
  cursor_ahead: { status: 416, means: "`after` lies beyond the head of the log." },
  range_not_satisfiable: { status: 416, means: "The byte range lies outside the content." },
  queue_full: { status: 429, means: "As many prompts wait as may." },
  too_many_sockets: { status: 429, means: "As many sockets are open on the session as may be." },
  rate_limited: {
    status: 429,
    means: "Too many prompts per minute; or, in a turn, the model's provider refused for now.",
  },
  too_many_turns: { status: 429, means: "As many turns of the tenant run as may." },
  too_many_sessions: { status: 429, means: "The tenant has as many sessions as it may." },
  too_many_providers: { status: 409, means: "The tenant has as many model providers as it may." },
  too_many_skills: { status: 409, means: "The tenant's library holds as many skills as it may." },
  memory_full: { status: 409, means: "As many memories are kept for this agent and user as may be." },
  budget_exceeded: { status: 402, means: "A budget of the tenant, the session or the agent is used up." },
  internal: { status: 500, means: "Something failed inside; the request id finds it in the logs." },
  not_configured: { status: 503, means: "The deployment lacks a setting; the message names it." },
  unavailable: { status: 503, means: "Something that is needed does not answer for now." },
  log_write_failed: { status: 503, means: "The log could not be written; what was asked did not happen." },

  // Socket frames.
  invalid_frame: { status: 0, means: "A frame is not JSON, is binary, or has no known type or form." },
  frame_too_large: { status: 0, means: "A frame is larger than allowed." },

  // A model call, in `error` events.
  content_filter: { status: 0, means: "The provider withheld the reply." },
  context_overflow: { status: 0, means: "The request does not fit the model's context window." },
  empty_reply: { status: 0, means: "The model ended without text and without a call." },
  incomplete_stream: { status: 0, means: "The stream ended before the reply did." },
  invalid_output: { status: 0, means: "The model's answer does not fit the agent's output schema." },
  malformed_stream: { status: 0, means: "The provider sent something that is not a reply." },
  model_auth: { status: 0, means: "The provider refused the key." },
  model_error: { status: 0, means: "The provider reported a failure inside its stream." },
  model_rejected: { status: 0, means: "The provider refused the request as invalid." },
  model_timeout: { status: 0, means: "The model did not answer in time." },
  model_transport: { status: 0, means: "The connection to the provider failed." },
  model_unavailable: { status: 0, means: "The provider failed or is overloaded." },
  quota_exhausted: { status: 0, means: "The provider's account has no credit left." },

  // A turn, in `error` events.
  crash_loop: { status: 0, means: "The turn was restarted too often without progress." },
  hook_failed: { status: 0, means: "A hook or middleware threw." },

  // A tool call, in `tool_result.code`.
  already_exists: { status: 409, means: "The target exists." },
  binary_file: { status: 0, means: "The file is not text." },
  denied: { status: 0, means: "A policy, a hook or a person refused the call." },
  edit_no_match: { status: 0, means: "The text to replace is not in the file, or more than once." },
  is_directory: { status: 409, means: "The path names a directory where a file is needed." },
  invalid_arguments: { status: 0, means: "The arguments do not fit the tool's schema." },
  malformed_arguments: { status: 0, means: "The arguments are not a JSON object, or are too large." },
  not_executed: { status: 0, means: "The turn was stopped before the call began." },
  outcome_unknown: { status: 0, means: "The call had begun; whether it took effect is not known." },
  path_escape: { status: 0, means: "The path leaves the workspace." },
  path_not_found: { status: 404, means: "Nothing is at the path." },
  stopped: { status: 0, means: "The turn was stopped while the call ran, and the call ended." },
  timeout: { status: 0, means: "The tool did not finish in time." },
  tool_failed: { status: 0, means: "The tool threw." },
  truncated: { status: 0, means: "The reply was cut by its length limit before the call was complete." },
  unanswered: { status: 0, means: "A question was cancelled or expired without an answer." },
  unknown_tool: { status: 0, means: "The model named a tool that the agent does not have." },
} as const;

/** One of the closed list of error codes. */
export type ErrorCode = keyof typeof ERROR_CODES;

const MARKER = "light-agent.error";

/**
 * The product's only error type: a code from the list, a message that is safe to show (no secrets, no user
 * text) and optional structured details.
 */
export class LightAgentError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Recognises the type across RPC and module boundaries, where `instanceof` fails. */
  readonly marker = MARKER;

  constructor(code: ErrorCode, message: string, details?: Record<string, unknown>, options?: ErrorOptions) {
    super(message, options);
    this.name = "LightAgentError";
    this.code = code;
    this.details = details;
  }
}

/** Whether a caught value is a {@link LightAgentError}, also one that crossed a module boundary. */
export function isLightAgentError(value: unknown): value is LightAgentError {
  return value instanceof Error && (value as { marker?: unknown }).marker === MARKER;
}

/** The wire form of an error. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  details?: Readonly<Record<string, unknown>>;
}

/**
 * What a caller may see of any caught value: our own errors as they are, everything else as `internal`
 * without its message, which may hold secrets or user text.
 */
export function toErrorBody(caught: unknown): ErrorBody {
  if (!isLightAgentError(caught)) return { code: "internal", message: "An internal error occurred." };
  const body: ErrorBody = { code: caught.code, message: caught.message };
  if (caught.details) body.details = caught.details;
  return body;
}
