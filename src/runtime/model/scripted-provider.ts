import { systemTimers } from "../protocol/time.ts";
import type { MaybePromise, Timers } from "../protocol/time.ts";
import type { Usage } from "../protocol/usage.ts";
import { ModelError } from "./model-error.ts";
import type {
  FinishReason,
  ModelDelta,
  ModelProvider,
  ModelReply,
  ModelRequest,
  ModelStream,
  ReplyCall,
} from "./model-provider.ts";
import { sleep } from "./sleep.ts";

/** One call of a scripted reply. */
export interface ScriptedCall {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** @default `scripted_<position>` */
  readonly id?: string;
  /** The raw arguments of a call that must not run. */
  readonly malformed?: string;
  /** The argument text as it is shown. @default the JSON of `args`, or `malformed`, in one piece */
  readonly deltas?: readonly string[];
}

/** What one model call does: thought, then text, then calls, then its end. Lists of texts are the deltas. */
export interface ScriptedStep {
  readonly thought?: string | readonly string[];
  readonly text?: string | readonly string[];
  readonly calls?: readonly ScriptedCall[];
  /** @default "tool_calls" with calls, else "stop" */
  readonly finishReason?: FinishReason;
  /** @default null: the provider did not say */
  readonly usage?: Usage | null;
  /** Wait before each delta and before the end, in ms. @default 0: no wait at all */
  readonly delayMs?: number;
  /**
   * `hang` never ends but obeys its signal, `hang_ignoring_abort` does not obey it either, `cut` ends the stream
   * without a reply.
   * @default "reply"
   */
  readonly end?: "reply" | "hang" | "hang_ignoring_abort" | "cut";
  /** Thrown at the end, in place of it. */
  readonly error?: unknown;
}

/** The steps of the calls in order, or what chooses each. */
export type Script =
  | readonly ScriptedStep[]
  | ((request: ModelRequest, callIndex: number) => MaybePromise<ScriptedStep>);

export interface ScriptedProviderOptions {
  /** @default "scripted/model" */
  readonly id?: string;
  /** What delays wait by. @default the platform's timers */
  readonly timers?: Timers;
}

/** A provider that does what its script says, and what it was asked. */
export interface ScriptedProvider extends ModelProvider {
  /** Copies of the requests, in the order in which they came. */
  readonly requests: readonly ModelRequest[];
}

/**
 * A model for tests. A call beyond the end of the script fails for good, with `model_rejected`, so that a loop that
 * calls too often is seen.
 */
export function createScriptedProvider(
  script: Script,
  options: ScriptedProviderOptions = {},
): ScriptedProvider {
  const requests: ModelRequest[] = [];
  const timers = options.timers ?? systemTimers;
  return {
    id: options.id ?? "scripted/model",
    requests,
    async *stream(request, signal): ModelStream {
      const callIndex = requests.length;
      requests.push(structuredClone(request));
      const step = typeof script === "function" ? await script(request, callIndex) : script[callIndex];
      if (!step) throw new ModelError("model_rejected", `The script has no step for call ${callIndex}.`);
      yield* playStep(step, signal, timers);
    },
  };
}

async function* playStep(step: ScriptedStep, signal: AbortSignal, timers: Timers): ModelStream {
  const deltas = deltasOf(step);
  for (const delta of deltas) {
    await pause(step.delayMs, signal, timers);
    yield delta;
  }
  await pause(step.delayMs, signal, timers);
  if (step.error !== undefined) throw step.error;
  if (step.end === "cut") return;
  if (step.end === "hang_ignoring_abort") await new Promise<never>(() => undefined);
  if (step.end === "hang") await aborted(signal);
  yield { type: "reply", reply: replyOf(step, deltas) };
}

/** The deltas of a step in order, each kind in a block of its own. */
function deltasOf(step: ScriptedStep): ModelDelta[] {
  const deltas: ModelDelta[] = [];
  let block = 0;
  for (const [kind, texts] of [
    ["thought", listOf(step.thought)],
    ["text", listOf(step.text)],
  ] as const) {
    for (const text of texts) deltas.push({ type: "delta", kind, block, text });
    if (texts.length > 0) block++;
  }
  for (const [call, { name, deltas: texts, ...rest }] of (step.calls ?? []).entries()) {
    const whole = rest.malformed ?? JSON.stringify(rest.args ?? {});
    for (const text of texts ?? [whole]) {
      deltas.push({ type: "delta", kind: "tool_args", block, text, call, name });
    }
    block++;
  }
  return deltas;
}

/** The reply that the deltas add up to. */
function replyOf(step: ScriptedStep, deltas: readonly ModelDelta[]): ModelReply {
  const blocks = new Map<number, ModelReply["blocks"][number]>();
  for (const delta of deltas) {
    if (delta.kind === "tool_args") continue;
    const { kind, block } = delta;
    blocks.set(block, { kind, block, text: (blocks.get(block)?.text ?? "") + delta.text });
  }
  const calls = (step.calls ?? []).map(callOf);
  return {
    blocks: [...blocks.values()],
    calls,
    finishReason: step.finishReason ?? (calls.length > 0 ? "tool_calls" : "stop"),
    usage: step.usage ?? null,
  };
}

function callOf(call: ScriptedCall, position: number): ReplyCall {
  const providerId = call.id ?? `scripted_${position}`;
  if (call.malformed !== undefined) {
    return { providerId, name: call.name, args: {}, malformed: call.malformed };
  }
  return { providerId, name: call.name, args: call.args ?? {} };
}

function listOf(text: string | readonly string[] | undefined): readonly string[] {
  if (text === undefined) return [];
  return typeof text === "string" ? [text] : text;
}

async function pause(ms: number | undefined, signal: AbortSignal, timers: Timers): Promise<void> {
  if (ms !== undefined && ms > 0) await sleep(ms, signal, timers);
  signal.throwIfAborted();
}

/** Never resolves; fails when the signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}
