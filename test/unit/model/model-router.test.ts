import { describe, expect, it } from "vitest";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import type { ModelErrorCode, ModelErrorOptions } from "../../../src/runtime/model/model-error.ts";
import { ModelHealth } from "../../../src/runtime/model/router/model-health.ts";
import { routeModels } from "../../../src/runtime/model/router/model-router.ts";
import type { ModelRoute } from "../../../src/runtime/model/router/model-router.ts";
import { routeOrder } from "../../../src/runtime/model/router/route-order.ts";
import { createScriptedProvider } from "../../../src/runtime/model/scripted-provider.ts";
import type { Script, ScriptedProvider } from "../../../src/runtime/model/scripted-provider.ts";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import { Harness } from "../support/agent-harness.ts";
import { RunningCall } from "./running-call.ts";

const fails = (code: ModelErrorCode, options?: ModelErrorOptions) => ({
  error: new ModelError(code, "no", options),
});

interface Routed {
  readonly models: ScriptedProvider[];
  readonly routes: ModelRoute[];
}

/** Models `x/a`, `x/b`, … that do what these scripts say. */
function routed(scripts: readonly Script[], extra: readonly Partial<ModelRoute>[] = []): Routed {
  const models = scripts.map((script, index) =>
    createScriptedProvider(script, { id: `x/${String.fromCodePoint(97 + index)}` }),
  );
  const routes = models.map((model, index) => {
    return { name: model.id.slice(2), model: model.id, provider: () => model, ...extra[index] };
  });
  return { models, routes };
}

/** The models that were asked, in order, and how the call ended. */
async function call({ models, routes }: Routed, health = new ModelHealth(DEFAULT_LIMITS, () => 0)) {
  const running = new RunningCall(() => routeModels(routes, health));
  await running.time.pass(60_000);
  await running.done;
  const asked = running.events.flatMap((event) => (event.type === "attempt_start" ? [event.model] : []));
  const { last } = running;
  return {
    asked,
    ended: last?.type === "failed" ? last.error.code : last?.type,
    counts: models.map((m) => m.requests.length),
  };
}

