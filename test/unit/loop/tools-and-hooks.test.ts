import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Middleware } from "../../../src/runtime/loop/hooks.ts";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import type { ToolContext } from "../../../src/runtime/tool/tool.ts";
import { ALICE, Harness, echoTool, gate } from "../support/agent-harness.ts";
import { settled } from "../support/fake-time.ts";

const call = (text: string) => ({ name: "echo", args: { text, _intent: "to see" } });

describe("tools and hooks of a turn", () => {
  it("[TURN-10] ends a call that takes too long with a timeout and drops what comes later", async () => {
    const late = gate<{ content: string }>();
    const { tool } = echoTool({ timeoutMs: 5_000, run: () => late.opened });
    const h = new Harness([{ calls: [call("a")] }, { text: "ok" }], { tools: [tool] });
    await h.start("go");
    await h.time.pass(5_000);
    expect(h.last("tool_result")).toMatchObject({ isError: true, code: "timeout", durationMs: 5_000 });
    late.open({ content: "too late" });
    await h.finish();
    expect(h.last("diagnostic")).toMatchObject({ code: "late_result", data: { callId: "call_1_1_0" } });
    expect(h.all("tool_result")).toHaveLength(1);
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-11] lets hooks replace requests, answer calls and change results", async () => {
    const { tool, runs } = echoTool();
    const h = new Harness([{ calls: [call("a"), call("b")] }, { text: "ok" }], {
      tools: [tool],
      hooks: {
        beforeModel: (request) => ({ ...request, system: "replaced" }),
        beforeTool: ({ args }) =>
          args["text"] === "a" ? { content: "answered", isError: true, code: "denied" } : undefined,
        afterTool: (_call, result) => ({ ...result, content: `${result.content}!` }),
      },
    });
    await h.start("go");
    await h.finish();
    expect(h.model.requests[0]?.system).toBe("replaced");
    expect(runs).toEqual(["b"]);
    const results = h.model.requests[1]?.messages.filter((message) => message.role === "tool");
    expect(results).toMatchObject([
      { content: "answered!", isError: true },
      { content: "b!", isError: false },
    ]);
    expect(h.violations()).toEqual([]);
  });

  it.each(["beforeTool", "afterTool"] as const)(
    "[TURN-12] turns a throwing %s into the call's error result",
    async (hook) => {
      const { tool } = echoTool();
      const throwing = { [hook]: () => Promise.reject(new Error("no")) };
      const h = new Harness([{ calls: [call("a"), call("b")] }, { text: "ok" }], {
        tools: [tool],
        hooks: throwing,
      });
      await h.start("go");
      await h.finish();
      expect(h.all("tool_result").map(({ code }) => code)).toEqual(["tool_failed", "tool_failed"]);
      expect(h.last("agent_stop").reason).toBe("stop");
      expect(h.violations()).toEqual([]);
    },
  );

  it("[TURN-50] ends the turn with hook_failed when beforeModel does not answer in time", async () => {
    const beforeModel = () => new Promise<void>(() => undefined);
    const h = new Harness([{ text: "ok" }], { hooks: { beforeModel } });
    await h.start("go");
    await h.time.pass(DEFAULT_LIMITS.hookMs - 1);
    expect(h.types).toEqual(["input"]);
    await h.time.pass(1);
    await h.finish();
    expect(h.types).toEqual(["input", "error", "agent_stop"]);
    expect(h.last("error").code).toBe("hook_failed");
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-50] does not wait for beforeModel once the turn is stopped", async () => {
    let aborted = false;
    const h = new Harness([{ text: "ok" }], {
      hooks: {
        beforeModel: (_request, { signal }) => {
          signal.addEventListener("abort", () => (aborted = true));
          return new Promise<void>(() => undefined);
        },
      },
    });
    await h.start("go");
    await h.agent.interrupt({ by: ALICE });
    await settled();
    expect(h.types).toEqual(["input", "interrupt", "agent_stop"]);
    expect(h.last("agent_stop")).toMatchObject({ reason: "aborted", cause: "user" });
    expect(aborted).toBe(true);
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-12] ends the turn with hook_failed when beforeModel throws, and the next prompt runs", async () => {
    let broken = true;
    const beforeModel = () => {
      if (broken) throw new Error("secret detail");
    };
    const h = new Harness([{ text: "ok" }], { hooks: { beforeModel } });
    await h.start("go");
    await h.finish();
    expect(h.types).toEqual(["input", "error", "agent_stop"]);
    expect(JSON.stringify(h.told)).not.toContain("secret detail");
    broken = false;
    await h.start("again");
    await h.finish();
    expect(h.last("agent_stop")).toMatchObject({ turn: 2, reason: "stop" });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-13] wraps model and tool calls in middleware, first outermost, and tells what it emits at a boundary", async () => {
    const order: string[] = [];
    const layer = (name: string): Middleware => ({
      name,
      wrapModelCall: (context, request, next) => {
        order.push(`${name} model`);
        context.emit("seen", { by: name });
        return next(request);
      },
      wrapToolCall: async (context, toolCall, next) => {
        order.push(`${name} tool`);
        context.emit("ran", toolCall.name);
        return next(toolCall);
      },
    });
    const { tool } = echoTool();
    const h = new Harness([{ text: "x", calls: [call("a")] }, { text: "ok" }], {
      tools: [tool],
      middleware: [layer("a"), layer("b")],
    });
    await h.start("go");
    await h.finish();
    expect(order).toEqual(["a model", "b model", "a tool", "b tool", "a model", "b model"]);
    const types = h.told.map(({ type }) => type);
    expect(types.slice(types.indexOf("model_call_end"), types.indexOf("tool_calls"))).toEqual([
      "model_call_end",
      "custom",
      "custom",
      "output",
    ]);
    expect(h.all("custom").map(({ name, data }) => ({ name, data }))).toContainEqual({
      name: "ran",
      data: "echo",
    });
    expect(h.violations()).toEqual([]);
  });

  it("[TURN-17] gives tools their progress, their events and a handle that dies with the call", async () => {
    let kept: (() => void) | null = null;
    const tool = {
      name: "echo",
      description: "Tells how far it is.",
      schema: z.object({ text: z.string() }),
      execute: async (_args: unknown, context: ToolContext) => {
        context.progress({ completed: 1, total: 2 });
        context.emit("half", 1);
        kept = () => context.emit("late", 2);
        return { content: "ok" };
      },
    };
    const h = new Harness([{ calls: [call("a")] }, { text: "ok" }], { tools: [tool] });
    await h.start("go");
    await h.finish();
    expect(h.last("tool_progress")).toMatchObject({ callId: "call_1_1_0", completed: 1, total: 2 });
    (kept as (() => void) | null)?.();
    expect(h.all("custom").map(({ name }) => name)).toEqual(["half"]);
    expect(h.violations()).toEqual([]);
  });
});
