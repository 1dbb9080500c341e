import type { AttemptTimes, ModelCallEvent } from "../model/model-call.ts";
import { estimateUsage } from "../model/estimate-usage.ts";
import type { ModelReply, ModelRequest, ReplyCall } from "../model/model-provider.ts";
import type { DurableBody, ToolCall } from "../protocol/durable-events.ts";
import { callIdOf } from "../protocol/ids.ts";
import type { LiveEvent } from "../protocol/live-events.ts";
import { costOf } from "../protocol/model-price.ts";
import type { ModelPrices } from "../protocol/model-price.ts";
import { INTENT_FIELD, intentOf } from "../tool/intent.ts";

type Ending = Extract<ModelCallEvent, { type: "reply" | "failed" | "aborted" }>;
type ShownBlock = Extract<ModelCallEvent, { type: "failed" | "aborted" }>["blocks"][number];

/** One step's model call as events: live ones while it streams, then what the log keeps of it. */
export class ModelStep {
  readonly #place: { readonly turn: number; readonly step: number };
  /** The model of the attempt at hand. */
  #model: string;
  /** UTF-16 units shown so far, by block of the attempt that streams. */
  #shown = new Map<number, number>();
  #ending: Ending | null = null;
  #request: ModelRequest | null = null;
  /** Whether the provider has a request that it has neither answered nor refused: it will count it. */
  #inFlight = false;

  readonly #prices: ModelPrices;

  constructor(place: { turn: number; step: number }, model: string, prices: ModelPrices) {
    this.#place = place;
    this.#prices = prices;
    this.#model = model;
  }

  /** What the model is asked, for an estimate of its usage when the provider does not count. */
  asks(request: ModelRequest): void {
    this.#request = request;
  }

