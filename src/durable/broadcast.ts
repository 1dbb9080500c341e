import { EVENT_TABLE } from "../runtime/protocol/events.ts";
import type { PartialBlock } from "../runtime/protocol/frames.ts";
import type { LiveEvent } from "../runtime/protocol/live-events.ts";
import type { Clock, Timers } from "../runtime/protocol/time.ts";
import type { Batch } from "../runtime/agent/session-log.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import { DeltaBuffer } from "./delta-buffer.ts";
import { PartialReply } from "./partial-reply.ts";

/** What is told, made into JSON once for all who hear it. */
export interface Told {
  /** The events of a commit; null for a live event. */
  readonly events: {
    readonly json: string;
    readonly head: number;
    readonly list: readonly DurableEvent[];
  } | null;
  readonly live: { readonly json: string; readonly type: string } | null;
}

/** Who follows a session live. */
export interface Follower {
  tell(told: Told): void;
}

/** Whether a follower that named some types (null: none) hears a live event of a type. */
export function hears(types: ReadonlySet<string> | null, type: string): boolean {
  if (types) return types.has(type);
  return EVENT_TABLE.get(type as LiveEvent["type"])?.default ?? true;
}

/**
 * Who has more followers than this gathers deltas for longer, in proportion. To send to one takes up to 50 µs: were the
 * window of a hundred shorter than the sending, each delta of a flood would go out alone, and the sending never catch up.
 */
const FOLLOWERS_PER_WINDOW = 30;

/** Tells everything that happens in a session to whoever follows it, in one order for all. */
export class Broadcast {
  readonly #followers = new Set<Follower>();
  readonly #partial = new PartialReply();
  readonly #deltas: DeltaBuffer;

  constructor(timers: Timers, deltaWindowMs: number, clock: Clock = Date.now) {
    const window = (): number => deltaWindowMs * Math.max(1, this.#followers.size / FOLLOWERS_PER_WINDOW);
    this.#deltas = new DeltaBuffer((delta) => this.#tellLive(delta), timers, clock, window);
  }

  /** The open blocks, as everybody who follows has been told of them. */
  get partial(): readonly PartialBlock[] {
    this.#deltas.flush();
    return this.#partial.blocks;
  }

  /** Joins the live set. The caller has caught up with the head in the same synchronous block. */
  join(follower: Follower): void {
    this.#followers.add(follower);
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
  }

  publish(batch: Batch): void {
    const { events, live } = batch;
    const [first] = live;
    if (events.length === 0 && live.length === 1 && first && isDelta(first)) return this.#deltas.push(first);
    this.#deltas.flush();
    // A turn's end is the last thing that is told of it: what belongs to the same commit goes before.
    const stops = events.at(-1)?.type === "agent_stop";
    if (stops) for (const event of live) this.#tellLive(event);
    this.#tellEvents(events);
    if (!stops) for (const event of live) this.#tellLive(event);
  }

  #tellEvents(events: readonly DurableEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    this.#partial.follow({ events, live: [] });
    if (this.#followers.size === 0) return;
    const json = JSON.stringify(events);
    for (const follower of this.#followers)
      follower.tell({ events: { json, head: last.seq, list: events }, live: null });
  }

  #tellLive(event: LiveEvent): void {
    this.#partial.follow({ events: [], live: [event] });
    if (this.#followers.size === 0) return;
    const live = { json: JSON.stringify(event), type: event.type };
    for (const follower of this.#followers) follower.tell({ events: null, live });
  }
}

function isDelta(event: LiveEvent): event is LiveEvent<"text_delta" | "thought_delta" | "tool_args_delta"> {
  return event.type === "text_delta" || event.type === "thought_delta" || event.type === "tool_args_delta";
}
