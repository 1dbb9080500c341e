import type { DurableEvent, DurablePayload, ToolCall } from "./durable-events.ts";
import type { Principal } from "./principal.ts";
import { memoriesText } from "./recalled-memory.ts";
import { estimateTokens } from "./token-estimate.ts";
import { NO_USAGE, addUsage } from "./usage.ts";
import type { Usage } from "./usage.ts";

/** One call of the current step's reply, and how far it has come. */
export interface CallState {
  readonly call: ToolCall;
  /** What policy or a person said, once somebody had to say something. */
  readonly decision: "allow" | "deny" | null;
  /** An approval that was asked for. */
  readonly approval: ApprovalState | null;
  /** A question that the call asked a person. */
  readonly question: QuestionState | null;
  readonly started: boolean;
  readonly recovered: boolean;
  readonly done: boolean;
}

/** An approval; `open` while nobody has answered and it has not expired. */
export interface ApprovalState {
  readonly id: string;
  readonly open: boolean;
  readonly decision: DurablePayload<"approval_resolved">["decision"] | null;
  readonly digest: string;
  /** ms since the epoch. */
  readonly expiresAt: number;
}

/** A question; `open` while nobody has answered. A cancelled one is closed without an answer. */
export interface QuestionState {
  readonly id: string;
  readonly open: boolean;
  readonly answer: DurablePayload<"input_resolved">["answer"] | null;
  /** ms since the epoch. */
  readonly askedAt: number;
}

/** The turn that is open: everything that decides what happens next. */
export interface TurnState {
  readonly turn: number;
  readonly firstSeq: number;
  readonly promptIds: readonly string[];
  /** Who prompted the turn. */
  readonly by: Principal;
  readonly step: number;
  /** How the current step's reply ended; null before it came. */
  readonly reply: DurablePayload<"agent_trace">["finishReason"] | null;
  readonly calls: readonly CallState[];
  /** Replies in a row that asked for calls and were cut by their length limit. */
  readonly truncations: number;
  /** Whether the conversation did not fit the model's window and was summarised for that: done once in a turn. */
  readonly overflowed: boolean;
  readonly interrupt: { readonly by: Principal; readonly reason: string | undefined } | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly usage: Usage;
  /** The last event that counts as progress (a reply, a result, a resolved request); the turn's start before any. */
  readonly progressSeq: number;
}

/** The fold of a log that everything else derives from. */
export interface SessionFold {
  readonly head: number;
  /** When the head was written; 0 for an empty log. */
  readonly at: number;
  readonly turn: number;
  readonly step: number;
  readonly open: TurnState | null;
  readonly usage: Usage;
  /** Tokens of the last model call, input and output together: the size of the context window in use. */
  readonly windowTokens: number;
  /** About how many tokens have come on top of it since. */
  readonly addedTokens: number;
  /** Whether the model has not answered since the last summary: another one would gain nothing. */
  readonly summarised: boolean;
  /** Tokens of the windows of models that turned out to serve less than was thought. */
  readonly servedWindows: Readonly<Record<string, number>>;
  /** The `throughSeq` of the summary in force; 0 without one. */
  readonly summarisedThrough: number;
  /** What `summarisedThrough` became, and at which `seq`: a restore goes back to what it was at its `toSeq`. */
  readonly summaries: readonly { readonly seq: number; readonly throughSeq: number }[];
  /** The reason of the last `agent_stop`. */
  readonly lastStop: DurablePayload<"agent_stop">["reason"] | null;
}

export const EMPTY_FOLD: SessionFold = {
  head: 0,
  at: 0,
  turn: 0,
  step: 0,
  open: null,
  usage: NO_USAGE,
  windowTokens: 0,
  addedTokens: 0,
  summarised: false,
  servedWindows: {},
  summarisedThrough: 0,
  summaries: [],
  lastStop: null,
};

/** Folds events on top of a state. Never throws on any events that could have been stored, at any prefix. */
export function foldSession(events: Iterable<DurableEvent>, from: SessionFold = EMPTY_FOLD): SessionFold {
  let state = from;
  for (const event of events) state = applyEvent(state, event);
  return state;
}

/** One event on top of a state. Unknown types move the head and nothing else: newer code may have written them. */
export function applyEvent(state: SessionFold, event: DurableEvent): SessionFold {
  const next = withSummary({ ...state, head: event.seq, at: event.at }, event);
  if (event.agentId !== undefined) return next;
  const sized = withSize(next, event);
  if (event.type === "input") {
    return { ...sized, turn: event.turn, step: 0, open: openTurn(event) };
  }
  if (event.type === "agent_stop") return { ...sized, open: null, lastStop: event.reason };
  const open = sized.open ? applyToTurn(sized.open, event) : null;
  return { ...sized, open, step: open ? open.step : sized.step };
}

/** What the model's input has grown to, and what was used. */
function withSize(state: SessionFold, event: DurableEvent): SessionFold {
  switch (event.type) {
    case "input":
    case "steer": {
      const memories = event.type === "input" && event.memories ? memoriesText(event.memories) : "";
      const said = event.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return grown(state, memories + said);
    }
    case "tool_result":
    case "background_completed":
      return grown(state, event.content);
    case "agent_trace": {
      const tokens = event.usage.input + event.usage.output;
      const usage = addUsage(state.usage, event.usage);
      // A provider that does not count leaves the last count, with what came on top of it.
      if (tokens === 0) return { ...state, usage, summarised: false };
      return { ...state, usage, windowTokens: tokens, addedTokens: 0, summarised: false };
    }
    case "agent_summary": {
      const usage = event.usage ? addUsage(state.usage, event.usage) : state.usage;
      const { servedWindows } = state;
      const served = event.served
        ? { ...servedWindows, [event.served.model]: event.served.tokens }
        : servedWindows;
      const summarised = { windowTokens: event.after, addedTokens: 0, summarised: true };
      return { ...state, usage, ...summarised, servedWindows: served };
    }
    case "checkpoint_restore":
      // How large the conversation was then is not known before the model has answered again.
      return event.conversation ? { ...state, windowTokens: 0, addedTokens: 0, summarised: false } : state;
    default:
      return state;
  }
}