  /** The live events that an item of the model call stands for. */
  next(item: ModelCallEvent): LiveEvent[] {
    const { attempt } = item;
    if (item.type === "attempt_start") this.#model = item.model;
    this.#inFlight = item.type === "attempt_start" || (this.#inFlight && item.type !== "attempt_failed");
    const model = this.#model;
    switch (item.type) {
      case "held": {
        const { delayMs } = item;
        const message = `The call waits ${delayMs} ms, because as many of this model's began as may.`;
        const about = { level: "info", code: "rate_limit_wait", message } as const;
        return [{ type: "diagnostic", ...this.#place, ...about, data: { delayMs, model: item.model } }];
      }
      case "attempt_start":
        this.#shown = new Map();
        return [{ type: "model_call_start", ...this.#place, model, attempt }];
      case "delta":
        return [this.#delta(item)];
      case "attempt_failed": {
        const { code, message } = item.error;
        const durationMs = durationOf(item);
        const end: LiveEvent = {
          type: "model_call_end",
          ...this.#place,
          attempt,
          model,
          durationMs,
          error: { code, message },
        };
        const reset: LiveEvent = { type: "attempt_reset", ...this.#place, attempt, reason: code };
        const retry: LiveEvent = { type: "error", ...this.#place, code, message, fatal: false };
        // The last attempt's text is not withdrawn: it stays, marked as interrupted.
        if (item.retryInMs === null) return [end];
        return item.shown ? [end, reset, retry] : [end, retry];
      }
      case "reply":
      case "failed":
      case "aborted":
        this.#ending = item;
        return this.#end(item);
    }
  }

  #delta(item: Extract<ModelCallEvent, { type: "delta" }>): LiveEvent {
    const { attempt, block, text } = item;
    const offset = this.#shown.get(block) ?? 0;
    this.#shown.set(block, offset + text.length);
    const delta = { ...this.#place, attempt, block, offset, text };
    if (item.kind === "tool_args") {
      const callId = callIdOf(this.#place.turn, this.#place.step, item.call);
      return { type: "tool_args_delta", ...delta, callId, name: item.name };
    }
    return { type: item.kind === "text" ? "text_delta" : "thought_delta", ...delta };
  }

  #end(item: Ending): LiveEvent[] {
    if (item.type === "failed") return [];
    const { attempt } = item;
    const call = { ...this.#place, attempt, model: this.#model, durationMs: durationOf(item) };
    if (item.type === "reply") {
      const { usage, diagnostics = [] } = item.reply;
      const told = diagnostics.map(({ code, message }): LiveEvent => ({
        type: "diagnostic",
        ...this.#place,
        level: "warning",
        code,
        message,
      }));
      return [{ type: "model_call_end", ...call, ...(usage ? { usage } : {}) }, ...told];
    }
    return [
      { type: "model_call_end", ...call, error: { code: "stopped", message: "The turn was stopped." } },
    ];
  }

  /** Whether the request did not fit the model's window, and nothing of a reply was shown. */
  get overflowed(): boolean {
    const ending = this.#ending;
    return (
      ending?.type === "failed" && ending.error.code === "context_overflow" && ending.blocks.length === 0
    );
  }

  /** Tokens of the window that the provider says to serve, if it says so. */
  get servedTokens(): number | undefined {
    const ending = this.#ending;
    return ending?.type === "failed" ? ending.error.windowTokens : undefined;
  }

  /** When the provider may be asked again, if it said so and that is within `maxMs`; null otherwise. */
  retryAt(maxMs: number): number | null {
    const ending = this.#ending;
    if (ending?.type !== "failed" || ending.error.code !== "rate_limited") return null;
    const { retryAfterMs } = ending.error;
    return retryAfterMs !== undefined && retryAfterMs <= maxMs ? ending.endedAt + retryAfterMs : null;
  }

  /** The live events that take back what was shown of a call that will be made again. */
  withdrawn(): LiveEvent[] {
    const ending = this.#ending;
    if (ending?.type !== "failed" || ending.blocks.length === 0) return [];
    return [{ type: "attempt_reset", ...this.#place, attempt: ending.attempt, reason: ending.error.code }];
  }

  /** What the log keeps: the reply, or what was shown of one that did not come to its end. */
  bodies(): DurableBody[] {
    const ending = this.#ending;
    if (!ending) return [];
    if (ending.type === "reply") return this.#replyBodies(ending);
    const shown = ending.blocks.filter((block) => block.text !== "");
    const kept = shown.map((block) => this.#blockBody(ending.attempt, block, true));
    const finishReason = ending.type === "failed" ? ("error" as const) : ("interrupted" as const);
    const counts = kept.length > 0 || (ending.type === "aborted" && this.#inFlight);
    const trace = counts ? [this.#trace(ending, finishReason, null)] : [];
    if (ending.type === "aborted") return [...kept, ...trace];
    const { code, message } = ending.error;
    return [...kept, ...trace, { type: "error", ...this.#place, code, message, fatal: true }];
  }

  #replyBodies(ending: Extract<Ending, { type: "reply" }>): DurableBody[] {
    const { reply, attempt } = ending;
    const blocks = reply.blocks.map((block): DurableBody => {
      const body = this.#blockBody(attempt, block, false);
      return reply.structured && body.type === "output" ? { ...body, structured: true } : body;
    });
    const calls = this.#calls(reply);
    const asked: DurableBody[] = calls.length > 0 ? [{ type: "tool_calls", ...this.#place, calls }] : [];
    return [...blocks, ...asked, this.#trace(ending, reply.finishReason, reply.usage)];
  }

  #blockBody(attempt: number, block: ShownBlock, interrupted: boolean): DurableBody {
    return {
      type: block.kind === "thought" ? "thought" : "output",
      ...this.#place,
      attempt,
      block: block.block,
      text: block.text,
      ...(interrupted ? { interrupted } : {}),
      ...(block.providerData ? { providerData: block.providerData } : {}),
    };
  }

  #calls(reply: ModelReply): ToolCall[] {
    const { turn, step } = this.#place;
    return reply.calls.map((call, index) => toToolCall(callIdOf(turn, step, index), call));
  }

  #trace(
    ending: Ending,
    finishReason: "stop" | "tool_calls" | "length" | "content_filter" | "interrupted" | "error",
    usage: ModelReply["usage"],
  ): DurableBody {
    const { attempt, startedAt, firstTokenAt, endedAt } = ending;
    const first = firstTokenAt === undefined ? {} : { firstTokenAt };
    const received = ending.type === "reply" ? [ending.reply.blocks, ending.reply.calls] : ending.blocks;
    const estimated = usage === null ? { estimated: true } : {};
    const counted = usage ?? estimateUsage(this.#request, received);
    const model = this.#model;
    return {
      type: "agent_trace",
      ...this.#place,
      model,
      attempt,
      usage: counted,
      ...estimated,
      ...costOf(this.#prices, model, counted),
      finishReason,
      startedAt,
      ...first,
      endedAt,
    };
  }

  /** Live events that repeat the reply as a whole, for consumers that do not fold deltas. */
  repeats(): LiveEvent[] {
    const ending = this.#ending;
    if (ending?.type !== "reply") return [];
    const { blocks } = ending.reply;
    const calls = this.#calls(ending.reply);
    const join = (kind: "text" | "thought"): string =>
      blocks
        .filter((block) => block.kind === kind)
        .map((block) => block.text)
        .join("");
    const thought = join("thought");
    const thinking = thought === "" ? {} : { thought };
    const uses = calls.map((call): LiveEvent => ({ type: "tool_use", ...this.#place, call }));
    return [{ type: "message", ...this.#place, text: join("text"), ...thinking, calls }, ...uses];
  }
}

/** The clock may have been set back meanwhile. */
function durationOf({ startedAt, endedAt }: AttemptTimes): number {
  return Math.max(0, endedAt - startedAt);
}

/** A call as it is stored: under an id of our own, its intent apart from its arguments. */
function toToolCall(id: string, call: ReplyCall): ToolCall {
  const intent = intentOf(call.args);
  const { [INTENT_FIELD]: _intent, ...args } = call.args;
  return {
    id,
    name: call.name,
    args,
    ...(intent === undefined ? {} : { intent }),
    ...(call.malformed === undefined ? {} : { malformed: call.malformed }),
  };
}