describe("[MODEL-41] a router", () => {
  it.each([
    "model_transport",
    "incomplete_stream",
    "malformed_stream",
    "model_timeout",
    "model_unavailable",
    "model_error",
    "rate_limited",
  ] as const)("[MODEL-41] falls back at once after %s", async (code) => {
    const { asked, ended } = await call(
      routed([[fails(code, { retryAfterMs: 3_600_000 })], [{ text: "hi" }]]),
    );
    expect([asked, ended]).toEqual([["x/a", "x/b"], "reply"]);
  });

  it.each([
    "model_rejected",
    "model_auth",
    "quota_exhausted",
    "content_filter",
    "context_overflow",
    "invalid_output",
  ] as const)("[MODEL-41] does not fall back after %s", async (code) => {
    const { asked, ended } = await call(routed([[fails(code)], [{ text: "hi" }]]));
    expect([asked, ended]).toEqual([["x/a"], code]);
  });

  it("[MODEL-41] does not fall back when the provider says not to retry, nor after an abort", async () => {
    const stubborn = await call(
      routed([[fails("model_unavailable", { retryable: false })], [{ text: "hi" }]]),
    );
    expect(stubborn.asked).toEqual(["x/a"]);
    const { models, routes } = routed([[{ end: "hang" }], [{ text: "hi" }]]);
    const running = new RunningCall(() => routeModels(routes, new ModelHealth(DEFAULT_LIMITS, () => 0)));
    await running.time.pass(10);
    running.controller.abort();
    await running.done;
    expect(running.last?.type).toBe("aborted");
    expect(models[1]?.requests).toHaveLength(0);
  });

  it("[MODEL-42] gives an overflow to a larger window only, and what a filter withheld to a route that takes it", async () => {
    const overflow = [[fails("context_overflow")], [{ text: "hi" }], [{ text: "hi" }]];
    const windows = [{ windowTokens: 8 }, { windowTokens: 8 }, { windowTokens: 9 }];
    expect((await call(routed(overflow, windows))).asked).toEqual(["x/a", "x/c"]);
    const filtered = [[fails("content_filter")], [{ text: "hi" }], [{ text: "hi" }]];
    const takes = [{}, {}, { afterContentFilter: true }];
    expect((await call(routed(filtered, takes))).asked).toEqual(["x/a", "x/c"]);
  });

  it("[MODEL-41] makes `modelTries` tries in all: there is one retry layer", async () => {
    const down: Script = () => fails("model_unavailable");
    const { asked, ended } = await call(routed([down, down]));
    expect([asked, ended]).toEqual([["x/a", "x/b", "x/b", "x/b"], "model_unavailable"]);
  });

  it("[MODEL-41] leaves out a route that cannot be opened", async () => {
    const { models, routes } = routed([[fails("model_transport")], [], [{ text: "hi" }]]);
    const broken = (): never => {
      throw new Error("no key");
    };
    const withBroken = routes.map((route, index) => (index === 1 ? { ...route, provider: broken } : route));
    expect((await call({ models, routes: withBroken })).asked).toEqual(["x/a", "x/c"]);
    expect(() => routeModels([], new ModelHealth(DEFAULT_LIMITS, () => 0))).toThrow("needs a route");
    const [twice] = routes;
    expect(() => routeModels(twice ? [twice, twice] : [], new ModelHealth(DEFAULT_LIMITS, () => 0))).toThrow(
      "one name",
    );
  });

  it("[MODEL-43] withdraws what was shown before the other model begins, and the log names the one that answered", async () => {
    const { models, routes } = routed([[{ text: "par", ...fails("model_transport") }], [{ text: "whole" }]]);
    const health = new ModelHealth(DEFAULT_LIMITS, () => 0);
    const h = new Harness([], { model: () => routeModels(routes, health) });
    await h.start("go");
    await h.finish();
    expect(h.all("model_call_start").map(({ model }) => model)).toEqual(["x/a", "x/b"]);
    expect(h.all("attempt_reset")).toMatchObject([{ attempt: 1 }]);
    expect(h.last("agent_trace")).toMatchObject({ model: "x/b", attempt: 2 });
    expect(h.all("output").map(({ text }) => text)).toEqual(["whole"]);
    expect(models[0]?.requests[0]).toEqual(models[1]?.requests[0]);
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-44] lets a model rest after `breakerFailures` in a row and tries it again after `breakerRestMs`", async () => {
    let now = 0;
    const health = new ModelHealth({ breakerFailures: 2, breakerRestMs: 1_000 }, () => now);
    const down: Script = () => fails("model_unavailable");
    const asked = async (): Promise<string[]> =>
      (await call(routed([down, () => ({ text: "hi" })]), health)).asked;
    expect(await asked()).toEqual(["x/a", "x/b"]);
    expect(await asked()).toEqual(["x/a", "x/b"]);
    expect(await asked()).toEqual(["x/b"]);
    now = 1_000;
    expect(await asked()).toEqual(["x/a", "x/b"]);
    expect(await asked()).toEqual(["x/b"]);
    now = 2_000;
    expect((await call(routed([() => ({ text: "back" })]), health)).asked).toEqual(["x/a"]);
    expect(await asked()).toEqual(["x/a", "x/b"]);
    // One failure after a success is not two in a row.
    expect(await asked()).toEqual(["x/a", "x/b"]);
  });

  it("[MODEL-44] knows of rests from elsewhere, uses a resting model when there is no other, and counts what it did", async () => {
    const health = new ModelHealth(DEFAULT_LIMITS, () => 0);
    health.learn([{ model: "x/a", until: 10 }]);
    const usage = { input: 3, output: 4, cachedInput: 0, reasoning: 0 };
    const answer: Script = () => ({ text: "hi", usage });
    expect((await call(routed([answer, answer]), health)).asked).toEqual(["x/b"]);
    expect((await call(routed([answer]), health)).asked).toEqual(["x/a"]);
    await call(routed([[fails("model_rejected")]]), health);
    const tally = { requests: 1, successes: 1, failures: 0, failing: 0, inputTokens: 3, outputTokens: 4 };
    // A request that is refused says nothing of the model's health.
    const { tallies } = health;
    expect(tallies).toEqual([
      { model: "x/b", ...tally },
      { model: "x/a", ...tally, requests: 2, failures: 1 },
    ]);
    await call(routed([answer, answer]), health);
    health.reported(tallies);
    expect(health.tallies).toEqual([{ model: "x/b", ...tally }]);
    health.reported(health.tallies);
    expect(health.tallies).toEqual([]);
  });

  it("[MODEL-45] asks what a prompt or agent names first, by a route's name or by its model, then the others", () => {
    const routes = [
      { name: "fast", model: "x/a" },
      { name: "good", model: "x/b" },
    ];
    const names = (wanted?: string): string[] =>
      routeOrder(routes, wanted, (model) => ({ name: model, model })).map(({ name }) => name);
    expect(names()).toEqual(["fast", "good"]);
    expect(names("good")).toEqual(["good", "fast"]);
    expect(names("x/b")).toEqual(["good", "fast"]);
    expect(names("x/c")).toEqual(["x/c", "fast", "good"]);
  });
});
