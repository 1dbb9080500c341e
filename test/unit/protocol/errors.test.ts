import { describe, expect, it } from "vitest";
import {
  ERROR_CODES,
  LightAgentError,
  isLightAgentError,
  toErrorBody,
} from "../../../src/runtime/protocol/errors.ts";
import { traceOf } from "../../../src/runtime/protocol/error-trace.ts";

describe("error codes", () => {
  it("have a name, a status that fits and one sentence each", () => {
    for (const [code, { status, means }] of Object.entries(ERROR_CODES)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(status === 0 || (status >= 400 && status < 600)).toBe(true);
      expect(means).toMatch(/^[A-Z`].*\.$/);
    }
  });

  it("name every bound that the limits promise", () => {
    const bounds = [
      "too_large",
      "frame_too_large",
      "prompt_too_large",
      "queue_full",
      "too_many_sockets",
      "timeout",
      "model_timeout",
      "rate_limited",
      "crash_loop",
      "outcome_unknown",
      "malformed_arguments",
      "file_too_large",
      "workspace_full",
      "budget_exceeded",
      "too_many_turns",
      "too_many_sessions",
      "cursor_ahead",
      "idempotency_mismatch",
      "busy",
      "version_gone",
      "invalid_cursor",
      "already_decided",
    ];
    expect(bounds.filter((code) => !(code in ERROR_CODES))).toEqual([]);
  });
});

describe("an error of the product", () => {
  it("becomes code, message and details, and nothing else", () => {
    const error = new LightAgentError(
      "busy",
      "A turn is running.",
      { turn: 3 },
      { cause: new Error("secret") },
    );
    expect(toErrorBody(error)).toEqual({ code: "busy", message: "A turn is running.", details: { turn: 3 } });
    expect(toErrorBody(new LightAgentError("busy", "A turn is running."))).toEqual({
      code: "busy",
      message: "A turn is running.",
    });
    expect(JSON.stringify(toErrorBody(error))).not.toContain("secret");
  });

  it("is known across module boundaries, where its class is another one", () => {
    const foreign = Object.assign(new Error("A turn is running."), {
      code: "busy",
      marker: new LightAgentError("busy", "").marker,
    });
    expect(isLightAgentError(foreign)).toBe(true);
    expect(toErrorBody(foreign)).toEqual({ code: "busy", message: "A turn is running." });
  });
});

describe("any other error", () => {
  it.each([
    ["an error", new Error("password=hunter2")],
    ["a string", "password=hunter2"],
    ["nothing", undefined],
    ["an object that pretends", { marker: "light-agent.error", code: "busy", message: "password=hunter2" }],
  ])("is internal and says nothing: %s", (_, caught) => {
    expect(isLightAgentError(caught)).toBe(false);
    expect(toErrorBody(caught)).toEqual({ code: "internal", message: "An internal error occurred." });
  });

  it("leaves its name and frames in the operator's log, and never its message", () => {
    const trace = traceOf(new TypeError("password=hunter2\n    at nowhere"));
    expect(trace).toMatchObject({ error: "TypeError" });
    expect(JSON.stringify(trace)).toContain("errors.test");
    expect(JSON.stringify(trace)).not.toContain("hunter2");
    expect(traceOf("password=hunter2")).toEqual({ error: "string" });
  });
});
