import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DurableType } from "../../../src/runtime/protocol/durable-events.ts";
import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import type { LiveType } from "../../../src/runtime/protocol/live-events.ts";
import { checkStream } from "../../../src/runtime/protocol/stream-grammar.ts";
import { logOf } from "../support/log-builder.ts";
import { timelines } from "../support/timeline.ts";

type Item =
  | { live: LiveType; more?: Record<string, unknown> }
  | { durable: DurableType; more?: Record<string, unknown> };

const live = (type: LiveType, more: Record<string, unknown> = {}): Item => ({ live: type, more });
const durable = (type: DurableType, more: Record<string, unknown> = {}): Item => ({ durable: type, more });
const delta = (offset: number, text: string, more: Record<string, unknown> = {}): Item =>
  live("text_delta", { attempt: 1, block: 0, offset, text, ...more });
const thought = (offset: number, text: string, more: Record<string, unknown> = {}): Item =>
  live("thought_delta", { attempt: 1, block: 0, offset, text, ...more });
const output = (text: string, more: Record<string, unknown> = {}): Item =>
  durable("output", { block: 0, text, ...more });
const reset = (attempt: number): Item => live("attempt_reset", { attempt, reason: "model_transport" });

/** A stream whose durable events are numbered as they come. Turn 1, step 1 unless said. */
function streamOf(items: readonly Item[]): AgentEvent[] {
  let seq = 0;
  return items.map((item) => {
    const place = { turn: 1, step: 1, ...item.more };
    if ("live" in item) return { ...place, type: item.live } as unknown as AgentEvent;
    seq += 1;
    const [event] = logOf([item.durable, { seq, ...place }]);
    return event as AgentEvent;
  });
}

const input = durable("input", { step: 0 });
const trace = durable("agent_trace");
const stop = durable("agent_stop");
const end = [trace, stop];

const GOOD: Record<string, Item[]> = {
  "a text in pieces": [input, delta(0, "he"), delta(2, "llo"), output("hello"), ...end],
  "no deltas at all": [input, output("hello"), ...end],
  "a thought, then a text, each its own block": [
    input,
    thought(0, "hm"),
    delta(0, "yes", { block: 1 }),
    durable("thought", { block: 0, text: "hm" }),
    output("yes", { block: 1 }),
    ...end,
  ],
  "blocks that interleave": [
    input,
    delta(0, "a"),
    delta(0, "1", { block: 1 }),
    delta(1, "b"),
    delta(1, "2", { block: 1 }),
    output("ab"),
    output("12", { block: 1 }),
    ...end,
  ],
  "offsets in UTF-16 units": [input, delta(0, "😀"), delta(2, "!"), output("😀!"), ...end],
  "an attempt that is reset": [
    input,
    delta(0, "no"),
    reset(1),
    delta(0, "yes", { attempt: 2 }),
    output("yes", { attempt: 2 }),
    ...end,
  ],
  "an attempt that a higher one replaces": [
    input,
    delta(0, "no"),
    delta(0, "yes", { attempt: 1001 }),
    output("yes", { attempt: 1001 }),
    ...end,
  ],
  "an attempt that a silent higher one replaces": [
    input,
    delta(0, "no"),
    output("yes", { attempt: 2 }),
    durable("agent_trace", { attempt: 2 }),
    stop,
  ],
  "a failed attempt without a reply": [
    input,
    delta(0, "no"),
    reset(1),
    durable("error"),
    durable("agent_stop", { reason: "error" }),
  ],
  "arguments that stream": [
    input,
    live("tool_args_delta", { attempt: 1, block: 0, offset: 0, text: "{}", callId: "a", name: "x" }),
    durable("tool_calls"),
    trace,
  ],
  "what belongs to a commit before its end": [
    input,
    delta(0, "hi"),
    live("message", { text: "hi", calls: [] }),
    live("step_end", { stopReason: "stop" }),
    output("hi"),
    ...end,
  ],
  "what may follow the end": [
    input,
    ...end,
    live("done"),
    live("queue", { waiting: [] }),
    live("diagnostic"),
    live("compaction", { kind: "manual" }),
    live("checkpoint_restore_progress"),
  ],
  "a seq left out by a filter": [input, durable("output", { seq: 5, text: "x" })],
  "another agent's deltas beside ours": [
    input,
    delta(0, "a"),
    delta(7, "zzz", { agentId: "helper" }),
    delta(1, "b"),
    output("ab"),
    ...end,
    live("text_delta", { agentId: "helper", attempt: 1, block: 0, offset: 0, text: "late" }),
  ],
};

