import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import type { PartialBlock } from "../../../src/runtime/protocol/frames.ts";
import { EMPTY_VIEW, applyFrame } from "../../../src/runtime/protocol/session-view.ts";
import type { SessionView } from "../../../src/runtime/protocol/session-view.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";
import { framesOf, inBlockOrder, withRepeats } from "../support/simulated-connection.ts";
import type { ConnectionScript, Frame } from "../support/simulated-connection.ts";
import { timelines, truthAt } from "../support/timeline.ts";
import type { Moment } from "../support/timeline.ts";

const upTo = (max: number): fc.Arbitrary<number> => fc.noBias(fc.nat({ max }));
const connectionScripts: fc.Arbitrary<ConnectionScript> = fc.record({
  missed: fc.oneof(fc.constant(0), upTo(30)),
  lives: upTo(40),
  lost: fc.oneof(fc.constant(0), upTo(5)),
  overlap: fc.oneof(fc.constant(0), upTo(10)),
  page: fc.integer({ min: 1, max: 20 }),
  coalesces: fc.boolean(),
  single: fc.boolean(),
  repeats: fc.oneof(fc.constant(0), upTo(12)),
});

function expectTruth(view: SessionView, moments: readonly Moment[], count: number): void {
  const { log, partial } = truthAt(moments, count);
  expect(view.events).toEqual(log);
  expect(view.head).toBe(log.length);
  expect(inBlockOrder(view.blocks)).toEqual(inBlockOrder(partial));
  expect(view.gap).toBe(false);
}

/** The first crash in a span of moments, which no connection survives; the span's end without one. */
function crashIn(moments: readonly Moment[], from: number, until: number): number {
  const index = moments.slice(from, until).findIndex(({ kind }) => kind === "crash");
  return index === -1 ? until : from + index;
}

const LAST: ConnectionScript = {
  missed: 0,
  lives: Infinity,
  lost: 0,
  overlap: 3,
  page: 4,
  coalesces: true,
  single: false,
  repeats: 2,
};

/** Lives through a session on many connections, comparing with the truth wherever the client must know it. */
function liveThrough(moments: readonly Moment[], connections: readonly ConnectionScript[]): SessionView {
  let view = EMPTY_VIEW;
  let now = 0;
  const scripts = [...connections];
  let script: ConnectionScript;
  do {
    script = scripts.shift() ?? LAST;
    const from = Math.min(moments.length, now + script.missed);
    const until = crashIn(moments, from, Math.min(moments.length, from + script.lives));
    const { opening, following } = framesOf(moments, from, until, view.head, script);
    for (const frame of withRepeats(opening, [], script.repeats)) view = applyFrame(view, frame);
    expectTruth(view, moments, from);
    const arrived = following.slice(0, Math.max(0, following.length - script.lost));
    const begun = opening.length * (script.repeats === 0 ? 1 : 2);
    for (const frame of withRepeats(opening, arrived, script.repeats).slice(begun))
      view = applyFrame(view, frame);
    if (arrived.length === following.length) expectTruth(view, moments, until);
    now = moments[until]?.kind === "crash" ? until + 1 : until;
  } while (script !== LAST || now < moments.length);
  return view;
}

function neverDropped(moments: readonly Moment[]): SessionView {
  const frames = moments.flatMap((moment): Frame[] => {
    if (moment.kind === "crash") return [];
    return [moment.kind === "live" ? moment.event : { type: "events", events: moment.events }];
  });
  return frames.reduce(applyFrame, EMPTY_VIEW);
}

describe("a client's view", () => {
  it("[WIRE-3] is the same after any drops, overlaps and repeats as that of a client that never dropped", () => {
    fc.assert(
      fc.property(timelines, fc.array(connectionScripts, { maxLength: 8 }), (moments, connections) => {
        const view = liveThrough(moments, connections);
        expectTruth(view, moments, moments.length);
        expect(view).toEqual(neverDropped(moments));
      }),
      { numRuns: 300 },
    );
  });

  it("[WIRE-2] of somebody who connects at any moment is the truth of that moment", () => {
    fc.assert(
      fc.property(timelines, upTo(1_000), (moments, pick) => {
        const now = pick % (moments.length + 1);
        const { opening } = framesOf(moments, now, now, 0, { ...LAST, page: 7 });
        expectTruth(opening.reduce(applyFrame, EMPTY_VIEW), moments, now);
      }),
      { numRuns: 200 },
    );
  });
});

