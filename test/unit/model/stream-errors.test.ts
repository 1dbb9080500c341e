import { describe, expect, it } from "vitest";
import { readErrorBody, readErrorObject, readFailure } from "../../../src/runtime/model/failure.ts";
import type { FailureKind } from "../../../src/runtime/model/failure.ts";
import { classifyFailure } from "../../../src/runtime/model/stream-errors.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

/** An answer with a status, as SDKs throw it. */
function answer(status: number | undefined, error?: object | string, headers: Record<string, string> = {}) {
  const message =
    typeof error === "object" ? Object(error).message : (error ?? `${status} status code (no body)`);
  const caught = {
    status,
    error: typeof error === "object" ? error : undefined,
    message,
    headers: new Headers(headers),
  };
  return classifyFailure(readFailure(caught, "answered", NOW));
}

function thrown(error: unknown, kind: FailureKind = "thrown") {
  return classifyFailure(readFailure(error, kind, NOW));
}

/** Wordings of behaviour that real vendors show when a request does not fit. */
const OVERFLOWS: readonly (readonly [vendor: string, status: number, error: object])[] = [
  [
    "Anthropic",
    400,
    { message: "prompt is too long: 213462 tokens > 200000 maximum", type: "invalid_request_error" },
  ],
  ["Anthropic, bytes", 413, { message: "Request exceeds the maximum size", type: "request_too_large" }],
  ["OpenAI", 400, { message: "Your input exceeds the context window of this model." }],
  [
    "OpenAI, code alone",
    400,
    { message: "Too long.", code: "context_length_exceeded", type: "invalid_request_error" },
  ],
  [
    "OpenRouter",
    400,
    {
      message:
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 in the output).",
      code: 400,
    },
  ],
  [
    "vLLM",
    400,
    {
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
      code: 400,
      type: "BadRequestError",
    },
  ],
  [
    "vLLM, newer",
    400,
    {
      message:
        "You passed 4097 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens",
    },
  ],
  [
    "Gemini",
    400,
    {
      message: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
      code: 400,
      status: "INVALID_ARGUMENT",
    },
  ],
  ["Bedrock", 400, { message: "Input is too long for requested model." }],
  [
    "xAI",
    400,
    { message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." },
  ],
  ["Groq", 400, { message: "Please reduce the length of the messages or completion." }],
  [
    "GitHub Copilot",
    400,
    {
      message: "prompt token count of 135000 exceeds the limit of 128000",
      code: "model_max_prompt_tokens_exceeded",
    },
  ],
  ["llama.cpp", 500, { message: "the request exceeds the available context size, try increasing it" }],
  [
    "llama.cpp, newer",
    400,
    {
      message: "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it",
      type: "exceed_context_size_error",
    },
  ],
  [
    "LM Studio",
    400,
    { message: "The number of tokens to keep from the initial prompt is greater than the context length." },
  ],
  ["MiniMax", 400, { message: "invalid params, context window exceeds limit" }],
  [
    "Kimi",
    400,
    { message: "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)" },
  ],
  [
    "Mistral",
    400,
    { message: "Prompt contains 40000 tokens, too large for model with 32768 maximum context length" },
  ],
  ["opencode #27519", 400, { message: "tokens in request more than max tokens allowed" }],
  ["generic 1", 400, { message: "too many tokens" }],
  ["generic 2", 400, { message: "token limit exceeded" }],
  ["generic 3", 400, { message: "error: context_length_exceeded" }],
  [
    "a gateway that wraps its vendor",
    400,
    {
      message: "Provider returned error",
      code: 400,
      metadata: { raw: '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}' },
    },
  ],
];

/** What those say of them who say how large the window is. */
const WINDOWS: Readonly<Record<string, number>> = {
  Anthropic: 200_000,
  OpenRouter: 131_072,
  vLLM: 4_096,
  "vLLM, newer": 4_096,
  Gemini: 1_048_575,
  xAI: 131_072,
  "GitHub Copilot": 128_000,
  "llama.cpp, newer": 8_192,
  Kimi: 262_144,
  Mistral: 32_768,
};

