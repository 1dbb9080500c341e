import { callModel } from "../model/model-call.ts";
import type { CompactionReason } from "../context/compaction.ts";
import type { ModelProvider, ModelRequest } from "../model/model-provider.ts";
import type { DurableBody, ToolCall } from "../protocol/durable-events.ts";
import { isLightAgentError } from "../protocol/errors.ts";
import type { LiveEvent } from "../protocol/live-events.ts";
import type { CallState } from "../protocol/session-fold.ts";
import { CallPool } from "./call-pool.ts";
import { runCall } from "./call-runner.ts";
import type { SettledCall } from "./call-runner.ts";
import type { PermissionGate } from "./call-gate.ts";
import { withConsequences } from "./consequences.ts";
import { contextStatus } from "./context-status.ts";
import type { FactSettings } from "./consequences.ts";
import { boundedHook, wrapProvider } from "./hooks.ts";
import type { HookContext } from "./hooks.ts";
import { ModelStep } from "./model-step.ts";
import { nextAction } from "./next-action.ts";
import type { Action, ActionSettings } from "./next-action.ts";
import { recoverCall } from "./recover-call.ts";
import { askSummariser, summaryOf } from "./summarise.ts";
import { stepEnd } from "./step-end.ts";
import type { TurnLog } from "./turn-log.ts";
import type { TurnSettings } from "./turn-settings.ts";

/**
 * How a run of a turn ended: it is over, it waits for a person, its process let go of it, or the model's provider wants
 * to be asked again no earlier than `retryAt` (ms since the epoch).
 */
export type TurnOutcome = "ended" | "waiting" | "released" | { readonly retryAt: number };

/** More tries than this in one step of one wake are impossible, so an attempt number never comes twice in a step. */
const ATTEMPTS_PER_WAKE = 1000;

/**
 * Drives the open turn of a session until it ends or waits for a person. What happens is decided by `nextAction`
 * alone; this class carries it out.
 */
export class TurnRun {
  readonly #log: TurnLog;
  readonly #settings: TurnSettings;
  /** Aborts when the turn is stopped, or when its process lets go of it. */
  readonly #stop: AbortSignal;
  readonly #calls: CallPool;
  readonly #customs: LiveEvent[] = [];
  /** Digests of the arguments of calls that policy may ask a person about. */
  readonly #digests = new Map<string, string>();
  #gate: PermissionGate | null = null;
  #released = false;
  /** The head at which nothing could be summarised. */
  #uncut = -1;
  /** The last attempt of the last step: one that is called again goes on counting. */
  #last = { step: 0, attempt: 0 };

  constructor(log: TurnLog, settings: TurnSettings, stop: AbortSignal) {
    this.#log = log;
    this.#settings = settings;
    this.#stop = stop;
    this.#calls = new CallPool(settings.timers);
  }

  /** Something outside has changed the log (an interrupt, a decision): look again. */
  poke(): void {
    this.#calls.poke();
  }

  /** Lets go of the turn without ending it: nothing is written any more. */
  release(): void {
    this.#released = true;
    this.#calls.poke();
  }

  /** @throws LightAgentError `log_write_failed` when a commit failed; the turn is then as the log says */
  async run(): Promise<TurnOutcome> {
    const { open, head } = this.#log.fold;
    this.#gate = await this.#settings.gate();
    if (open?.firstSeq === head) this.#log.emit({ type: "turn_start", turn: open.turn, step: 0 });
    if (this.#settings.wakes > 0) this.#withdrawLost();
    for (;;) {
      if (this.#released) return "released";
      const action = this.#next();
      switch (action.type) {
        case "rest":
        case "open_turn":
          return "ended";
        case "await_person":
          return "waiting";
        case "call_model": {
          const parked = await this.#callModel(action.step);
          if (parked) return parked;
          break;
        }
        case "compact":
          await this.#compact(action.step, { kind: "auto" });
          break;
        case "finish_calls":
          await this.#finishCalls(action.calls, action.rerun);
          break;
        case "take_prompts":
        case "refuse_calls":
        case "decide_calls":
        case "close_requests":
        case "start_calls":
        case "answer_calls":
        case "fail":
        case "end":
          await this.#commit([]);
          break;
      }
    }
  }

  /** Sockets can outlive the process that streamed to them: what it had shown of a reply is not in the log. */
  #withdrawLost(): void {
    const { open } = this.#log.fold;
    if (!open || open.calls.some(({ done }) => !done)) return;
    const step = open.reply === null ? Math.max(open.step, 1) : open.step + 1;
    const attempt = this.#settings.wakes * ATTEMPTS_PER_WAKE;
    this.#log.emit({ type: "attempt_reset", turn: open.turn, step, attempt, reason: "incomplete_stream" });
  }

  get #actionSettings(): ActionSettings & FactSettings {
    const { maxSteps, budget, compaction, limits, stalls, tools, clock, remembered, redact } = this.#settings;
    return {
      waiting: this.#log.waiting,
      maxSteps,
      budget: budget(),
      compactAt: this.#uncut === this.#log.fold.head ? null : (compaction?.at ?? null),
      stalls,
      parallelCalls: limits.parallelCalls,
      maxStalls: limits.wakesWithoutProgress,
      gate: this.#gate,
      remembered: remembered(),
      now: clock(),
      requestMs: limits.requestMs,
      tool: (name) => tools.get(name),
      digestOf: ({ id }) => this.#digests.get(id) ?? "",
      redact,
    };
  }