const output = (text: string, more: Record<string, unknown> = {}): Line => [
  "output",
  { step: 1, text, block: 0, ...more },
];
const answered = logOf(["input"], output("hello"), ["agent_trace", { step: 1 }], ["agent_stop", { step: 1 }]);
const events = (log: readonly DurableEvent[]): Frame => ({ type: "events", events: log });
const live = (head: number, partial: readonly PartialBlock[] = []): Frame => ({
  type: "live",
  head,
  partial,
});
const delta = (offset: number, text: string, more: Record<string, unknown> = {}): AgentEvent =>
  ({ type: "text_delta", turn: 1, step: 1, attempt: 1, block: 0, offset, text, ...more }) as AgentEvent;
const after = (...frames: Frame[]): SessionView => frames.reduce(applyFrame, EMPTY_VIEW);
const textsOf = (view: SessionView): string[] => view.blocks.map(({ text }) => text);

describe("one frame", () => {
  const begun = events(answered.slice(0, 1));

  it("[WIRE-1] with events that are held changes nothing, not even the view's identity", () => {
    const view = after(events(answered));
    expect(applyFrame(view, events(answered))).toBe(view);
    expect(applyFrame(view, events(answered.slice(1, 3)))).toBe(view);
    for (const event of answered) expect(applyFrame(view, event)).toBe(view);
  });

  it("[WIRE-1] with a gap keeps what comes before it and asks for a reconnect", () => {
    const view = after(events([...answered.slice(0, 2), ...answered.slice(3)]));
    expect(view).toMatchObject({ head: 2, gap: true });
    expect(view.events).toHaveLength(2);
    const healed = [events(answered.slice(2)), live(4)].reduce(applyFrame, view);
    expect(healed).toMatchObject({ head: 4, gap: false });
  });

  it("[WIRE-4] with a delta that overlaps adds only what is new", () => {
    const view = after(begun, delta(0, "hel"), delta(1, "ello"), delta(0, "he"));
    expect(textsOf(view)).toEqual(["hello"]);
    expect(applyFrame(view, delta(0, "hel"))).toBe(view);
  });

  it("[WIRE-4] with a delta beyond the text asks for a reconnect and keeps the text", () => {
    const view = after(begun, delta(0, "he"), delta(3, "lo"));
    expect(view.gap).toBe(true);
    expect(textsOf(view)).toEqual(["he"]);
  });

  it("[WIRE-4] counts UTF-16 units, also when a delta splits a surrogate pair", () => {
    expect(textsOf(after(begun, delta(0, "\ud83d"), delta(1, "\ude00!"), delta(0, "\ud83d\ude00")))).toEqual([
      "😀!",
    ]);
  });

  it("[WIRE-5] that resets an attempt withdraws its text for good", () => {
    const reset = { type: "attempt_reset", turn: 1, step: 1, attempt: 1, reason: "model_transport" } as const;
    const view = after(begun, delta(0, "no"), reset);
    expect(textsOf(view)).toEqual([]);
    expect(textsOf([delta(0, "no"), reset].reduce(applyFrame, view))).toEqual([]);
    expect(textsOf(applyFrame(view, delta(0, "yes", { attempt: 2 })))).toEqual(["yes"]);
  });

  it("[WIRE-5] of a higher attempt withdraws the text of the lower one for good", () => {
    const view = after(begun, delta(0, "no"), delta(0, "yes", { attempt: 1001 }));
    expect(textsOf(view)).toEqual(["yes"]);
    expect(applyFrame(view, delta(2, "!"))).toBe(view);
    const started = { type: "model_call_start", turn: 1, step: 1, model: "m", attempt: 2001 } as const;
    expect(textsOf(applyFrame(view, started))).toEqual([]);
  });

  it("[WIRE-6] that says what is live drops every block that it does not name", () => {
    const block = { turn: 1, step: 1, attempt: 1, block: 1, kind: "text", text: "b" } as const;
    const view = after(begun, delta(0, "a"), delta(0, "b", { block: 1 }), live(1, [block]));
    expect(view.blocks).toEqual([block]);
    expect(applyFrame(view, live(3))).toMatchObject({ gap: true, blocks: [] });
  });

  it("[WIRE-7] with a reply closes its blocks, and late deltas of it change nothing", () => {
    const view = after(begun, delta(0, "hello"), events(answered.slice(1, 3)));
    expect(view.blocks).toEqual([]);
    expect(applyFrame(view, delta(5, "!"))).toBe(view);
    expect(applyFrame(view, delta(0, "x", { attempt: 2 }))).toBe(view);
    expect(textsOf(applyFrame(view, delta(0, "next", { step: 2 })))).toEqual(["next"]);
  });

  it("[WIRE-7] with the end of a turn closes all its blocks", () => {
    const view = after(begun, delta(0, "a"), events(logOf(["input"], ["agent_stop", { reason: "budget" }])));
    expect(view.blocks).toEqual([]);
    expect(applyFrame(view, delta(0, "x", { step: 2 }))).toBe(view);
  });

  it("[WIRE-8] of another agent neither adds text nor closes any", () => {
    const agentId = "helper";
    const view = after(begun, delta(0, "a"), delta(0, "zzz", { agentId, step: 9 }));
    const forwarded = { ...answered[2], seq: 2, turn: 7, step: 9, agentId } as DurableEvent;
    expect(textsOf(applyFrame(view, forwarded))).toEqual(["a"]);
    expect(applyFrame(view, forwarded).head).toBe(2);
  });

  it("that is about the connection or that nobody knows changes nothing", () => {
    const view = after(begun, delta(0, "a"));
    const others = [
      { type: "ack", id: 1, result: null },
      { type: "sync", n: 1 },
      { type: "of_the_future", turn: 1, step: 1 },
    ];
    for (const frame of others) expect(applyFrame(view, frame as Frame)).toBe(view);
  });
});

