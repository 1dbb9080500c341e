import type { Artifact, ToolCall } from "../protocol/durable-events.ts";
import { isLightAgentError } from "../protocol/errors.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Clock, Timers } from "../protocol/time.ts";
import type { ToolContext, ToolResult } from "../tool/tool.ts";
import type { ToolRegistry } from "../tool/tool-registry.ts";
import { callDeadline } from "./call-deadline.ts";
import type { Cut } from "./call-deadline.ts";
import { wrapToolCall } from "./hooks.ts";
import type { AgentHooks, HookContext, Middleware } from "./hooks.ts";

/** A result as the log keeps it: what was too long for it is an artifact. */
export interface KeptResult extends ToolResult {
  readonly artifact?: Artifact;
}

/** A call and how it ended. */
export interface SettledCall {
  readonly call: ToolCall;
  readonly result: KeptResult;
  readonly durationMs: number;
}

export interface CallRunnerOptions {
  readonly tools: ToolRegistry<ToolContext>;
  readonly hooks: AgentHooks;
  readonly middleware: readonly Middleware[];
  readonly limits: Limits;
  /** Resolves when tools may begin. Never rejects. */
  readonly beforeTools: () => Promise<void>;
  /** Puts what is too long for the log elsewhere. Never rejects. */
  readonly keepResult: (result: ToolResult, callId: string) => Promise<KeptResult>;
  readonly clock: Clock;
  readonly timers: Timers;
}

/**
 * Runs one call to its result, which is kept where the log will find it. Whatever the tool or what it stands on does
 * (throws, hangs, ignores its signal), the answer comes: at the latest when its time is over, or the grace after the
 * turn was stopped. What the tool does after that is fenced off:
 * its signal is aborted, and `onLate` hears of a result that came too late.
 */
export async function runCall(
  call: ToolCall,
  place: { readonly turn: number; readonly step: number; readonly stop: AbortSignal },
  hookContext: (signal: AbortSignal) => HookContext,
  options: CallRunnerOptions,
  onLate: (call: ToolCall) => void,
): Promise<SettledCall> {
  const { limits, clock } = options;
  const startedAt = clock();
  const controller = new AbortController();
  const abort = (): void => controller.abort(place.stop.reason);
  if (place.stop.aborted) abort();
  place.stop.addEventListener("abort", abort, { once: true });
  const allowed = options.tools.get(call.name)?.timeoutMs ?? limits.toolMs;
  const deadline = callDeadline(Math.min(allowed, limits.toolMaxMs), place.stop, options);
  let settled = false;
  const context = hookContext(controller.signal);
  const work = execute(call, controller.signal, place, context, options).then(async (result) =>
    options.keepResult(result, call.id),
  );
  const observed = work.then((result) => {
    if (settled) onLate(call);
    return result;
  });
  const ended = await Promise.race([observed, deadline.passed]);
  settled = true;
  deadline.cancel();
  place.stop.removeEventListener("abort", abort);
  controller.abort(new DOMException("The call is settled.", "AbortError"));
  const result = typeof ended === "string" ? cutResult(call, ended, startedAt, clock()) : ended;
  return { call, result, durationMs: Math.max(0, clock() - startedAt) };
}

function cutResult(call: ToolCall, cut: Cut, startedAt: number, endedAt: number): ToolResult {
  if (cut === "timeout") {
    const seconds = Math.round((endedAt - startedAt) / 1000);
    const content = `${call.name} did not finish within ${seconds} s and was abandoned. Whether it took effect is not known.`;
    return { content, isError: true, code: "timeout" };
  }
  const content = `The turn was stopped while ${call.name} ran, and it did not end in time. Whether it took effect is not known.`;
  return { content, isError: true, code: "outcome_unknown" };
}

/** The tool behind hooks and middleware. Never rejects. */
async function execute(
  call: ToolCall,
  signal: AbortSignal,
  place: { readonly turn: number; readonly step: number },
  context: HookContext,
  options: CallRunnerOptions,
): Promise<ToolResult> {
  const { hooks, middleware, tools } = options;
  const innermost = async (inner: ToolCall): Promise<ToolResult> => {
    const answered = await hooks.beforeTool?.(inner, context);
    // While a hook or middleware took its time the call may have been settled: what it would do now, nobody sees.
    if (!answered) signal.throwIfAborted();
    const tool = tools.get(inner.name);
    const result =
      answered ??
      (tool
        ? await tool.execute(inner.args, { id: inner.id, name: inner.name, ...place, signal })
        : errorResult("unknown_tool", `There is no tool "${inner.name}".`));
    return (await hooks.afterTool?.(inner, result, context)) ?? result;
  };
  try {
    await options.beforeTools();
    return await wrapToolCall(innermost, middleware, context)(call);
  } catch (caught) {
    return thrownResult(call, signal, caught);
  }
}

function thrownResult(call: ToolCall, signal: AbortSignal, caught: unknown): ToolResult {
  if (signal.aborted) return errorResult("stopped", `${call.name} was stopped while it ran.`);
  if (isLightAgentError(caught)) return errorResult(caught.code, `${call.name} failed: ${caught.message}`);
  // What a tool's author throws is meant for the model: it may be able to act on it.
  const message = caught instanceof Error ? caught.message : String(caught);
  return errorResult("tool_failed", `${call.name} failed: ${message}`);
}

function errorResult(code: ErrorCode, content: string): ToolResult {
  return { content, isError: true, code };
}
