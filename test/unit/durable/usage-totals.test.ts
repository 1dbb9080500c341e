import { describe, expect, it } from "vitest";
import { applyUsage } from "../../../src/durable/usage-totals.ts";
import type { UsageTotals } from "../../../src/durable/usage-totals.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { logOf } from "../support/log-builder.ts";

const DAY = 86_400_000;
const NOON = Date.parse("2026-03-10T12:00:00Z");

function usage(input: number) {
  return { input, output: 1, cachedInput: 2, reasoning: 3 };
}

/** A model call that ended at some time. */
function call(at: number, model: string, input: number, cost?: number): DurableEvent {
  const more = cost === undefined ? {} : { cost };
  const [event] = logOf(["agent_trace", { at, model, usage: usage(input), ...more }]);
  if (!event) throw new Error("no event");
  return event;
}

function totals(...events: DurableEvent[]): UsageTotals {
  return events.reduce(applyUsage, []);
}

describe("what a session has used", () => {
  it("[LOG-82] is summed by day and model, with its costs", () => {
    const sums = totals(
      call(NOON, "a", 10, 5),
      call(NOON, "b", 100),
      call(NOON + 1, "a", 20, 7),
      call(NOON + DAY, "a", 1_000, 1),
    );
    expect(sums).toHaveLength(3);
    expect(sums).toEqual(
      expect.arrayContaining([
        {
          day: "2026-03-10",
          model: "a",
          usage: { input: 30, output: 2, cachedInput: 4, reasoning: 6 },
          cost: 12,
        },
        { day: "2026-03-10", model: "b", usage: usage(100), cost: 0 },
        { day: "2026-03-11", model: "a", usage: usage(1_000), cost: 1 },
      ]),
    );
  });

  it("[LOG-82] belongs to the day of UTC at which each call ended, also around midnight", () => {
    const midnight = Date.parse("2026-03-11T00:00:00Z");
    const days = totals(call(midnight - 1, "a", 1), call(midnight, "a", 2)).map(({ day, usage: used }) => [
      day,
      used.input,
    ]);
    expect(days).toEqual([
      ["2026-03-10", 1],
      ["2026-03-11", 2],
    ]);
  });

  it("[LOG-82] is kept for the last three days once a new turn begins, and through any turn, however long", () => {
    const events = Array.from({ length: 60 }, (_, index) =>
      call(NOON + (index * DAY) / 6, `m${index % 2}`, 1),
    );
    const days = (sums: UsageTotals): string[] => [...new Set(sums.map(({ day }) => day))].sort();
    expect(days(totals(...events))).toHaveLength(11);
    const [input] = logOf(["input", {}]);
    if (!input) throw new Error("no event");
    expect(days(totals(...events, input))).toEqual(["2026-03-18", "2026-03-19", "2026-03-20"]);
  });

  it("[LOG-82] counts model calls of this session and nothing else", () => {
    const before = totals(call(NOON, "a", 10));
    const others = logOf(["input"], ["output"], ["tool_result"], ["agent_stop"]);
    const forwarded = { ...call(NOON, "a", 10), agentId: "helper" };
    expect([...others, forwarded].reduce(applyUsage, before)).toBe(before);
  });

  it("[LOG-78] is added to its day again when the clock goes back", () => {
    const sums = totals(call(NOON, "a", 1), call(NOON + DAY, "a", 2), call(NOON, "a", 4));
    expect(Object.fromEntries(sums.map(({ day, usage: used }) => [day, used.input]))).toEqual({
      "2026-03-10": 5,
      "2026-03-11": 2,
    });
  });
});
