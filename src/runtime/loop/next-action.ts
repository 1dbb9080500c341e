import { isModelErrorCode } from "../model/model-error.ts";
import type { DurablePayload } from "../protocol/durable-events.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { Principal } from "../protocol/principal.ts";
import { SYSTEM } from "../protocol/principal.ts";
import type { CallState, SessionFold, TurnState } from "../protocol/session-fold.ts";
import { nextPrompt } from "../protocol/waiting-prompt.ts";
import type { WaitingPrompt } from "../protocol/waiting-prompt.ts";
import { OPEN_GATE, decideCall } from "./call-gate.ts";
import type { GateDecision, PermissionGate } from "./call-gate.ts";
import { overBudget } from "./turn-budget.ts";
import type { TurnBudget } from "./turn-budget.ts";

type Stop = DurablePayload<"agent_stop">;

/** What the loop does next. */
export type Action =
  /** No turn is open and nothing waits. */
  | { type: "rest" }
  | { type: "open_turn"; prompt: WaitingPrompt }
  /** Waiting prompts enter the running turn, before the model call of `step`. */
  | { type: "take_prompts"; step: number; prompts: readonly WaitingPrompt[] }
  | { type: "call_model"; step: number }
  /** A summary takes the place of an earlier part of the conversation, before the model call of `step`. */
  | { type: "compact"; step: number }
  /** These calls never begin; each gets its result at once. */
  | { type: "refuse_calls"; refusals: readonly Refusal[] }
  /** Policy has its say on these calls. */
  | { type: "decide_calls"; decisions: readonly GateDecision[] }
  /** Nobody will answer these any more: they expired, or their turn was stopped. */
  | { type: "close_requests"; calls: readonly CallState[]; decision: "expired" | "cancelled"; by: Principal }
  | { type: "start_calls"; calls: readonly CallState[] }
  /** Questions of these calls have been answered, or will not be: that is their result. */
  | { type: "answer_calls"; calls: readonly CallState[] }
  /** Calls have begun: wait for one, or settle what a dead process left behind; `rerun` says that one may run again. */
  | { type: "finish_calls"; calls: readonly CallState[]; rerun: boolean }
  /** Only a person's answer can move the turn. */
  | { type: "await_person" }
  | { type: "fail"; code: ErrorCode; message: string }
  | { type: "end"; reason: Exclude<Stop["reason"], "error">; cause: Stop["cause"]; message?: string }
  | { type: "end"; reason: "error"; cause: "model" | "runtime"; message: string };

export interface Refusal {
  readonly call: CallState["call"];
  readonly code: ErrorCode;
  readonly content: string;
}

/** How a tool may run. */
export interface ToolTraits {
  readonly parallel: boolean;
  /** For a tool that asks a person: what is wrong with the arguments, or null. Undefined for every other tool. */
  readonly checkQuestion?: (args: Readonly<Record<string, unknown>>) => string | null;
}

/** What decides beside the log: the durable queue, the settings that the session pinned, and the time. */
export interface ActionSettings {
  readonly waiting: readonly WaitingPrompt[];
  readonly maxSteps: number;
  readonly parallelCalls: number;
  readonly budget: TurnBudget;
  /** Tokens of the model's input beyond which it is summarised; null for never. */
  readonly compactAt: number | null;
  /** Wakes that found the turn without progress, and how many are too many. */
  readonly stalls: number;
  readonly maxStalls: number;
  /** Null where every call may run. */
  readonly gate: PermissionGate | null;
  /** What a person has allowed for the whole session; see `rememberedAs`. */
  readonly remembered: ReadonlySet<string>;
  /** ms since the epoch; decides only whether a request has expired. */
  readonly now: number;
  /** How long a question stays open, in ms. */
  readonly requestMs: number;
  /** Undefined for a tool that the agent does not have. */
  tool(name: string): ToolTraits | undefined;
}

/** Replies in a row that the length limit cut in the middle of their calls, before the turn gives up. */
const MAX_TRUNCATIONS = 3;

/**
 * The only place that decides what happens in a session, on the first run and after a crash alike. Pure and total:
 * it answers for every state that a log can fold to.
 */
