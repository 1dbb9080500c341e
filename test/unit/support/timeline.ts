import fc from "fast-check";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import type { PartialBlock } from "../../../src/runtime/protocol/frames.ts";
import type { LiveEvent } from "../../../src/runtime/protocol/live-events.ts";
import { wellFormedLogs } from "./log-generator.ts";

export type Delta = LiveEvent<"text_delta" | "thought_delta" | "tool_args_delta">;

/** What happens in a session, in order: something is told, something becomes true, or the process dies. */
export type Moment =
  | { readonly kind: "live"; readonly event: LiveEvent }
  | { readonly kind: "commit"; readonly events: readonly DurableEvent[] }
  | { readonly kind: "crash" };

/** The truth at one moment: what a client that has missed nothing holds. */
export interface Truth {
  readonly log: readonly DurableEvent[];
  readonly partial: readonly PartialBlock[];
}

/** Timelines of generated sessions: replies stream in pieces, after attempts that failed or died. */
export const timelines: fc.Arbitrary<Moment[]> = fc
  .tuple(wellFormedLogs, fc.array(fc.nat({ max: 11 }), { minLength: 3, maxLength: 20, size: "max" }))
  .map(([log, choices]) => new TimelineWriter(choices).write(log));

const REPLY: ReadonlySet<string> = new Set(["thought", "output", "tool_calls", "agent_trace"]);

class TimelineWriter {
  readonly #choices: readonly number[];
  #used = 0;
  readonly #moments: Moment[] = [];

  constructor(choices: readonly number[]) {
    this.#choices = choices;
  }

  write(log: readonly DurableEvent[]): Moment[] {
    let commit: DurableEvent[] = [];
    log.forEach((event, index) => {
      commit.push(event);
      const next = log[index + 1];
      const inReply = event.agentId === undefined && REPLY.has(event.type) && event.type !== "agent_trace";
      const endsTurn = next?.type === "error" || next?.type === "agent_stop";
      if (inReply || (endsTurn && this.#choose(2) === 0)) return;
      this.#reply(commit);
      this.#moments.push({ kind: "commit", events: commit });
      commit = [];
    });
    return this.#moments;
  }

  #choose(below: number): number {
    this.#used += 1;
    return (this.#choices[this.#used % this.#choices.length] ?? 0) % below;
  }

  /** The deltas of the reply in a commit, after those of attempts that came to nothing. */
  #reply(commit: readonly DurableEvent[]): void {
    const trace = commit.find((event) => event.type === "agent_trace" && event.agentId === undefined);
    if (trace?.type !== "agent_trace") return;
    for (const attempt of [trace.attempt - 2, trace.attempt - 1]) {
      if (attempt > 0 && this.#choose(2) === 0)
        this.#lostAttempt({ turn: trace.turn, step: trace.step, attempt });
    }
    const { turn, step, attempt } = trace;
    if (this.#choose(2) === 0) this.#live({ type: "model_call_start", turn, step, model: "m", attempt });
    const texts = commit.flatMap((event): Delta[] => {
      if (event.agentId !== undefined) return [];
      if (event.type === "output")
        return this.#pieces({ type: "text_delta", ...placeOf(event), offset: 0, text: event.text });
      if (event.type === "thought")
        return this.#pieces({ type: "thought_delta", ...placeOf(event), offset: 0, text: event.text });
      return event.type === "tool_calls" ? this.#argumentPieces(event, attempt) : [];
    });
    for (const event of texts) this.#live(event);
  }

  #lostAttempt(place: { turn: number; step: number; attempt: number }): void {
    const pieces = this.#pieces({
      type: "text_delta",
      ...place,
      block: 0,
      offset: 0,
      text: "this will not stay",
    });
    for (const event of pieces.slice(0, 1 + this.#choose(3))) this.#live(event);
    const end = this.#choose(3);
    if (end === 0) this.#live({ type: "attempt_reset", ...place, reason: "model_transport" });
    if (end === 1) this.#moments.push({ kind: "crash" });
  }

  #argumentPieces(event: DurableEvent<"tool_calls">, attempt: number): Delta[] {
    const { turn, step } = event;
    return event.calls.flatMap(({ id, name, args }, index) => {
      const place = { turn, step, attempt, block: 100 + index };
      return this.#pieces({
        type: "tool_args_delta",
        ...place,
        offset: 0,
        text: JSON.stringify(args),
        callId: id,
        name,
      });
    });
  }

  /** One whole text as several deltas; now and then an empty one among them. */
  #pieces(whole: Delta): Delta[] {
    const pieces: Delta[] = [];
    let offset = 0;
    while (offset < whole.text.length) {
      if (this.#choose(6) === 0) pieces.push({ ...whole, offset, text: "" });
      const text = whole.text.slice(offset, offset + 1 + this.#choose(6));
      pieces.push({ ...whole, offset, text });
      offset += text.length;
    }
    return pieces;
  }

  #live(event: LiveEvent): void {
    this.#moments.push({ kind: "live", event });
  }
}

function placeOf(event: DurableEvent<"thought"> | DurableEvent<"output">): {
  turn: number;
  step: number;
  attempt: number;
  block: number;
} {
  const { turn, step, attempt, block } = event;
  return { turn, step, attempt, block };
}

const KIND = { text_delta: "text", thought_delta: "thought", tool_args_delta: "tool_args" } as const;

export function isDelta(event: LiveEvent): event is Delta {
  return event.type in KIND;
}

/** What is true after the first `count` moments: the log so far, and the open blocks as the process holds them. */
export function truthAt(moments: readonly Moment[], count: number): Truth {
  const log: DurableEvent[] = [];
  let partial: PartialBlock[] = [];
  for (const moment of moments.slice(0, count)) {
    if (moment.kind === "crash") partial = [];
    if (moment.kind === "commit") {
      log.push(...moment.events);
      const own = moment.events.filter(({ agentId }) => agentId === undefined);
      if (own.some(({ type }) => type === "agent_trace" || type === "agent_stop")) partial = [];
    }
    if (moment.kind === "live") partial = afterLive(partial, moment.event);
  }
  return { log, partial };
}

function afterLive(partial: readonly PartialBlock[], event: LiveEvent): PartialBlock[] {
  if (event.type === "attempt_reset") return [];
  if (event.type === "model_call_start") return partial.filter(({ attempt }) => attempt >= event.attempt);
  if (!isDelta(event)) return [...partial];
  const { turn, step, attempt, block, text } = event;
  const kept = partial.filter((other) => other.attempt === attempt);
  const known = kept.find((other) => other.block === block);
  const others = kept.filter((other) => other !== known);
  return [
    ...others,
    { turn, step, attempt, block, kind: KIND[event.type], text: (known?.text ?? "") + text },
  ];
}
