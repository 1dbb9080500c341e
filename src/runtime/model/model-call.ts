import type { Limits } from "../protocol/limits.ts";
import type { Clock, Random, Timers } from "../protocol/time.ts";
import { readFailure } from "./failure.ts";
import { ModelError, isModelError } from "./model-error.ts";
import type { ModelDelta, ModelProvider, ModelReply, ModelRequest, ModelStream } from "./model-provider.ts";
import { sleep } from "./sleep.ts";
import { classifyFailure } from "./stream-errors.ts";
import { streamOf } from "./stream-of.ts";
import { watchStream } from "./watched-stream.ts";

/** Holds calls of a model back where too many begin. */
export interface ModelPace {
  /** Takes a place for one attempt. @returns when it may begin, in ms since the epoch */
  reserve(model: string): Promise<number>;
  /** The attempt that was to begin at that time does not. Never fails. */
  giveBack(model: string, at: number): void;
}

export interface ModelCallOptions {
  readonly provider: ModelProvider;
  /** The same for every attempt. */
  readonly request: ModelRequest;
  /** @default no attempt is held back */
  readonly pace?: ModelPace | undefined;
  /** Aborts the call as a whole: the attempt that streams, or the wait between two. */
  readonly signal: AbortSignal;
  readonly limits: Pick<
    Limits,
    | "firstDeltaMs"
    | "betweenDeltasMs"
    | "modelCallMs"
    | "modelTries"
    | "retryBaseMs"
    | "retryCapMs"
    | "retryAfterInPlaceMs"
    | "replyChars"
  >;
  readonly clock: Clock;
  readonly timers: Timers;
  /** For the jitter of the waits. */
  readonly random: Random;
  /** The number of the first attempt; each further one is higher by one. */
  readonly firstAttempt: number;
}

/** A block as far as its deltas have come. */
export type ShownBlock = ModelReply["blocks"][number];

/** When an attempt began, gave its first delta and ended, in ms since the epoch. */
export interface AttemptTimes {
  readonly startedAt: number;
  readonly firstTokenAt?: number;
  readonly endedAt: number;
}

/** How a call ended: `attempt` is the last one, `blocks` what it has shown. */
export type ModelCallEnd =
  | ({ type: "reply"; attempt: number; reply: ModelReply } & AttemptTimes)
  | ({ type: "failed"; attempt: number; error: ModelError; blocks: ShownBlock[] } & AttemptTimes)
  | ({ type: "aborted"; attempt: number; blocks: ShownBlock[] } & AttemptTimes);

/**
 * What a call yields: per attempt its start, its deltas and, when it failed, why and in how many ms the next one comes
 * (null for none; `shown` says that there are deltas to withdraw); one {@link ModelCallEnd}, last.
 */
export type ModelCallEvent =
  | { type: "held"; attempt: number; model: string; delayMs: number }
  | { type: "attempt_start"; attempt: number; model: string }
  | (ModelDelta & { attempt: number })
  | ({
      type: "attempt_failed";
      attempt: number;
      error: ModelError;
      shown: boolean;
      retryInMs: number | null;
    } & AttemptTimes)
  | ModelCallEnd;

/** What an attempt comes to whose stream ends without a reply. */
const NO_REPLY = new ModelError("incomplete_stream", "The model's stream ended without a reply.");

/** A reply has to fit the log, and would only come as long again. */
const REPLY_TOO_LONG = new ModelError("malformed_stream", "The model's reply is longer than allowed.", {
  retryable: false,
});

/**
 * Calls a model, with the only retries of the product. An attempt that failed for a reason that may pass is followed
 * by another within `modelTries`, after a jittered wait or as long as the provider asks, up to
 * `retryAfterInPlaceMs`; where the provider has a route and another model may take over, that one gets the next try at
 * once. Beyond that the call fails with the `retryAfterMs` in its error. Every failure is an event,
 * none is thrown. When the signal aborts the call ends at once, whatever the provider does.
 */