/** Each of these breaks one sentence of the grammar, at its last event. */
const BAD: Record<string, { stream: Item[]; says: RegExp }> = {
  // deltas of one block are contiguous from 0
  "a block that does not begin at 0": { stream: [delta(1, "x")], says: /offset 1 of a block with 0/ },
  "a hole in a block": { stream: [delta(0, "he"), delta(3, "lo")], says: /offset 3 of a block with 2/ },
  "a delta twice": { stream: [delta(0, "he"), delta(0, "he")], says: /offset 0 of a block with 2/ },
  "an offset in bytes": { stream: [delta(0, "é"), delta(2, "!")], says: /offset 2 of a block with 1/ },
  "a block that changes its kind": {
    stream: [delta(0, "a"), thought(1, "b")],
    says: /changes from text_delta to thought_delta/,
  },
  "a block that begins after a later one": {
    stream: [delta(0, "a", { block: 2 }), delta(0, "b", { block: 1 })],
    says: /begins after a later one/,
  },
  // and make up the durable text of that attempt
  "another text": { stream: [delta(0, "help"), output("hello")], says: /differs from the deltas/ },
  "a text that was shown in part": {
    stream: [delta(0, "hel"), output("hello")],
    says: /differs from the deltas/,
  },
  "a text that was not shown": {
    stream: [delta(0, "a"), output("a"), output("b", { block: 1 })],
    says: /block 1 was not shown/,
  },
  "a shown text that is not in the reply": {
    stream: [delta(0, "a"), delta(0, "b", { block: 1 }), output("a"), trace],
    says: /block 1 was shown and is not/,
  },
  "a thought that was shown as a text": {
    stream: [delta(0, "a"), durable("thought", { text: "a" })],
    says: /was shown as text_delta/,
  },
  // unless withdrawn
  "a shown text at the end of its turn": {
    stream: [delta(0, "a"), durable("agent_stop")],
    says: /neither kept nor withdrawn/,
  },
  "a delta of an attempt that was reset": {
    stream: [delta(0, "a"), reset(1), delta(1, "b")],
    says: /attempt 1, which is withdrawn/,
  },
  "a reset attempt from the beginning": {
    stream: [delta(0, "a"), reset(1), delta(0, "a")],
    says: /attempt 1, which is withdrawn/,
  },
  "a delta of a lower attempt": {
    stream: [delta(0, "a", { attempt: 2 }), delta(0, "b")],
    says: /attempt 1, which is withdrawn/,
  },
  "a delta of an attempt before the one that began": {
    stream: [live("model_call_start", { attempt: 2, model: "m" }), delta(0, "b")],
    says: /attempt 1, which is withdrawn/,
  },
  // no delta after its reply
  "a delta after its reply": {
    stream: [delta(0, "a"), output("a"), trace, delta(1, "b")],
    says: /after the reply of step 1/,
  },
  "a delta inside the commit of its reply": {
    stream: [delta(0, "a"), output("a"), delta(0, "b", { block: 1 })],
    says: /after the reply of step 1/,
  },
  "a delta of a higher attempt after the reply": {
    stream: [output("a"), trace, delta(0, "b", { attempt: 2 })],
    says: /after the reply of step 1/,
  },
  // nothing live of a turn after its agent_stop
  "a delta after the end": {
    stream: [...end, delta(0, "b", { step: 2 })],
    says: /live text_delta of turn 1 after its agent_stop/,
  },
  "a step's end after the end": { stream: [...end, live("step_end")], says: /live step_end of turn 1/ },
  "a message after the end": { stream: [...end, live("message")], says: /live message of turn 1/ },
  "an automatic compaction after the end": {
    stream: [...end, live("compaction", { kind: "auto" })],
    says: /live compaction of turn 1/,
  },
  "progress of a tool after the end": {
    stream: [...end, live("tool_progress")],
    says: /live tool_progress of turn 1/,
  },
  // durable events in seq order
  "a seq twice": { stream: [input, durable("output", { seq: 1 })], says: /seq 1 after 1/ },
  "a seq that goes back": {
    stream: [durable("input", { seq: 5 }), durable("output", { seq: 4 })],
    says: /seq 4 after 5/,
  },
  "another agent's seq that goes back": {
    stream: [input, durable("output", { seq: 1, agentId: "helper" })],
    says: /seq 1 after 1/,
  },
};

