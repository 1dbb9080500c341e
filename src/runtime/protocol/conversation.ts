import type { DurableEvent } from "./durable-events.ts";

/** The part of a log that the conversation consists of now. */
export interface ConversationInForce {
  /** The summary that stands for everything up to its `throughSeq`. */
  summary: DurableEvent<"agent_summary"> | null;
  /** The events after it that no restore has taken back, in order. */
  events: DurableEvent[];
}

interface Link<Item> {
  readonly item: Item;
  readonly before: Link<Item> | null;
}

/** The conversation after restores and summaries: what the model's input is made of. */
export function inForce(log: Iterable<DurableEvent>): ConversationInForce {
  const events: DurableEvent[] = [];
  let summary: DurableEvent<"agent_summary"> | null = null;
  for (const event of newestFirst(log, (event) => event)) {
    if (event.type === "agent_summary") summary ??= event;
    else if (summary === null || event.seq > summary.throughSeq) events.push(event);
  }
  return { summary, events: events.reverse() };
}

/** The `seq`s of all that no restore has taken back, also of what summaries stand for. */
export function seqsInForce(log: Iterable<DurableEvent>): Set<number> {
  return new Set(newestFirst(log, ({ seq }) => seq));
}

/**
 * What restores have left of a log, the last event first. A restore of the conversation makes it what it was at `toSeq`,
 * recursively, so that a restore into a span that an earlier one skipped brings that span back. Works in one pass:
 * each event remembers what preceded it in force, so a restore is one step back.
 * @param keep what is held of each event
 */
function* newestFirst<Item>(
  log: Iterable<DurableEvent>,
  keep: (event: DurableEvent) => Item,
): Generator<Item> {
  const bySeq: { seq: number; link: Link<Item> | null }[] = [];
  let last: Link<Item> | null = null;
  for (const event of log) {
    if (event.agentId !== undefined) continue;
    if (event.type === "checkpoint_restore" && event.conversation) last = linkAt(bySeq, event.toSeq);
    else last = { item: keep(event), before: last };
    bySeq.push({ seq: event.seq, link: last });
  }
  for (let link = last; link !== null; link = link.before) yield link.item;
}

function linkAt<Item>(
  bySeq: readonly { seq: number; link: Link<Item> | null }[],
  seq: number,
): Link<Item> | null {
  let low = 0;
  let high = bySeq.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = bySeq[middle];
    if (entry && entry.seq <= seq) low = middle + 1;
    else high = middle;
  }
  return bySeq[low - 1]?.link ?? null;
}