export async function* callModel(options: ModelCallOptions): AsyncGenerator<ModelCallEvent, void, undefined> {
  const { request, signal, firstAttempt } = options;
  let { provider } = options;
  for (let tries = 1; ; tries++) {
    const number = firstAttempt + tries - 1;
    const held = yield* holdBack(provider.id, number, options);
    const attempt = new Attempt(number, options.clock);
    if (signal.aborted) return yield attempt.aborted();
    if (held) return yield { type: "failed", error: held, blocks: [], ...attempt.end() };
    yield { type: "attempt_start", attempt: attempt.number, model: provider.id };
    let outcome: ModelReply | ModelError = NO_REPLY;
    // Not a generator of its own: delegating to it would double the cost of each delta.
    try {
      for await (const item of watchStream(openerOf(provider, request), options)) {
        if (item.type === "reply") {
          outcome = item.reply;
          break;
        }
        if (attempt.size + storedUnits(item.text) > options.limits.replyChars) {
          outcome = REPLY_TOO_LONG;
          break;
        }
        attempt.add(item);
        yield { ...item, attempt: attempt.number };
      }
    } catch (caught) {
      outcome = toModelError(caught, options.clock);
    }
    if (signal.aborted) return yield attempt.aborted();
    provider.route?.settled(outcome);
    if (!isModelError(outcome)) return yield { type: "reply", reply: outcome, ...attempt.end() };
    const next = tries < options.limits.modelTries ? (provider.route?.next(outcome) ?? null) : null;
    const retryInMs = next ? 0 : retryDelay(outcome, tries, options);
    const shown = attempt.firstTokenAt !== undefined;
    yield { type: "attempt_failed", error: outcome, shown, retryInMs, ...attempt.end() };
    if (retryInMs === null) {
      return yield { type: "failed", error: outcome, blocks: attempt.blocks, ...attempt.end() };
    }
    if (next) provider = next;
    else await sleep(retryInMs, signal, options.timers);
    // What the attempt had shown has been withdrawn by now.
    if (signal.aborted) return yield { type: "aborted", blocks: [], ...attempt.end() };
  }
}

/**
 * Waits for a place where calls are held back. A place that nobody waits for is given back.
 * @returns why the call ends here: a wait that is too long to be kept is the caller's to decide on
 */
async function* holdBack(
  model: string,
  attempt: number,
  { pace, signal, clock, timers, limits }: ModelCallOptions,
): AsyncGenerator<ModelCallEvent, ModelError | null> {
  if (!pace || signal.aborted) return null;
  let at: number;
  try {
    at = await pace.reserve(model);
  } catch {
    // Who counts does not answer: a call too many is better than none.
    return null;
  }
  const delayMs = at - clock();
  if (delayMs <= 0 && !signal.aborted) return null;
  const tooLong = delayMs > limits.retryAfterInPlaceMs;
  if (!tooLong && !signal.aborted) {
    yield { type: "held", attempt, model, delayMs };
    await sleep(delayMs, signal, timers);
  }
  if (tooLong || signal.aborted) pace.giveBack(model, at);
  if (!tooLong) return null;
  const message = "As many calls of the model are under way as may be.";
  return new ModelError("rate_limited", message, { retryAfterMs: delayMs });
}

function openerOf(provider: ModelProvider, request: ModelRequest): (signal: AbortSignal) => ModelStream {
  return (signal) => streamOf(provider, request, signal);
}

/** What JSON writes as six bytes: control characters and halves of surrogate pairs. */
const ESCAPED = /[\p{Cc}\p{Cs}]/gu;

/** UTF-16 units of a text, those twice that are stored in twice the bytes: a row of the log must hold the reply. */
function storedUnits(text: string): number {
  return text.length + (text.match(ESCAPED)?.length ?? 0);
}

/** Any provider may be behind the call, so that anything may have been thrown. */
function toModelError(caught: unknown, clock: Clock): ModelError {
  return isModelError(caught) ? caught : classifyFailure(readFailure(caught, "thrown", clock()));
}

/** How long to wait before the next try, in ms; null when there is none. */
function retryDelay(error: ModelError, tries: number, options: ModelCallOptions): number | null {
  const { limits, random } = options;
  const asked = error.retryAfterMs ?? 0;
  // A wait that is too long to be kept here is the caller's to decide on.
  if (!error.retryable || tries >= limits.modelTries || asked > limits.retryAfterInPlaceMs) return null;
  const ceiling = Math.min(limits.retryCapMs, limits.retryBaseMs * 2 ** tries);
  const jittered = limits.retryBaseMs + random() * (ceiling - limits.retryBaseMs);
  return Math.max(asked, Math.round(jittered));
}

/** What is known of an attempt while it runs. */
class Attempt {
  readonly number: number;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #blocks = new Map<number, ShownBlock>();
  firstTokenAt: number | undefined;
  /** Stored units of all deltas so far. */
  size = 0;

  constructor(number: number, clock: Clock) {
    this.number = number;
    this.#clock = clock;
    this.#startedAt = clock();
  }

  /** The text blocks shown so far, in order. */
  get blocks(): ShownBlock[] {
    return [...this.#blocks.values()];
  }

  add(delta: ModelDelta): void {
    this.firstTokenAt ??= this.#clock();
    this.size += storedUnits(delta.text);
    if (delta.kind === "tool_args") return;
    const before = this.#blocks.get(delta.block)?.text ?? "";
    this.#blocks.set(delta.block, { kind: delta.kind, block: delta.block, text: before + delta.text });
  }

  end(): { attempt: number } & AttemptTimes {
    const { firstTokenAt } = this;
    return {
      attempt: this.number,
      startedAt: this.#startedAt,
      ...(firstTokenAt === undefined ? {} : { firstTokenAt }),
      endedAt: this.#clock(),
    };
  }

  aborted(): ModelCallEnd {
    return { type: "aborted", blocks: this.blocks, ...this.end() };
  }
}