describe("the grammar of a stream", () => {
  it.each(Object.entries(GOOD))("[WIRE-9] accepts %s", (_, items) => {
    expect(checkStream(streamOf(items))).toEqual([]);
  });

  it.each(Object.entries(BAD))("[WIRE-9] flags %s", (_, { stream, says }) => {
    const events = streamOf(stream);
    expect(checkStream(events.slice(0, -1))).toEqual([]);
    const violations = checkStream(events);
    expect(violations.map(({ at }) => at)).toEqual(violations.map(() => events.length - 1));
    expect(violations.map(({ message }) => message).join("\n")).toMatch(says);
  });
});

describe("generated streams", () => {
  const streams = timelines.map((moments) =>
    moments.flatMap((moment): AgentEvent[] => {
      if (moment.kind === "crash") return [];
      return moment.kind === "live" ? [moment.event] : [...moment.events];
    }),
  );

  it("[WIRE-9] pass", () => {
    fc.assert(
      fc.property(streams, (events) => {
        expect(checkStream(events)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["left out", (events: AgentEvent[], at: number) => events.toSpliced(at, 1)],
    ["twice", (events: AgentEvent[], at: number) => events.toSpliced(at, 0, ...events.slice(at, at + 1))],
    [
      "at the end of all",
      (events: AgentEvent[], at: number) => [...events.toSpliced(at, 1), ...events.slice(at, at + 1)],
    ],
    [
      "with another text",
      (events: AgentEvent[], at: number) =>
        events.map((event, index) => (index === at ? { ...event, text: "#another#" } : event) as AgentEvent),
    ],
  ])("[WIRE-9] do not pass with one delta of a reply %s", (_, mutate) => {
    let mutants = 0;
    fc.assert(
      fc.property(streams, fc.noBias(fc.nat({ max: 1_000 })), (events, pick) => {
        const places = events.flatMap((_event, at) => (isOneOfMany(events, at) ? [at] : []));
        const at = places[pick % places.length];
        if (at === undefined) return;
        mutants += 1;
        expect(checkStream(mutate(events, at))).not.toEqual([]);
      }),
      { numRuns: 200 },
    );
    expect(mutants).toBeGreaterThan(20);
  });
});

/** Whether the event is one of several pieces of a reply that is in the log: a silent reply would be in order. */
function isOneOfMany(events: readonly AgentEvent[], at: number): boolean {
  const event = events[at];
  if ((event?.type !== "text_delta" && event?.type !== "thought_delta") || event.text === "") return false;
  const ofReply = events.filter(
    (other, index) =>
      index !== at &&
      "attempt" in other &&
      other.agentId === undefined &&
      other.turn === event.turn &&
      other.step === event.step &&
      other.attempt === event.attempt,
  );
  const shown = ofReply.some(({ type }) => type === "text_delta" || type === "thought_delta");
  return shown && ofReply.some(({ type }) => type === "output" || type === "thought");
}
