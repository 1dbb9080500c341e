import type { DurableEvent } from "./durable-events.ts";
import type { AgentEvent } from "./events.ts";
import type { PartialBlock, ServerFrame } from "./frames.ts";
import type { LiveEvent } from "./live-events.ts";

/** Where text stands in a session. */
interface Place {
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
}

/** What a client holds of a session: the log so far, and the blocks of the reply that streams now. */
export interface SessionView {
  readonly events: readonly DurableEvent[];
  /** `seq` of the last event held: the cursor for the next connection. */
  readonly head: number;
  readonly blocks: readonly PartialBlock[];
  /** Where text may still stream. What comes from before it is late: withdrawn, or in the log already. */
  readonly frontier: Place;
  /** Set when something is missing (a gap in `seq` or in a block): reconnect with `after=head`. */
  readonly gap: boolean;
}

export const EMPTY_VIEW: SessionView = {
  events: [],
  head: 0,
  blocks: [],
  frontier: { turn: 0, step: 0, attempt: 0 },
  gap: false,
};

/**
 * Applies one frame of a stream to what a client holds. Applying any frame of a connection again, or overlapping
 * replays, changes nothing: durable events are recognised by `seq`, deltas by their place and offset. Only `live`,
 * which says what a connection begins with, is not for repeating later. Cost: one copy of the list of events per
 * frame with new ones, none for a delta.
 */
export function applyFrame(view: SessionView, frame: ServerFrame | AgentEvent): SessionView {
  switch (frame.type) {
    case "events":
      return applyDurable(view, frame.events);
    case "live":
      return startLive(view, frame.head, frame.partial);
    case "hello":
    case "ack":
    case "nack":
    case "sync":
      return view;
    default:
      return isLogged(frame) ? applyDurable(view, [frame]) : applyLive(view, frame);
  }
}

/** As `isDurable`, whose module would bring all schemas into a client's bundle. */
function isLogged(event: AgentEvent): event is DurableEvent {
  return "seq" in event;
}

function startLive(view: SessionView, head: number, partial: readonly PartialBlock[]): SessionView {
  const blocks = partial.filter((block) => !precedes(block, view.frontier));
  const frontier = blocks.reduce<Place>(latest, view.frontier);
  return { ...view, frontier, blocks, gap: view.head < head };
}

function applyDurable(view: SessionView, events: readonly DurableEvent[]): SessionView {
  const added: DurableEvent[] = [];
  let { head, frontier } = view;
  for (const event of events) {
    if (event.seq <= head) continue;
    if (event.seq > head + 1) return { ...extend(view, added, frontier), gap: true };
    added.push(event);
    head = event.seq;
    frontier = latest(frontier, closedBy(event) ?? frontier);
  }
  return added.length === 0 ? view : extend(view, added, frontier);
}

/** The place behind everything that an event completes: the reply of a step, or a turn. */
function closedBy(event: DurableEvent): Place | null {
  if (event.agentId !== undefined) return null;
  if (event.type === "agent_trace") return { turn: event.turn, step: event.step + 1, attempt: 0 };
  if (event.type === "agent_stop") return { turn: event.turn + 1, step: 0, attempt: 0 };
  return null;
}

function extend(view: SessionView, added: readonly DurableEvent[], frontier: Place): SessionView {
  const head = added.at(-1)?.seq ?? view.head;
  return { ...moveFrontier(view, frontier), events: view.events.concat(added), head };
}

function applyLive(view: SessionView, event: LiveEvent): SessionView {
  // A sub-agent's text has the coordinates of another session.
  if (event.agentId !== undefined) return view;
  switch (event.type) {
    case "text_delta":
      return applyDelta(view, event, "text");
    case "thought_delta":
      return applyDelta(view, event, "thought");
    case "tool_args_delta":
      return applyDelta(view, event, "tool_args");
    case "model_call_start":
      return moveFrontier(view, event);
    case "attempt_reset":
      return moveFrontier(view, { ...event, attempt: event.attempt + 1 });
    default:
      return view;
  }
}

function applyDelta(
  view: SessionView,
  event: LiveEvent<"text_delta" | "thought_delta" | "tool_args_delta">,
  kind: PartialBlock["kind"],
): SessionView {
  if (precedes(event, view.frontier)) return view;
  const { turn, step, attempt, block } = event;
  const moved = moveFrontier(view, event);
  // What is behind the frontier is gone, so the blocks that are left are of this very attempt.
  const known = moved.blocks.find((other) => other.block === block);
  const text = known?.text ?? "";
  if (event.offset > text.length) return { ...moved, gap: true };
  const added = event.text.slice(text.length - event.offset);
  if (known && added === "") return moved;
  const changed: PartialBlock = { turn, step, attempt, block, kind, text: text + added };
  const blocks = known
    ? moved.blocks.map((other) => (other === known ? changed : other))
    : [...moved.blocks, changed];
  return { ...moved, blocks };
}

function moveFrontier(view: SessionView, to: Place): SessionView {
  if (!precedes(view.frontier, to)) return view;
  const { turn, step, attempt } = to;
  return {
    ...view,
    frontier: { turn, step, attempt },
    blocks: view.blocks.filter((block) => !precedes(block, to)),
  };
}

function latest(left: Place, right: Place): Place {
  if (!precedes(left, right)) return left;
  const { turn, step, attempt } = right;
  return { turn, step, attempt };
}

/** Whether a place comes before another: an earlier turn, step or attempt. */
function precedes(left: Place, right: Place): boolean {
  if (left.turn !== right.turn) return left.turn < right.turn;
  if (left.step !== right.step) return left.step < right.step;
  return left.attempt < right.attempt;
}
