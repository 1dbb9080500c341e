import type { ModelProvider, ModelRequest, ModelStream } from "../model/model-provider.ts";
import { Interruption } from "../model/interruption.ts";
import { streamOf } from "../model/stream-of.ts";
import type { ToolCall } from "../protocol/durable-events.ts";
import { within } from "../protocol/time.ts";
import type { MaybePromise, Timers } from "../protocol/time.ts";
import type { ToolResult } from "../tool/tool.ts";

/** Where a hook or middleware runs, and how it can tell the outside something. */
export interface HookContext {
  readonly turn: number;
  readonly step: number;
  readonly signal: AbortSignal;
  /** Queues a `custom` event, told at the next boundary of the loop. Never blocks, never fails. */
  emit(name: string, data: unknown): void;
}

/**
 * Hooks of the loop. One that throws ends the turn with `hook_failed` (beforeModel) or becomes the call's error
 * result (beforeTool, afterTool); it never leaves a call without a result.
 */
export interface AgentHooks {
  /** May replace what the model is about to see. */
  beforeModel?(request: ModelRequest, context: HookContext): MaybePromise<ModelRequest | void>;
  /** Answers a call in the tool's place by returning a result. */
  beforeTool?(call: ToolCall, context: HookContext): MaybePromise<ToolResult | void>;
  /** May replace what a call gave back. */
  afterTool?(call: ToolCall, result: ToolResult, context: HookContext): MaybePromise<ToolResult | void>;
}

/** Wraps model calls (each attempt) and tool calls. The first in the list is the outermost. */
export interface Middleware {
  readonly name: string;
  wrapModelCall?(
    context: HookContext & { readonly model: string },
    request: ModelRequest,
    next: (request: ModelRequest) => ModelStream,
  ): ModelStream;
  wrapToolCall?(
    context: HookContext,
    call: ToolCall,
    next: (call: ToolCall) => Promise<ToolResult>,
  ): Promise<ToolResult>;
}

/**
 * A hook's answer, waited for no longer than it may take (`ms`), and not at all once the turn is stopped.
 * @throws what the hook throws, the stop's reason, or a TimeoutError
 */
export async function boundedHook<T>(
  answer: MaybePromise<T>,
  { stop, ms, timers }: { readonly stop: AbortSignal; readonly ms: number; readonly timers: Timers },
): Promise<T> {
  if (!(answer instanceof Promise)) return answer;
  const interruption = new Interruption();
  const stopped = (): void => interruption.ring(stop.reason);
  stop.addEventListener("abort", stopped, { once: true });
  if (stop.aborted) stopped();
  const late = (): Error => new DOMException("The hook did not answer.", "TimeoutError");
  try {
    return await interruption.wait(within(ms, timers, answer, late));
  } finally {
    stop.removeEventListener("abort", stopped);
  }
}

/** A provider whose every stream passes through the middleware, like those of the providers that may take over. */
export function wrapProvider(
  provider: ModelProvider,
  middleware: readonly Middleware[],
  contextFor: (signal: AbortSignal) => HookContext,
): ModelProvider {
  const { route } = provider;
  const wrapped = (next: ModelProvider | null): ModelProvider | null =>
    next && wrapProvider(next, middleware, contextFor);
  return {
    id: provider.id,
    ...(route
      ? {
          route: {
            settled: (outcome) => route.settled(outcome),
            next: (error) => wrapped(route.next(error)),
          },
        }
      : {}),
    stream(request, signal) {
      const context = { ...contextFor(signal), model: provider.id };
      const innermost = (last: ModelRequest): ModelStream => streamOf(provider, last, signal);
      const chain = middleware.reduceRight<(request: ModelRequest) => ModelStream>((next, layer) => {
        const wrap = layer.wrapModelCall?.bind(layer);
        return wrap ? (inner) => wrap(context, inner, next) : next;
      }, innermost);
      return chain(request);
    },
  };
}

/** A tool call as the middleware wraps it. */
export function wrapToolCall(
  run: (call: ToolCall) => Promise<ToolResult>,
  middleware: readonly Middleware[],
  context: HookContext,
): (call: ToolCall) => Promise<ToolResult> {
  return middleware.reduceRight<(call: ToolCall) => Promise<ToolResult>>((next, layer) => {
    const wrap = layer.wrapToolCall?.bind(layer);
    return wrap ? (call) => wrap(context, call, next) : next;
  }, run);
}