  #next(): Action {
    return nextAction(this.#log.fold, this.#actionSettings);
  }

  #place(): { turn: number; step: number } {
    const { turn, step } = this.#log.fold;
    return { turn, step };
  }

  /** Commits some events with all that follows from them, then begins the calls that the commit started. */
  async #commit(bodies: readonly DurableBody[], live: readonly LiveEvent[] = []): Promise<void> {
    if (this.#gate) await this.#prepareDigests(bodies);
    if (this.#released) return;
    const before = this.#log.fold;
    const all = withConsequences(before, bodies, this.#actionSettings);
    if (all.length === 0) return;
    await this.#log.commit(all, { live: [...live, ...stepEnd(before, all)] });
    for (const body of all) {
      if (body.type !== "tool_call_start") continue;
      const state = this.#log.fold.open?.calls.find(({ call }) => call.id === body.callId);
      const runs = state && state.question === null;
      if (runs) this.#calls.track(state.call, this.#execute(state.call));
    }
  }

  /** Hashing is asynchronous and a commit is composed at once, so the digests come first. */
  async #prepareDigests(bodies: readonly DurableBody[]): Promise<void> {
    const asked = bodies.flatMap((body) => (body.type === "tool_calls" ? body.calls : []));
    const open = this.#log.fold.open?.calls.map(({ call }) => call) ?? [];
    for (const call of [...open, ...asked]) {
      if (!this.#digests.has(call.id)) this.#digests.set(call.id, await this.#settings.digest(call.args));
    }
  }

  #drainCustoms(): void {
    for (const event of this.#customs.splice(0)) this.#log.emit(event);
  }

  /** Calls the model and commits what came of it, unless the provider asks for a long wait. */
  async #callModel(step: number): Promise<{ readonly retryAt: number } | null> {
    // Nothing would come of it but the same choice again, for ever.
    if (this.#stop.aborted) throw new TypeError("A turn that is stopped asks no model.");
    const { turn } = this.#log.fold;
    const isAgain = this.#last.step === step;
    if (!isAgain) this.#log.emit({ type: "step_start", turn, step });
    let modelStep: ModelStep;
    let request: ModelRequest;
    let provider: ModelProvider;
    try {
      provider = this.#settings.provider();
      modelStep = new ModelStep({ turn, step }, provider.id, this.#settings.prices);
      request = await this.#request(provider.id, step, isAgain);
      modelStep.asks(request);
    } catch (caught) {
      // A turn that was stopped meanwhile ends by its interrupt, not by what that has cut short.
      if (!this.#stop.aborted) await this.#commit([this.#failure(caught)]);
      return null;
    }
    const { limits, clock, timers, random, wakes, pace } = this.#settings;
    const stream = callModel({
      provider: this.#wrapped(provider, step),
      request,
      signal: this.#stop,
      pace,
      firstAttempt: isAgain ? this.#last.attempt + 1 : wakes * ATTEMPTS_PER_WAKE + 1,
      limits,
      clock,
      timers,
      random,
    });
    for await (const item of stream) {
      this.#last = { step, attempt: item.attempt };
      for (const event of modelStep.next(item)) this.#log.emit(event);
      if (this.#released) return null;
    }
    this.#drainCustoms();
    if (modelStep.overflowed && this.#log.fold.open?.overflowed === false) {
      const made = await this.#compact(step, { kind: "overflow", servedTokens: modelStep.servedTokens });
      // A turn that was stopped meanwhile ends by its interrupt.
      if (made || this.#stop.aborted) return null;
    }
    const retryAt = wakes < limits.modelTries ? modelStep.retryAt(limits.retryAfterParkedMs) : null;
    if (retryAt !== null) {
      for (const event of modelStep.withdrawn()) this.#log.emit(event);
      return { retryAt };
    }
    await this.#commit(modelStep.bodies(), modelStep.repeats());
    return null;
  }

  /** Summarises what can be; false when nothing can, or the turn was stopped meanwhile. */
  async #compact(step: number, reason: CompactionReason & { kind: "auto" | "overflow" }): Promise<boolean> {
    const { kind } = reason;
    const { head, turn, windowTokens, addedTokens } = this.#log.fold;
    const { compaction, limits, clock, timers, random, pace, prices } = this.#settings;
    const plan = await compaction?.plan(reason);
    if (!plan) {
      this.#uncut = head;
      return false;
    }
    const place = { turn, step };
    const before = windowTokens + addedTokens;
    this.#log.emit({ type: "compaction", ...place, kind, phase: "start", before, after: before });
    const model = this.#settings.provider();
    const provider = this.#wrapped(model, step);
    const options = { provider, signal: this.#stop, limits, clock, timers, random, pace };
    const outcome = await askSummariser(plan, options);
    if (outcome.type === "aborted" || this.#stop.aborted || this.#released) return false;
    const { servedTokens: tokens } = reason;
    const served = tokens === undefined ? {} : { served: { model: model.id, tokens } };
    const summary = { ...summaryOf(plan, { kind, before, prices }, outcome), ...served };
    await this.#commit([{ type: "agent_summary", ...place, ...summary }]);
    this.#log.emit({ type: "compaction", ...place, kind, phase: "done", before, after: summary.after });
    return true;
  }

  async #request(model: string, step: number, isAgain: boolean): Promise<ModelRequest> {
    const { system, messages, management = null } = await this.#settings.context();
    const { fold } = this.#log;
    const status = contextStatus(management, fold, step, isAgain && fold.open?.overflowed === true);
    if (status) this.#log.emit(status);
    const request = { system, messages, tools: this.#settings.tools.getTools() };
    try {
      const context = { ...this.#hookContext(step, this.#stop), model };
      const { hooks, limits, timers } = this.#settings;
      const answer = hooks.beforeModel?.(request, context);
      return (await boundedHook(answer, { stop: this.#stop, ms: limits.hookMs, timers })) ?? request;
    } catch (caught) {
      throw new HookFailure("beforeModel", caught);
    } finally {
      this.#drainCustoms();
    }
  }

  #wrapped(provider: ModelProvider, step: number): ModelProvider {
    return wrapProvider(provider, this.#settings.middleware, (signal) => this.#hookContext(step, signal));
  }

  #hookContext(step: number, signal: AbortSignal): HookContext {
    const { turn } = this.#log.fold;
    const emit = (name: string, data: unknown): void => {
      this.#customs.push({ type: "custom", turn, step, name, data: data ?? null });
    };
    return { turn, step, signal, emit };
  }

  #failure(caught: unknown): DurableBody {
    const known = isLightAgentError(caught) ? { code: caught.code, message: caught.message } : null;
    const internal = { code: "internal", message: "An internal error occurred." };
    const hook = caught instanceof HookFailure ? { code: "hook_failed", message: caught.message } : null;
    return { type: "error", ...this.#place(), ...(hook ?? known ?? internal), fatal: true };
  }

  async #execute(call: ToolCall): Promise<SettledCall> {
    const place = { ...this.#place(), stop: this.#stop };
    const hookContext = (signal: AbortSignal): HookContext => this.#hookContext(place.step, signal);
    return runCall(call, place, hookContext, this.#settings, (late) => {
      const { turn, step } = place;
      const message = `A result of ${late.name} came after the call was settled and was dropped.`;
      const about = { level: "warning", code: "late_result", message, data: { callId: late.id } } as const;
      this.#log.emit({ type: "diagnostic", turn, step, ...about });
    });
  }

  /** Settles what a dead process left behind, then waits for a call to end and commits all results that there are. */
  async #finishCalls(calls: readonly CallState[], rerun: boolean): Promise<void> {
    const orphan = calls.find((state) => !this.#calls.owns(state.call.id));
    if (orphan) return this.#recover(orphan, rerun);
    const settled = await this.#calls.take();
    if (settled.length === 0 || this.#released) return;
    this.#drainCustoms();
    const place = this.#place();
    for (const { call, result, durationMs } of settled) {
      const isError = result.isError ?? false;
      this.#log.emit({
        type: "tool_call_end",
        ...place,
        callId: call.id,
        name: call.name,
        durationMs,
        isError,
      });
    }
    await this.#commit(settled.map((one) => resultBody(one, place)));
  }

  /** A call that had begun when its process died: look its effect up, run it again if that is safe, or say unknown. */
  async #recover(state: CallState, rerun: boolean): Promise<void> {
    const { call } = state;
    const place = this.#place();
    const settings = this.#settings;
    const { outcome, result } = await recoverCall(call, { ...place, stop: this.#stop }, rerun, settings);
    const said: DurableBody = { type: "tool_recovered", ...place, callId: call.id, name: call.name, outcome };
    const recovered = state.recovered ? [] : [said];
    if (result) return this.#commit([...recovered, resultBody({ call, result, durationMs: 0 }, place)]);
    await this.#commit(recovered);
    if (!this.#released) this.#calls.track(call, this.#execute(call));
  }
}

function resultBody(
  { call, result, durationMs }: SettledCall,
  place: { turn: number; step: number },
): DurableBody {
  const { content, isError = false, code, artifact, workspaceVersion } = result;
  return {
    type: "tool_result",
    turn: place.turn,
    step: place.step,
    callId: call.id,
    name: call.name,
    content,
    isError,
    ...(code === undefined ? {} : { code }),
    durationMs,
    ...(artifact === undefined ? {} : { artifact }),
    ...(workspaceVersion === undefined ? {} : { workspaceVersion }),
  };
}

/** A hook that threw: its message is its author's, who may have put anything into it, so it is not repeated. */
class HookFailure extends Error {
  constructor(hook: string, cause: unknown) {
    super(`The hook ${hook} failed.`, { cause });
  }
}
