import { expect, it } from "vitest";
import { turnSpans } from "../../../src/runtime/trace/turn-spans.ts";
import { waterfallOf } from "../../../web/trace-rows.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";

const session = { id: "s", logId: "00000000-0000-0000-0000-000000000000", agent: "helper", agentVersion: 2 };
const usage = { input: 30, output: 7, cachedInput: 10, reasoning: 0 };
const LINES: readonly Line[] = [
  ["input", { at: 1_000 }],
  ["tool_calls", { at: 1_500, step: 1 }],
  [
    "agent_trace",
    {
      at: 1_500,
      step: 1,
      model: "openai/x",
      usage,
      startedAt: 1_010,
      firstTokenAt: 1_210,
      endedAt: 1_500,
      cost: 42,
    },
  ],
  ["tool_call_start", { at: 1_500, step: 1 }],
  ["tool_result", { at: 1_750, step: 1, isError: true, code: "timeout" }],
  ["approval_request", { at: 1_800, step: 1 }],
];
const spans = (...more: readonly Line[]) => turnSpans(session, 1, logOf(...LINES, ...more));

it("[WEB-26] a turn's spans become lines with times, tokens, cost and failures", () => {
  const { rows, length } = waterfallOf(
    spans(["approval_resolved", { at: 1_900 }], ["agent_stop", { at: 2_000, usage }]),
  );
  expect(length).toBe(1_000);
  expect(
    rows.map(({ kind, label, start, duration, tokens, cost, failure }) => [
      kind,
      label,
      start,
      duration,
      tokens && [tokens.input, tokens.output],
      cost,
      failure,
    ]),
  ).toEqual([
    ["turn", "Turn 1", 0, 1_000, [30, 7], 42, null],
    ["model", "openai/x", 10, 490, [30, 7], 42, null],
    ["tool", "read_file", 500, 250, null, null, "timeout"],
    ["wait", "Approval", 800, 100, null, null, null],
  ]);
  expect(rows[1]?.firstPiece).toBe(200);
  expect(rows[1]?.details).toContainEqual({ name: "Attempt", value: "1" });
});

it("[WEB-26] what still goes on has no end, and the cost that nobody knows is not told", () => {
  const { rows, length } = waterfallOf(spans());
  expect(rows.filter(({ duration }) => duration === null).map(({ kind }) => kind)).toEqual(["turn", "wait"]);
  expect(length).toBe(960);
  expect(waterfallOf([])).toEqual({ rows: [], length: 0 });
  const [turn] = waterfallOf(turnSpans(session, 1, logOf(["input"], ["agent_stop"]))).rows;
  expect(turn).toMatchObject({ cost: null, duration: 1 });
});