describe("[MODEL-14] overflow", () => {
  it.each(OVERFLOWS)("[CONTEXT-12] %s: the window is known where it is said", (vendor, status, error) => {
    expect(answer(status, error).windowTokens).toBe(WINDOWS[vendor]);
  });

  it.each(OVERFLOWS)("[MODEL-14] %s", (_, status, error) => {
    const failed = answer(status, error);
    expect([failed.modelCode, failed.status, failed.retryable]).toEqual(["context_overflow", status, false]);
  });

  it.each(OVERFLOWS)("[MODEL-14] %s inside a stream", (_, __, error) => {
    expect(classifyFailure(readErrorObject(error)).modelCode).toBe("context_overflow");
  });

  it.each([400, 413])("[MODEL-14] Cerebras: %i without a body", (status) => {
    expect(answer(status).modelCode).toBe("context_overflow");
  });

  it("[MODEL-14] a body that is no JSON", () => {
    expect(answer(400, "400 prompt is too long").modelCode).toBe("context_overflow");
  });

  it("[MODEL-14] a list around the error", () => {
    const listed = [{ error: { message: "input token count (9) exceeds the maximum number" } }];
    expect(classifyFailure(readErrorObject(listed)).modelCode).toBe("context_overflow");
  });
});

describe("[MODEL-14] what looks like overflow and is not", () => {
  it.each([
    [429, { message: "Rate limit reached: too many tokens per minute" }, "rate_limited"],
    [429, { message: "Too many tokens, please wait before trying again." }, "rate_limited"],
    [
      429,
      { message: "Request too large for model on tokens per min (TPM): Limit 30000, Requested 60000" },
      "rate_limited",
    ],
    [429, { message: "token limit exceeded" }, "rate_limited"],
    [
      413,
      { message: "Request too large on tokens per minute (TPM): Limit 6000", code: "rate_limit_exceeded" },
      "rate_limited",
    ],
    [undefined, { message: "too many tokens per minute" }, "rate_limited"],
    [undefined, { message: "Too many tokens, please wait before trying again." }, "rate_limited"],
    [400, { message: "image size 30 MB exceeds the limit of 20 MB" }, "model_rejected"],
    [400, { message: "The request exceeds the limit of 128 tools" }, "model_rejected"],
    [400, { message: "max_tokens must be at least 1" }, "model_rejected"],
    [401, { message: "token expired" }, "model_auth"],
  ])("[MODEL-14] %s %o is %s", (status, error, code) => {
    expect(answer(status, error).modelCode).toBe(code);
  });
});

