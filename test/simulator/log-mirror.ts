import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { Disk } from "./disk.ts";

/** What the log says of one call so far. */
export interface CallRecord {
  readonly id: string;
  readonly turn: number;
  readonly step: number;
  readonly name: string;
  /** What runs: the model's arguments, or what a person put in their place. */
  args: Readonly<Record<string, unknown>>;
  approval: { readonly id: string; answer: DurableEvent<"approval_resolved"> | null } | null;
  question: { readonly id: string; answer: DurableEvent<"input_resolved"> | null } | null;
  started: boolean;
  result: DurableEvent<"tool_result"> | null;
}

/**
 * The log as it lies in storage, read row by row after each write, with what the oracle wants to know of it at once.
 * Kept apart from the product's own folds, so that a mistake in those cannot hide itself.
 */
export class LogMirror {
  readonly events: DurableEvent[] = [];
  /** Each event's JSON, by `seq - 1`. */
  readonly texts: string[] = [];
  readonly calls = new Map<string, CallRecord>();
  /** Prompts that have entered a turn or been dropped. */
  readonly prompts = new Set<string>();
  /** The `seq` of each turn's `input`, first `interrupt` and `agent_stop`, by turn. */
  readonly inputs = new Map<number, number>();
  readonly interrupts = new Map<number, number>();
  readonly stops = new Map<number, number>();
  readonly #violate: (rule: string, message: string) => void;
  #exists = false;
  #rows = 0;

  constructor(violate: (rule: string, message: string) => void) {
    this.#violate = violate;
  }

  get head(): number {
    return this.events.length;
  }

  /** The turn that has begun and not ended; null between turns. */
  get openTurn(): number | null {
    const turn = this.inputs.size;
    return turn > 0 && !this.stops.has(turn) ? turn : null;
  }

  /** Approvals and questions that nobody has answered. */
  get openRequests(): CallRecord[] {
    const open = [...this.calls.values()].filter(({ turn }) => turn === this.openTurn);
    return open.filter(({ approval, question }) => approval?.answer === null || question?.answer === null);
  }

  /** The call that an approval or a question is about. */
  askedAbout(id: string): CallRecord | undefined {
    return [...this.calls.values()].find(
      ({ approval, question }) => approval?.id === id || question?.id === id,
    );
  }

  /** Takes in what has become durable, and answers with it. */
  read(disk: Disk): DurableEvent[] {
    this.#exists ||= disk.run("SELECT 1 FROM sqlite_schema WHERE name = 'log'").length > 0;
    if (!this.#exists) return [];
    const rows = disk.run(
      "SELECT first_seq, last_seq, body FROM log WHERE first_seq > ? ORDER BY first_seq",
      this.#rows,
    );
    const added: DurableEvent[] = [];
    for (const row of rows) {
      this.#rows = Number(row["first_seq"]);
      added.push(...(JSON.parse(row["body"] as string) as DurableEvent[]));
    }
    for (const event of added) {
      if (event.seq !== this.head + 1) this.#violate("gapless", `seq ${event.seq} follows ${this.head}`);
      this.events.push(event);
      this.texts.push(JSON.stringify(event));
      this.#note(event);
    }
    return added;
  }

  #note(event: DurableEvent): void {
    if ("promptId" in event) this.prompts.add(event.promptId);
    switch (event.type) {
      case "input":
        if (this.openTurn !== null)
          this.#violate("one-stop", `turn ${event.turn} begins in turn ${this.openTurn}`);
        this.inputs.set(event.turn, event.seq);
        return;
      case "interrupt":
        if (!this.interrupts.has(event.turn)) this.interrupts.set(event.turn, event.seq);
        return;
      case "agent_stop":
        if (this.stops.has(event.turn)) this.#violate("one-stop", `turn ${event.turn} ends twice`);
        this.stops.set(event.turn, event.seq);
        return;
      case "tool_calls":
        for (const { id, name, args } of event.calls) {
          const { turn, step } = event;
          const fresh = { approval: null, question: null, started: false, result: null };
          this.calls.set(id, { id, turn, step, name, args, ...fresh });
        }
        return;
      default:
        if ("callId" in event) this.#noteCall(event);
    }
  }

  #noteCall(event: Extract<DurableEvent, { callId: string }>): void {
    const call = this.calls.get(event.callId);
    if (!call) return this.#violate("known-call", `${event.type} of the unknown call ${event.callId}`);
    switch (event.type) {
      case "approval_request":
        if (call.approval) this.#violate("one-approval", `call ${call.id} is asked about twice`);
        call.approval = { id: event.approvalId, answer: null };
        return;
      case "approval_resolved":
        if (!call.approval || call.approval.answer) {
          return this.#violate("one-approval", `approval ${event.approvalId} is resolved without being open`);
        }
        call.approval.answer = event;
        call.args = event.args ?? call.args;
        return;
      case "input_request":
        call.question = { id: event.inputId, answer: null };
        return;
      case "input_resolved":
        if (!call.question || call.question.answer) {
          return this.#violate("one-approval", `question ${event.inputId} is answered without being open`);
        }
        call.question.answer = event;
        return;
      case "tool_call_start":
        if (call.started) this.#violate("one-start", `call ${call.id} starts twice`);
        call.started = true;
        return;
      case "tool_result":
        if (call.result) this.#violate("one-result", `call ${call.id} has two results`);
        call.result = event;
        return;
      case "permission_decision":
      case "tool_recovered":
        return;
    }
  }
}