function grown(state: SessionFold, text: string): SessionFold {
  return { ...state, addedTokens: state.addedTokens + estimateTokens(text) };
}

/** The summary in force after an event: a new one, or after a restore the one that was in force at that point. */
function withSummary(state: SessionFold, event: DurableEvent): SessionFold {
  if (event.agentId !== undefined) return state;
  let throughSeq = state.summarisedThrough;
  if (event.type === "agent_summary") throughSeq = event.throughSeq;
  if (event.type === "checkpoint_restore" && event.conversation) {
    throughSeq = state.summaries.findLast(({ seq }) => seq <= event.toSeq)?.throughSeq ?? 0;
  }
  if (throughSeq === state.summarisedThrough) return state;
  const summaries = [...state.summaries, { seq: event.seq, throughSeq }];
  return { ...state, summarisedThrough: throughSeq, summaries };
}

function openTurn(event: DurableEvent<"input">): TurnState {
  return {
    turn: event.turn,
    firstSeq: event.seq,
    promptIds: [event.promptId],
    by: event.by,
    step: 0,
    reply: null,
    calls: [],
    truncations: 0,
    overflowed: false,
    interrupt: null,
    failure: null,
    usage: NO_USAGE,
    progressSeq: event.seq,
  };
}

function applyToTurn(turn: TurnState, event: DurableEvent): TurnState {
  // The first event of a higher step closes the one before.
  const at: TurnState = event.step > turn.step ? { ...turn, step: event.step, reply: null, calls: [] } : turn;
  switch (event.type) {
    case "steer":
      return { ...at, promptIds: [...at.promptIds, event.promptId] };
    case "interrupt":
      return { ...at, interrupt: { by: event.by, reason: event.reason } };
    case "error":
      return { ...at, failure: { code: event.code, message: event.message } };
    case "tool_calls":
      return { ...at, calls: event.calls.map(newCall) };
    case "agent_trace":
      return {
        ...at,
        reply: event.finishReason,
        truncations: event.finishReason === "length" && at.calls.length > 0 ? at.truncations + 1 : 0,
        usage: addUsage(at.usage, event.usage),
        progressSeq: event.seq,
      };
    case "approval_request":
      return changeCall(at, event.callId, { approval: openApproval(event) });
    case "approval_resolved":
      return { ...resolveApproval(at, event), progressSeq: event.seq };
    case "permission_decision":
      return changeCall(at, event.callId, { decision: event.decision });
    case "input_request":
      return changeCall(at, event.callId, {
        question: { id: event.inputId, open: true, answer: null, askedAt: event.at },
      });
    case "input_resolved":
      return { ...resolveQuestion(at, event), progressSeq: event.seq };
    case "tool_call_start":
      return changeCall(at, event.callId, { started: true });
    case "tool_recovered":
      return changeCall(at, event.callId, { recovered: true });
    case "tool_result":
      return { ...changeCall(at, event.callId, { done: true }), progressSeq: event.seq };
    case "agent_summary": {
      const usage = event.usage ? addUsage(at.usage, event.usage) : at.usage;
      return { ...at, usage, overflowed: at.overflowed || event.kind === "overflow" };
    }
    case "background_completed":
    case "thought":
    case "output":
      return at;
    default:
      // A type that this code does not know must not look like the start of a step.
      return turn;
  }
}

function openApproval(event: DurableEvent<"approval_request">): ApprovalState {
  const { approvalId, digest, expiresAt } = event;
  return { id: approvalId, open: true, decision: null, digest, expiresAt };
}

function resolveQuestion(turn: TurnState, event: DurableEvent<"input_resolved">): TurnState {
  const asked = turn.calls.find(({ call }) => call.id === event.callId)?.question;
  const { inputId: id, answer = null } = event;
  return changeCall(turn, event.callId, {
    question: { id, open: false, answer, askedAt: asked?.askedAt ?? event.at },
  });
}

function newCall(call: ToolCall): CallState {
  return {
    call,
    decision: null,
    approval: null,
    question: null,
    started: false,
    recovered: false,
    done: false,
  };
}

function changeCall(turn: TurnState, callId: string, change: Partial<CallState>): TurnState {
  const calls = turn.calls.map((state) => (state.call.id === callId ? { ...state, ...change } : state));
  return { ...turn, calls };
}

function resolveApproval(turn: TurnState, event: DurableEvent<"approval_resolved">): TurnState {
  const asked = turn.calls.find(({ call }) => call.id === event.callId)?.approval;
  const { approvalId: id, decision, digest, args } = event;
  const approval = { id, open: false, decision, digest, expiresAt: asked?.expiresAt ?? event.at };
  const closed = changeCall(turn, event.callId, { approval });
  if (args === undefined) return closed;
  // A person replaced the arguments: exactly these run.
  const calls = closed.calls.map((state) =>
    state.call.id === event.callId ? { ...state, call: { ...state.call, args } } : state,
  );
  return { ...closed, calls };
}

/** Whether an open turn can only go on when a person answers: nothing else is left to do in it. */
export function waitsForPerson(turn: TurnState): boolean {
  const unfinished = turn.calls.filter((state) => !state.done);
  const asked = (state: CallState): boolean => state.approval?.open === true || state.question?.open === true;
  return unfinished.length > 0 && turn.interrupt === null && turn.failure === null && unfinished.every(asked);
}