describe("[MODEL-14] everything else", () => {
  it.each([
    [
      "a quota, which is a 429 that never passes",
      429,
      { message: "You exceeded your current quota", code: "insufficient_quota" },
      "quota_exhausted",
      false,
    ],
    [
      "a quota without its code",
      429,
      { message: "You exceeded your current quota, please check your plan" },
      "quota_exhausted",
      false,
    ],
    ["no credit", 402, { message: "Insufficient credits" }, "quota_exhausted", false],
    [
      "no credit at Anthropic",
      400,
      { message: "Your credit balance is too low to access the API" },
      "quota_exhausted",
      false,
    ],
    ["a rate limit", 429, {}, "rate_limited", true],
    ["a rate limit that is a 403", 403, { message: "API rate limit exceeded" }, "rate_limited", true],
    [
      "a wrong key",
      401,
      { message: "Incorrect API key provided: sk-1", code: "invalid_api_key" },
      "model_auth",
      false,
    ],
    ["no permission", 403, {}, "model_auth", false],
    [
      "a wrong key at Gemini",
      400,
      { message: "API key not valid. Please pass a valid API key." },
      "model_auth",
      false,
    ],
    [
      "Azure's filter",
      400,
      { message: "The response was filtered", code: "content_filter" },
      "content_filter",
      false,
    ],
    ["a moderated input", 403, { message: "Your input was flagged" }, "content_filter", false],
    ["a request timeout", 408, {}, "model_timeout", true],
    ["a lock", 409, {}, "model_unavailable", true],
    ["a server error", 500, {}, "model_unavailable", true],
    ["a gateway timeout", 504, {}, "model_unavailable", true],
    ["Anthropic's overload", 529, { type: "overloaded_error" }, "model_unavailable", true],
    [
      "a bad request",
      400,
      { message: "Invalid schema for function 'x'", type: "invalid_request_error" },
      "model_rejected",
      false,
    ],
    ["an unknown model", 404, { code: "model_not_found" }, "model_rejected", false],
    ["an unprocessable request", 422, { detail: "no" }, "model_rejected", false],
    ["a redirect", 302, undefined, "model_rejected", false],
  ] as const)("[MODEL-14] %s", (_, status, error, code, retryable) => {
    const failed = answer(status, error ?? "302 moved");
    expect([failed.modelCode, failed.retryable, failed.status]).toEqual([code, retryable, status]);
  });

  it.each([
    ["Node: a socket that broke under the body", new TypeError("terminated"), "model_transport"],
    ["workerd: the same", new Error("Network connection lost."), "model_transport"],
    [
      "Node: no connection",
      new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") }),
      "model_transport",
    ],
    ["a reset", Object.assign(new Error("read"), { code: "ECONNRESET" }), "model_transport"],
    ["another SDK's answer", Object.assign(new Error("x"), { status: 503 }), "model_unavailable"],
    ["an Error of a provider's own", new Error("bug"), "model_error"],
    ["a string", "gone", "model_error"],
    ["nothing", undefined, "model_error"],
  ])("[MODEL-14] thrown: %s", (_, error, code) => {
    const failed = thrown(error);
    expect([failed.modelCode, failed.retryable]).toEqual([code, true]);
  });

  it.each([
    ["connection", "model_transport"],
    ["timeout", "model_timeout"],
    ["malformed", "malformed_stream"],
    ["incomplete", "incomplete_stream"],
    ["answered", "model_error"],
  ] as const)("[MODEL-14] kind %s", (kind, code) => {
    expect(thrown(new Error("x"), kind).modelCode).toBe(code);
  });
});

describe("[MODEL-15] when to come back", () => {
  it.each([
    ["seconds", { "retry-after": "7" }, 7_000],
    ["a fraction of seconds", { "retry-after": "0.5" }, 500],
    ["a date", { "retry-after": "Thu, 01 Jan 2026 00:01:30 GMT" }, 90_000],
    ["a date that has passed", { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    ["milliseconds", { "retry-after-ms": "250", "retry-after": "7" }, 250],
    ["nonsense", { "retry-after": "soon" }, undefined],
    ["a negative number", { "retry-after": "-5" }, undefined],
    ["nothing", {}, undefined],
  ])("[MODEL-15] %s", (_, headers, expected) => {
    const { retryAfterMs } = answer(429, {}, headers);
    expect(retryAfterMs).toBe(expected);
  });

  it("[MODEL-15] a 402 and a quota's wording that say when are limits that pass", () => {
    expect(answer(402, {}, { "retry-after": "3" }).modelCode).toBe("rate_limited");
    const gemini = { message: "You exceeded your current quota" };
    expect(answer(429, gemini, { "retry-after": "3" }).modelCode).toBe("rate_limited");
  });

  it("[MODEL-15] x-should-retry wins over the status", () => {
    expect(answer(400, {}, { "x-should-retry": "true" }).retryable).toBe(true);
    expect(answer(503, {}, { "x-should-retry": "false" }).retryable).toBe(false);
    expect(answer(503, {}, { "x-should-retry": "maybe" }).retryable).toBe(true);
  });
});

it("[MODEL-11] reads a JSON error out of a body", () => {
  expect(readErrorBody(' {"error":{"code":429}} ')?.status).toBe(429);
  expect(readErrorBody('[{"error":{"code":503}}]')?.status).toBe(503);
  expect(readErrorBody('{"choices":[]}')).toBeNull();
  expect(readErrorBody("<html>")).toBeNull();
});

it("[MODEL-16] the error holds nothing of what the provider said", () => {
  const secret = "sk-abcdef user text";
  const failed = answer(401, { message: `Incorrect API key provided: ${secret}`, code: "invalid_api_key" });
  expect(failed.message).toBe("The provider refused the key (status 401).");
  expect(failed.cause).toBeUndefined();
  expect(JSON.stringify(failed, Object.getOwnPropertyNames(failed))).not.toContain("sk-");
});