export function nextAction(state: SessionFold, settings: ActionSettings): Action {
  const turn = state.open;
  if (!turn) {
    const prompt = nextPrompt(settings.waiting);
    return prompt ? { type: "open_turn", prompt } : { type: "rest" };
  }
  const unfinished = turn.calls.filter((call) => !call.done);
  if (turn.failure || turn.interrupt) return settleThenStop(turn, unfinished);
  if (settings.stalls >= settings.maxStalls) {
    const message = `The turn was restarted ${settings.stalls} times without progress.`;
    return settle(unfinished, SYSTEM) ?? { type: "fail", code: "crash_loop", message };
  }
  if (unfinished.length > 0) return workOnCalls(turn, unfinished, settings);
  return afterCalls(state, turn, settings);
}

function settleThenStop(turn: TurnState, unfinished: readonly CallState[]): Action {
  const settling = settle(unfinished, turn.interrupt?.by ?? SYSTEM);
  if (settling) return settling;
  if (turn.failure) {
    const cause = isModelErrorCode(turn.failure.code) ? "model" : "runtime";
    return { type: "end", reason: "error", cause, message: turn.failure.message };
  }
  const message = turn.interrupt?.reason;
  return { type: "end", reason: "aborted", cause: "user", ...(message === undefined ? {} : { message }) };
}

/** A turn that stops: requests are closed, calls that never began refused, the others get what is known of them. */
function settle(unfinished: readonly CallState[], by: Principal): Action | null {
  if (unfinished.length === 0) return null;
  const asking = unfinished.filter(isAsking);
  if (asking.length > 0) return { type: "close_requests", calls: asking, decision: "cancelled", by };
  const never = unfinished.filter((call) => !call.started);
  if (never.length > 0) {
    const content = "Not executed: the turn was stopped before the call began.";
    return {
      type: "refuse_calls",
      refusals: never.map(({ call }) => ({ call, code: "not_executed", content })),
    };
  }
  const answered = unfinished.filter(({ question }) => question !== null);
  if (answered.length > 0) return { type: "answer_calls", calls: answered };
  return { type: "finish_calls", calls: unfinished, rerun: false };
}

function workOnCalls(turn: TurnState, unfinished: readonly CallState[], settings: ActionSettings): Action {
  const refusals = unfinished.flatMap((call) => refusalOf(turn, call, settings) ?? []);
  if (refusals.length > 0) return { type: "refuse_calls", refusals };
  const expired = unfinished.filter(
    (call) => isAsking(call) && expiryOf(call, settings.requestMs) <= settings.now,
  );
  if (expired.length > 0) return { type: "close_requests", calls: expired, decision: "expired", by: SYSTEM };
  const decisions = decisionsOn(unfinished, settings);
  if (decisions.length > 0) return { type: "decide_calls", decisions };
  const answered = unfinished.filter(({ question }) => question !== null && !question.open);
  if (answered.length > 0) return { type: "answer_calls", calls: answered };
  const running = unfinished.filter((call) => call.started && !isAsking(call));
  const calls = startable(unfinished, running, settings);
  if (calls.length > 0) return { type: "start_calls", calls };
  return running.length > 0
    ? { type: "finish_calls", calls: running, rerun: true }
    : { type: "await_person" };
}

/** Whether a person is asked for something that the call waits for. */
export function isAsking({ approval, question }: CallState): boolean {
  return approval?.open === true || question?.open === true;
}

/** When an open request is no longer worth waiting for, in ms since the epoch. */
export function expiryOf({ approval, question }: CallState, requestMs: number): number {
  if (approval?.open) return approval.expiresAt;
  return question?.open ? question.askedAt + requestMs : Number.POSITIVE_INFINITY;
}

function decisionsOn(unfinished: readonly CallState[], { gate, remembered }: ActionSettings): GateDecision[] {
  const undecided = unfinished.filter((call) => !call.started && call.decision === null && !isAsking(call));
  // What a person was asked and answered counts, even when the policy that asked is gone.
  const gated = undecided.filter(({ approval }) => gate !== null || approval !== null);
  return gated.map((call) => decideCall(call, gate ?? OPEN_GATE, remembered));
}

