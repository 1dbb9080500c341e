import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelCallEvent } from "../../../src/runtime/model/model-call.ts";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import type { ModelErrorOptions } from "../../../src/runtime/model/model-error.ts";
import type { ScriptedStep } from "../../../src/runtime/model/scripted-provider.ts";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import { RunningCall, scripted, START } from "./running-call.ts";

function fail(code: ConstructorParameters<typeof ModelError>[0], options?: ModelErrorOptions): ModelError {
  return new ModelError(code, "no", options);
}

/** Steps that fail with these errors. */
function failing(...errors: readonly unknown[]): ScriptedStep[] {
  return errors.map((error) => ({ error }));
}

/** The waits between the tries. */
function waits(events: readonly ModelCallEvent[]): (number | null)[] {
  return events.flatMap((event) => (event.type === "attempt_failed" ? [event.retryInMs] : []));
}

describe("[MODEL-20] one call", () => {
  it("[MODEL-20] gives its start, its deltas and its reply with their times", async () => {
    const call = new RunningCall(
      scripted({ thought: "hm", text: ["a", "b"], calls: [{ name: "read" }], delayMs: 10, usage: null }),
    );
    await call.time.pass(1_000);
    await call.done;
    const delta = { type: "delta", attempt: 1 };
    expect(call.events).toEqual([
      { type: "attempt_start", attempt: 1, model: "scripted/model" },
      { ...delta, kind: "thought", block: 0, text: "hm" },
      { ...delta, kind: "text", block: 1, text: "a" },
      { ...delta, kind: "text", block: 1, text: "b" },
      { ...delta, kind: "tool_args", block: 2, text: "{}", call: 0, name: "read" },
      {
        type: "reply",
        attempt: 1,
        reply: expect.objectContaining({ finishReason: "tool_calls" }),
        startedAt: START,
        firstTokenAt: START + 10,
        endedAt: START + 50,
      },
    ]);
    expect(call.time.pending).toBe(0);
  });

  it("[MODEL-20] is tried again after a failure that may pass, under the next number", async () => {
    const call = new RunningCall(
      scripted({ text: "par", error: fail("model_transport") }, { text: "whole" }),
      {
        firstAttempt: 2_001,
      },
    );
    await call.time.pass(10_000);
    expect(call.events).toMatchObject([
      { type: "attempt_start", attempt: 2_001 },
      { type: "delta", attempt: 2_001, text: "par" },
      {
        type: "attempt_failed",
        attempt: 2_001,
        error: { code: "model_transport" },
        shown: true,
        retryInMs: 750,
      },
      { type: "attempt_start", attempt: 2_002 },
      { type: "delta", attempt: 2_002, text: "whole" },
      { type: "reply", attempt: 2_002, startedAt: START + 750 },
    ]);
  });

  it("[MODEL-20] fails with the last cause and what it had shown when the tries are used up", async () => {
    const call = new RunningCall(
      scripted(...failing(fail("model_timeout"), fail("rate_limited"), fail("empty_reply")), {
        thought: "hm",
        text: "par",
        error: fail("model_unavailable"),
      }),
    );
    await call.time.pass(60_000);
    expect(waits(call.events)).toEqual([750, 1_250, 2_250, null]);
    expect(call.last).toMatchObject({
      type: "failed",
      attempt: 4,
      error: { code: "model_unavailable" },
      blocks: [
        { kind: "thought", block: 0, text: "hm" },
        { kind: "text", block: 1, text: "par" },
      ],
      startedAt: START + 750 + 1_250 + 2_250,
    });
  });

  it.each(["context_overflow", "model_auth", "model_rejected", "quota_exhausted", "content_filter"] as const)(
    "[MODEL-20] is not tried again after %s",
    async (code) => {
      const call = new RunningCall(scripted(...failing(fail(code))));
      await call.done;
      expect(call.types).toEqual(["attempt_start", "attempt_failed", "failed"]);
      expect(call.events[1]).toMatchObject({ shown: false, retryInMs: null });
    },
  );

  it("[MODEL-20] what a provider throws of its own is classified", async () => {
    const call = new RunningCall(scripted({ error: new TypeError("terminated") }, { text: "ok" }));
    await call.time.pass(10_000);
    expect(call.events[1]).toMatchObject({ error: { code: "model_transport", retryable: true } });
    expect(call.last?.type).toBe("reply");
  });

  it("[MODEL-20] a stream that ends without a reply is incomplete", async () => {
    const call = new RunningCall(scripted({ text: "par", end: "cut" }, { text: "ok" }));
    await call.time.pass(10_000);
    expect(call.events[2]).toMatchObject({ error: { code: "incomplete_stream" }, shown: true });
  });

  it("[MODEL-20] a provider that throws at once fails like any other", async () => {
    const stream = (): never => {
      throw new Error("bug");
    };
    const call = new RunningCall(() => ({ id: "x", stream }), {
      limits: { ...DEFAULT_LIMITS, modelTries: 1 },
    });
    await call.done;
    expect(call.last).toMatchObject({
      type: "failed",
      error: { code: "model_error", message: expect.not.stringContaining("bug") },
    });
  });

  it("[MODEL-20] waits between the base and a ceiling that doubles up to the cap", async () => {
    const property = fc.asyncProperty(
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 1, max: 12 }),
      async (chance, modelTries) => {
        const errors = Array.from({ length: modelTries }, () => fail("model_error"));
        const limits = { ...DEFAULT_LIMITS, modelTries };
        const call = new RunningCall(scripted(...failing(...errors)), { random: () => chance, limits });
        await call.time.pass(1_000_000);
        const waited = waits(call.events);
        expect(waited).toHaveLength(modelTries);
        expect(waited.pop()).toBeNull();
        for (const [retry, ms] of waited.entries()) {
          expect(ms).toBeGreaterThanOrEqual(500);
          expect(ms).toBeLessThanOrEqual(Math.min(8_000, 500 * 2 ** (retry + 1)));
        }
      },
    );
    await fc.assert(property, { numRuns: 50 });
  });
});

describe("[MODEL-21] a provider that says when to come back", () => {
  it("[MODEL-21] is obeyed up to the limit, and never hammered", async () => {
    const call = new RunningCall(
      scripted(
        ...failing(
          fail("rate_limited", { retryAfterMs: 60_000 }),
          fail("rate_limited", { retryAfterMs: 100 }),
        ),
        { text: "ok" },
      ),
    );
    await call.time.pass(59_999);
    expect(call.types).toEqual(["attempt_start", "attempt_failed"]);
    await call.time.pass(10_000);
    expect(waits(call.events)).toEqual([60_000, 1_250]);
    expect(call.last?.type).toBe("reply");
  });

  it("[MODEL-21] and asks for longer ends the call, with the time in its error", async () => {
    const call = new RunningCall(scripted(...failing(fail("rate_limited", { retryAfterMs: 60_001 }))));
    await call.done;
    expect(call.last).toMatchObject({
      type: "failed",
      error: { code: "rate_limited", retryAfterMs: 60_001 },
    });
  });

  it("[MODEL-21] says whether to come back at all", async () => {
    const call = new RunningCall(
      scripted(
        ...failing(
          fail("model_rejected", { retryable: true }),
          fail("model_unavailable", { retryable: false }),
        ),
      ),
    );
    await call.time.pass(10_000);
    expect(waits(call.events)).toEqual([750, null]);
  });
});
