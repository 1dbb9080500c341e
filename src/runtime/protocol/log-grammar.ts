import { advanceCall, newProgress } from "./call-grammar.ts";
import type { CallEvent, CallProgress } from "./call-grammar.ts";
import { durablePayloads } from "./durable-events.ts";
import type { DurableEvent } from "./durable-events.ts";

/** A place where a log or a stream breaks the grammar. `at` is the event's position in what was checked. */
export interface Violation {
  at: number;
  message: string;
}

interface OpenTurn {
  turn: number;
  step: number;
  /** Where in the step: before its reply, inside it, or after it. */
  phase: "before" | "reply" | "after";
  lastBlock: number;
  /** The attempt that the open reply's events bear; null while none has said. */
  replyAttempt: number | null;
  /** Whether a text of the open reply says that it was cut. */
  replyInterrupted: boolean;
  calls: Map<string, CallProgress>;
  interrupted: boolean;
  /** A fatal error was written: only the stop may follow. */
  failed: boolean;
  /** The last reply was cut, or nothing was running when the turn was stopped: no step may follow. */
  closed: boolean;
  promptIds: string[];
}

/** What begins something new, and so has no place in a turn that is being stopped. */
const NOT_AFTER_INTERRUPT: ReadonlySet<string> = new Set<DurableEvent["type"]>([
  "steer",
  "background_completed",
  "agent_summary",
  "approval_request",
  "input_request",
  "tool_call_start",
]);

const BETWEEN_TURNS: ReadonlySet<string> = new Set<DurableEvent["type"]>([
  "prompt_dropped",
  "agent_summary",
  "checkpoint_restore",
]);

const REPLY: ReadonlySet<string> = new Set<DurableEvent["type"]>([
  "thought",
  "output",
  "tool_calls",
  "agent_trace",
]);

/**
 * Checks a log, from its first event to any prefix of it, against the grammar of docs/protocol.md.
 * Returns every violation; an empty list means that the log is well formed. Events of other agents and of unknown
 * types take part in the numbering and in nothing else.
 */
export function checkLog(events: readonly DurableEvent[]): Violation[] {
  const checker = new LogChecker();
  events.forEach((event, at) => checker.next(event, at));
  return checker.violations;
}

class LogChecker {
  readonly violations: Violation[] = [];
  #seq = 0;
  #turns = 0;
  #open: OpenTurn | null = null;
  #at = 0;
  readonly #callIds = new Set<string>();
  readonly #prompts = new Set<string>();
  /** What a conversation can be restored to: the beginning, or the end of a turn. */
  readonly #checkpoints = new Set<number>([0]);
  /** Where a summary may end: not inside a reply, not between a call and its result. */
  readonly #cuts = new Set<number>();

  next(event: DurableEvent, at: number): void {
    this.#at = at;
    this.#expect(event.seq === this.#seq + 1, `seq ${event.seq} follows ${this.#seq}`);
    this.#seq = event.seq;
    if (event.agentId === undefined && event.type in durablePayloads) this.#own(event);
    if (!this.#open || (this.#open.phase !== "reply" && unsettled(this.#open).length === 0)) {
      this.#cuts.add(event.seq);
    }
  }

  #expect(holds: boolean, message: string): void {
    if (!holds) this.violations.push({ at: this.#at, message });
  }

  #own(event: DurableEvent): void {
    if (event.type === "input" || event.type === "steer" || event.type === "prompt_dropped") {
      this.#expect(!this.#prompts.has(event.promptId), `prompt ${event.promptId} comes twice`);
      this.#prompts.add(event.promptId);
    }
    if (event.type === "agent_summary") this.#summary(event);
    if (this.#open) this.#inTurn(this.#open, event);
    else this.#betweenTurns(event);
  }

  #summary(event: DurableEvent<"agent_summary">): void {
    const { fromSeq, throughSeq } = event;
    const ordered = fromSeq <= throughSeq && throughSeq < event.seq;
    this.#expect(ordered, `summary of ${fromSeq} to ${throughSeq} at seq ${event.seq}`);
    if (ordered) this.#expect(this.#cuts.has(throughSeq), `summary cuts a reply or a call at ${throughSeq}`);
  }