describe("the cost of a frame", () => {
  it("is no module beside its own: a client's bundle does without the schemas", () => {
    const source = readFileSync("src/runtime/protocol/session-view.ts", "utf8");
    expect(source.match(/^import (?!type )/gm)).toBeNull();
  });

  const turns = 1_250;
  const log = logOf(
    ...Array.from({ length: turns }, (_, index): Line[] => {
      const turn = index + 1;
      return [
        ["input", { turn }],
        output("x", { turn }),
        ["agent_trace", { turn, step: 1 }],
        ["agent_stop", { turn, step: 1 }],
      ];
    }).flat(),
  );

  /** A list that counts how often one of its elements is read. */
  function counted<T>(list: readonly T[]): { readonly list: readonly T[]; reads: number } {
    const counter = { list, reads: 0 };
    counter.list = new Proxy(list, {
      get(target, key, receiver) {
        if (typeof key === "string" && /^\d+$/.test(key)) counter.reads += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    return counter;
  }

  it("is one pass over a page of 5,000 events, and one copy of what is held", () => {
    const page = counted(log);
    const first = applyFrame(EMPTY_VIEW, events(page.list));
    expect(first.events).toHaveLength(5_000);
    expect(page.reads).toBe(5_000);
    const held = counted(first.events);
    const more = log.map((event) => ({ ...event, seq: event.seq + 5_000, turn: event.turn + turns }));
    expect(applyFrame({ ...first, events: held.list }, events(more)).head).toBe(10_000);
    expect(held.reads).toBe(5_000);
  });

  it("is no look at the log for a delta, an overlap or a reset", () => {
    const held = counted(log);
    const view = { ...applyFrame(EMPTY_VIEW, events(log)), events: held.list };
    const place = { turn: turns + 1, step: 1, attempt: 1 };
    const frames = [
      delta(0, "a", place),
      delta(1, "b", place),
      delta(0, "late"),
      live(5_000),
      ...log.slice(0, 10),
    ];
    expect(frames.reduce(applyFrame, view).head).toBe(5_000);
    expect(held.reads).toBe(0);
  });
});
