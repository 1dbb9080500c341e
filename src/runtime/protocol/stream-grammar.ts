import type { DurableEvent } from "./durable-events.ts";
import { isDurable } from "./events.ts";
import type { AgentEvent } from "./events.ts";
import type { LiveEvent } from "./live-events.ts";
import type { Violation } from "./log-grammar.ts";

type Delta = LiveEvent<"text_delta" | "thought_delta" | "tool_args_delta">;

/** What has been shown of one step's model call. */
interface StreamedStep {
  /** Attempts below it are withdrawn. */
  attempt: number;
  /** The blocks of that attempt, by their number. */
  blocks: Map<number, { kind: Delta["type"]; text: string }>;
  /** Whether any delta of that attempt came: then all of its text must have. */
  streamed: boolean;
  replied: boolean;
}

/**
 * Live events that are about the session, or repeat the turn's end; they may follow an `agent_stop`. So may a
 * compaction that somebody asked for: it happens between turns and bears the coordinates of the last one.
 */
const AFTER_STOP: ReadonlySet<string> = new Set<LiveEvent["type"]>([
  "done",
  "queue",
  "diagnostic",
  "checkpoint_restore_progress",
]);

function mayFollowStop(event: LiveEvent): boolean {
  return AFTER_STOP.has(event.type) || (event.type === "compaction" && event.kind === "manual");
}

/**
 * Checks what one subscriber received, in the order in which it came, without a reconnect: durable events in `seq`
 * order; the deltas of a block contiguous from 0 and equal to its durable text, unless withdrawn by `attempt_reset`
 * or a higher attempt; no delta after its reply; nothing live of a turn after its `agent_stop`. Of a subscriber that
 * takes some types only, the types of all three deltas must be among them or none.
 */
export function checkStream(events: readonly AgentEvent[]): Violation[] {
  const checker = new StreamChecker();
  events.forEach((event, at) => checker.next(event, at));
  return checker.violations;
}

class StreamChecker {
  readonly violations: Violation[] = [];
  #at = 0;
  #seq = 0;
  #stoppedTurn = 0;
  /** By `turn/step`. */
  readonly #steps = new Map<string, StreamedStep>();

  next(event: AgentEvent, at: number): void {
    this.#at = at;
    if (isDurable(event)) {
      this.#expect(event.seq > this.#seq, `seq ${event.seq} after ${this.#seq}`);
      this.#seq = event.seq;
    }
    if (event.agentId !== undefined) return;
    if (isDurable(event)) this.#durable(event);
    else this.#live(event);
  }

  #expect(holds: boolean, message: string): void {
    if (!holds) this.violations.push({ at: this.#at, message });
  }

  #step(event: { turn: number; step: number }): StreamedStep {
    const key = `${event.turn}/${event.step}`;
    const known = this.#steps.get(key);
    if (known) return known;
    const step: StreamedStep = { attempt: 0, blocks: new Map(), streamed: false, replied: false };
    this.#steps.set(key, step);
    return step;
  }

  #live(event: LiveEvent): void {
    const late = event.turn <= this.#stoppedTurn && !mayFollowStop(event);
    this.#expect(!late, `live ${event.type} of turn ${event.turn} after its agent_stop`);
    switch (event.type) {
      case "text_delta":
      case "thought_delta":
      case "tool_args_delta":
        return this.#delta(this.#step(event), event);
      case "attempt_reset":
        return raiseAttempt(this.#step(event), event.attempt + 1);
      case "model_call_start":
        return raiseAttempt(this.#step(event), event.attempt);
      default:
        return;
    }
  }

  #delta(step: StreamedStep, event: Delta): void {
    const { type, attempt, block } = event;
    this.#expect(!step.replied, `${type} after the reply of step ${event.step}`);
    this.#expect(attempt >= step.attempt, `${type} of attempt ${attempt}, which is withdrawn`);
    if (attempt < step.attempt) return;
    raiseAttempt(step, attempt);
    step.streamed = true;
    const known = step.blocks.get(block);
    if (!known) {
      const later = [...step.blocks.keys()].some((other) => other > block);
      this.#expect(!later, `block ${block} begins after a later one`);
    }
    const { kind, text } = known ?? { kind: type, text: "" };
    this.#expect(kind === type, `block ${block} changes from ${kind} to ${type}`);
    this.#expect(
      event.offset === text.length,
      `${type} at offset ${event.offset} of a block with ${text.length}`,
    );
    step.blocks.set(block, { kind, text: text + event.text });
  }

  #durable(event: DurableEvent): void {
    switch (event.type) {
      case "thought":
      case "output":
        return this.#text(this.#step(event), event);
      case "tool_calls":
        this.#step(event).replied = true;
        return;
      case "agent_trace":
        return this.#endReply(this.#step(event), event);
      case "agent_stop":
        return this.#stop(event);
      default:
        return;
    }
  }

  #text(step: StreamedStep, event: DurableEvent<"thought"> | DurableEvent<"output">): void {
    raiseAttempt(step, event.attempt);
    step.replied = true;
    const shown = step.blocks.get(event.block);
    step.blocks.delete(event.block);
    if (!shown) {
      const unseen = step.streamed && event.text !== "";
      return this.#expect(!unseen, `block ${event.block} was not shown while others were`);
    }
    const kind = event.type === "thought" ? "thought_delta" : "text_delta";
    this.#expect(shown.kind === kind, `${event.type} of block ${event.block} was shown as ${shown.kind}`);
    this.#expect(shown.text === event.text, `${event.type} differs from the deltas of block ${event.block}`);
  }

  #endReply(step: StreamedStep, event: DurableEvent<"agent_trace">): void {
    raiseAttempt(step, event.attempt);
    step.replied = true;
    for (const block of shownTexts(step)) {
      this.#expect(false, `block ${block} was shown and is not in the reply`);
    }
    step.blocks.clear();
  }

  #stop(event: DurableEvent<"agent_stop">): void {
    this.#stoppedTurn = event.turn;
    for (const [place, step] of this.#steps) {
      if (!place.startsWith(`${event.turn}/`)) continue;
      const kept = shownTexts(step).length === 0;
      this.#expect(kept, `text of step ${place} is neither kept nor withdrawn`);
      this.#steps.delete(place);
    }
  }
}

/** A higher attempt withdraws what lower ones have shown. */
function raiseAttempt(step: StreamedStep, attempt: number): void {
  if (attempt <= step.attempt) return;
  step.attempt = attempt;
  step.streamed = false;
  step.blocks.clear();
}

/** Blocks whose text a person has seen; the arguments of calls are shown in the log under the calls. */
function shownTexts(step: StreamedStep): number[] {
  const texts = [...step.blocks].filter(([, { kind, text }]) => kind !== "tool_args_delta" && text !== "");
  return texts.map(([block]) => block);
}