  #betweenTurns(event: DurableEvent): void {
    if (event.type === "input") return this.#openTurn(event);
    this.#expect(BETWEEN_TURNS.has(event.type), `${event.type} between turns`);
    this.#expect(event.turn === this.#turns, `${event.type} of turn ${event.turn} after turn ${this.#turns}`);
    if (event.type !== "checkpoint_restore") return;
    this.#expect(this.#checkpoints.has(event.toSeq), `restore to ${event.toSeq}, which ends no turn`);
  }

  #openTurn(event: DurableEvent<"input">): void {
    this.#expect(event.turn === this.#turns + 1, `turn ${event.turn} follows ${this.#turns}`);
    this.#expect(event.step === 0, `input at step ${event.step}`);
    this.#turns = event.turn;
    this.#open = {
      turn: event.turn,
      step: 0,
      phase: "after",
      lastBlock: -1,
      replyAttempt: null,
      replyInterrupted: false,
      calls: new Map(),
      interrupted: false,
      failed: false,
      closed: false,
      promptIds: [event.promptId],
    };
  }

  #inTurn(turn: OpenTurn, event: DurableEvent): void {
    const { type } = event;
    this.#expect(event.turn === turn.turn, `${type} of turn ${event.turn} in turn ${turn.turn}`);
    if (turn.failed) this.#expect(type === "agent_stop", `${type} after a fatal error`);
    if (turn.phase === "reply") this.#expect(REPLY.has(type), `${type} inside a reply`);
    if (turn.interrupted) this.#expect(!NOT_AFTER_INTERRUPT.has(type), `${type} after an interrupt`);
    switch (type) {
      case "steer":
        turn.promptIds.push(event.promptId);
        return this.#beforeReply(turn, event);
      case "background_completed":
      case "agent_summary":
        return this.#beforeReply(turn, event);
      case "thought":
      case "output":
        return this.#block(turn, event);
      case "tool_calls":
        return this.#calls(turn, event);
      case "agent_trace":
        return this.#endReply(turn, event);
      case "interrupt":
        this.#expect(event.step === turn.step, `interrupt at step ${event.step} in step ${turn.step}`);
        turn.interrupted = true;
        if (unsettled(turn).length > 0) turn.closed = true;
        return;
      case "error":
        turn.failed = true;
        return this.#expectEnd(turn, event);
      case "agent_stop":
        return this.#stop(turn, event);
      case "prompt_dropped":
        return;
      case "input":
      case "checkpoint_restore":
        return this.#expect(false, `${type} inside a turn`);
      default:
        return this.#onCall(turn, event);
    }
  }

  /** The step of something that precedes a reply: the current one, or the next once the current is complete. */
  #beforeReply(turn: OpenTurn, event: DurableEvent): void {
    if (event.step === turn.step && turn.phase === "before") return;
    this.#openStep(turn, event);
  }

  #openStep(turn: OpenTurn, event: DurableEvent): void {
    this.#expect(event.step === turn.step + 1, `${event.type} at step ${event.step} after step ${turn.step}`);
    this.#expect(turn.phase === "after", `step ${event.step} before the reply of step ${turn.step}`);
    this.#expect(!turn.closed, `step ${event.step} in a turn that was cut`);
    this.#expectSettled(turn, `step ${event.step}`);
    turn.step = event.step;
    turn.phase = "before";
    turn.calls = new Map();
  }

  #enterReply(turn: OpenTurn, event: DurableEvent, attempt: number | null): void {
    if (turn.phase === "reply") {
      this.#expect(event.step === turn.step, `${event.type} at step ${event.step} in step ${turn.step}`);
      const known = turn.replyAttempt ?? attempt;
      this.#expect(attempt === null || attempt === known, `attempts ${known} and ${attempt} in one reply`);
      turn.replyAttempt = known;
      return;
    }
    if (turn.phase === "after" || event.step !== turn.step) this.#openStep(turn, event);
    turn.phase = "reply";
    turn.lastBlock = -1;
    turn.replyAttempt = attempt;
    turn.replyInterrupted = false;
  }

  #block(turn: OpenTurn, event: DurableEvent<"thought"> | DurableEvent<"output">): void {
    this.#enterReply(turn, event, event.attempt);
    this.#expect(turn.calls.size === 0, `${event.type} after the calls of its reply`);
    this.#expect(event.block > turn.lastBlock, `block ${event.block} after block ${turn.lastBlock}`);
    turn.lastBlock = event.block;
    turn.replyInterrupted ||= event.interrupted === true;
  }

  #calls(turn: OpenTurn, event: DurableEvent<"tool_calls">): void {
    this.#enterReply(turn, event, null);
    this.#expect(turn.calls.size === 0, "a second tool_calls in one reply");
    this.#expect(event.calls.length > 0, "tool_calls without a call");
    for (const call of event.calls) {
      this.#expect(!this.#callIds.has(call.id), `call id ${call.id} comes twice`);
      this.#callIds.add(call.id);
      turn.calls.set(call.id, newProgress(call));
    }
  }

  #endReply(turn: OpenTurn, event: DurableEvent<"agent_trace">): void {
    this.#enterReply(turn, event, event.attempt);
    turn.phase = "after";
    const { finishReason } = event;
    const cut = finishReason === "interrupted" || finishReason === "error";
    const shown = turn.lastBlock >= 0;
    this.#expect(!shown || cut === turn.replyInterrupted, `reply{${finishReason}} and its texts disagree`);
    this.#expect(!cut || turn.calls.size === 0, "calls of a reply that was cut");
    if (cut || turn.interrupted) turn.closed = true;
    if (finishReason !== "length" && finishReason !== "content_filter") return;
    for (const call of turn.calls.values()) call.barred ??= "cut";
  }

  #onCall(turn: OpenTurn, event: CallEvent): void {
    const { type, callId } = event;
    const call = turn.calls.get(callId);
    this.#expect(event.step === turn.step, `${type} at step ${event.step} in step ${turn.step}`);
    if (!call) return this.#expect(false, `${type} for call ${callId}, which is not of this step`);
    for (const broken of advanceCall(call, event)) this.#expect(false, `${type} of call ${callId} ${broken}`);
  }

  #expectSettled(turn: OpenTurn, before: string): void {
    for (const id of unsettled(turn)) this.#expect(false, `call ${id} has no result before ${before}`);
  }

  /** What ends a turn stands in its last step, or in the next one when a model call left nothing behind. */
  #expectEnd(turn: OpenTurn, event: DurableEvent): void {
    const near = event.step === turn.step || event.step === turn.step + 1;
    this.#expect(near, `${event.type} at step ${event.step} after step ${turn.step}`);
    this.#expectSettled(turn, event.type);
  }

  #stop(turn: OpenTurn, event: DurableEvent<"agent_stop">): void {
    const { reason } = event;
    this.#expectEnd(turn, event);
    this.#expect(turn.failed === (reason === "error"), `agent_stop{${reason}} and fatal error disagree`);
    if (reason !== "error") {
      const aborted = reason === "aborted";
      this.#expect(turn.interrupted === aborted, `agent_stop{${reason}} and interrupt disagree`);
    }
    const answered = turn.phase === "after" && turn.step > 0 && turn.calls.size === 0 && !turn.closed;
    if (reason === "stop") this.#expect(answered, "agent_stop{stop} without an answer");
    const same = event.promptIds.length === turn.promptIds.length;
    this.#expect(
      same && event.promptIds.every((id, index) => id === turn.promptIds[index]),
      "agent_stop names other prompts than its turn took",
    );
    this.#checkpoints.add(event.seq);
    this.#open = null;
  }
}

function unsettled(turn: OpenTurn): string[] {
  return [...turn.calls].filter(([, call]) => call.stage !== "done").map(([id]) => id);
}
