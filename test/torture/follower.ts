import type { AgentEvent } from "../../src/runtime/protocol/events.ts";
import type { PartialBlock, ServerFrame } from "../../src/runtime/protocol/frames.ts";
import { EMPTY_VIEW, applyFrame } from "../../src/runtime/protocol/session-view.ts";
import type { SessionView } from "../../src/runtime/protocol/session-view.ts";
import type { Random } from "./random.ts";

export type Frame = ServerFrame | AgentEvent;

/** What a client of the event stream holds through all of its connections. */
export class Follower {
  readonly name: string;
  readonly #onFrame: (frame: Frame) => void;
  view: SessionView = EMPTY_VIEW;
  /** Connections on which anything came. */
  connections = 0;
  /** Connections that were given up since nothing came any more. */
  silences = 0;
  /** What came in one piece from a `live` frame on, begun by what that frame says is open. */
  readonly streams: AgentEvent[][] = [];
  readonly problems: string[] = [];
  #stream: AgentEvent[] | null = null;
  #heard = false;

  /** @param onFrame Hears every frame, first. */
  constructor(name: string, onFrame: (frame: Frame) => void) {
    this.name = name;
    this.#onFrame = onFrame;
  }

  /** Begins a connection, and says from which cursor on: mostly the last, sometimes an earlier one. */
  connect(random: Random): number {
    this.#heard = false;
    this.#stream = null;
    return random.chance(0.2) ? random.int(0, this.view.head) : this.view.head;
  }

  take(frame: Frame): void {
    this.#onFrame(frame);
    if (!this.#heard) this.connections += 1;
    this.#heard = true;
    if (frame.type === "live") {
      this.#stream = frame.partial.flatMap(asDelta);
      this.streams.push(this.#stream);
    } else if (frame.type === "events") this.#stream?.push(...frame.events);
    else if (isEvent(frame)) this.#stream?.push(frame);
    const { gap } = this.view;
    this.view = applyFrame(this.view, frame);
    if (this.view.gap && !gap)
      this.problems.push(`a gap at head ${this.view.head} after ${JSON.stringify(frame)}`);
  }
}

function isEvent(frame: Frame): frame is AgentEvent {
  return frame.type !== "hello" && frame.type !== "ack" && frame.type !== "nack" && frame.type !== "sync";
}

/** An open block as the delta that would have brought all of it. */
function asDelta({ kind, ...block }: PartialBlock): AgentEvent[] {
  if (kind === "tool_args") return [];
  return [{ type: kind === "text" ? "text_delta" : "thought_delta", offset: 0, ...block }];
}