function refusalOf(turn: TurnState, state: CallState, settings: ActionSettings): Refusal | null {
  const { call, approval } = state;
  // A call that a person is asked about is answered first: its request must not stay open behind its result.
  if (state.started || isAsking(state)) return null;
  if (turn.reply === "length" || turn.reply === "content_filter") {
    const content = "Not executed: the reply was cut before it was complete. Split the work and call again.";
    return { call, code: "truncated", content };
  }
  if (call.malformed !== undefined) {
    const content = `Not executed: the arguments are not a complete JSON object, or are too large. Call ${call.name} again with valid arguments.`;
    return { call, code: "malformed_arguments", content };
  }
  const tool = settings.tool(call.name);
  if (!tool) {
    const content = `There is no tool "${call.name}". Use one of the tools you were given.`;
    return { call, code: "unknown_tool", content };
  }
  const wrong = tool.checkQuestion?.(call.args) ?? null;
  if (wrong !== null) return { call, code: "invalid_arguments", content: wrong };
  if (state.decision !== "deny") return null;
  const why = approval?.decision === "expired" ? "nobody answered in time" : "it was denied";
  return { call, code: "denied", content: `Not executed: ${why}.` };
}

/** Calls that may begin now: in call order, as many as there is room for; one that runs alone runs alone. */
function startable(
  unfinished: readonly CallState[],
  running: readonly CallState[],
  settings: ActionSettings,
): CallState[] {
  const alone = (state: CallState): boolean => settings.tool(state.call.name)?.parallel === false;
  if (running.some(alone)) return [];
  const calls: CallState[] = [];
  for (const state of unfinished) {
    if (state.started || isAsking(state)) continue;
    const busy = running.length + calls.length;
    if (busy >= settings.parallelCalls) break;
    if (alone(state)) {
      if (busy === 0) calls.push(state);
      break;
    }
    calls.push(state);
  }
  return calls;
}

/** The step is complete, or the turn has only begun: call the model, or end. */
function afterCalls(state: SessionFold, turn: TurnState, settings: ActionSettings): Action {
  const { waiting, maxSteps, budget } = settings;
  const replied = turn.reply !== null;
  const answered = replied && turn.calls.length === 0;
  if (turn.reply === "content_filter") {
    return { type: "fail", code: "content_filter", message: "The provider withheld the reply." };
  }
  if (turn.truncations >= MAX_TRUNCATIONS) {
    const message = `The model's replies were cut by their length limit ${turn.truncations} times in a row.`;
    return { type: "fail", code: "truncated", message };
  }
  const entering = waiting.filter(({ mode }) => mode === "steer" || (mode === "follow_up" && answered));
  // A steer that missed the last call opens a turn of its own, unless a follow-up keeps this one open anyway.
  const goesOn = !answered || entering.some(({ mode }) => mode === "follow_up");
  if (!goesOn) return { type: "end", reason: "stop", cause: "model" };
  const step = replied ? turn.step + 1 : Math.max(turn.step, 1);
  if (step > maxSteps) {
    if (answered) return { type: "end", reason: "stop", cause: "model" };
    return {
      type: "end",
      reason: "max_steps",
      cause: "policy",
      message: `The turn reached ${maxSteps} steps.`,
    };
  }
  const spent = budgetStop(state, turn, budget);
  if (spent) return answered ? { type: "end", reason: "stop", cause: "model" } : spent;
  if (entering.length > 0) return { type: "take_prompts", step, prompts: entering };
  return isFull(state, settings) ? { type: "compact", step } : { type: "call_model", step };
}

/** Whether the conversation has to become smaller first. Not again before the model has answered: it would gain nothing. */
function isFull(
  { windowTokens, addedTokens, summarised }: SessionFold,
  { compactAt }: ActionSettings,
): boolean {
  return compactAt !== null && !summarised && windowTokens + addedTokens > compactAt;
}

/** A call is expected to take what the last one took: its conversation and a little more. */
function budgetStop(state: SessionFold, turn: TurnState, budget: TurnBudget): Action | null {
  const spent = {
    turn: turn.usage.input + turn.usage.output,
    session: state.usage.input + state.usage.output,
  };
  const message = overBudget(budget, spent, state.windowTokens);
  return message === null ? null : { type: "end", reason: "budget", cause: "policy", message };
}
