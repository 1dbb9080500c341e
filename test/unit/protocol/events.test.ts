import { describe, expect, it } from "vitest";
import * as z from "zod";
import { durablePayloads } from "../../../src/runtime/protocol/durable-events.ts";
import type { DurableType } from "../../../src/runtime/protocol/durable-events.ts";
import {
  EVENT_TABLE,
  durableSchema,
  isDurable,
  isEventType,
  liveSchema,
} from "../../../src/runtime/protocol/events.ts";
import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import { livePayloads } from "../../../src/runtime/protocol/live-events.ts";
import type { LiveType } from "../../../src/runtime/protocol/live-events.ts";
import { DURABLE_EXAMPLES, LIVE_EXAMPLES } from "../support/event-examples.ts";

const DURABLE = [
  "input",
  "steer",
  "prompt_dropped",
  "interrupt",
  "thought",
  "output",
  "tool_calls",
  "agent_trace",
  "approval_request",
  "approval_resolved",
  "permission_decision",
  "input_request",
  "input_resolved",
  "tool_call_start",
  "tool_result",
  "tool_recovered",
  "agent_summary",
  "background_completed",
  "checkpoint_restore",
  "error",
  "agent_stop",
];
const LIVE = [
  "turn_start",
  "step_start",
  "model_call_start",
  "text_delta",
  "thought_delta",
  "tool_args_delta",
  "attempt_reset",
  "model_call_end",
  "message",
  "tool_use",
  "tool_progress",
  "tool_call_end",
  "compaction",
  "checkpoint_restore_progress",
  "context_status",
  "queue",
  "error",
  "diagnostic",
  "custom",
  "step_end",
  "done",
];
const ON_REQUEST = ["message", "tool_use", "done", "tool_args_delta", "context_status"];

describe("the table of events", () => {
  it("[LOG-12] says of each type whether it is durable, live or both, and whether everybody gets it", () => {
    const rows = [...EVENT_TABLE];
    const typesWhere = (holds: (row: (typeof rows)[number][1]) => boolean): string[] =>
      rows
        .filter(([, row]) => holds(row))
        .map(([type]) => type)
        .sort();
    expect(typesWhere(({ durable }) => durable)).toEqual([...DURABLE].sort());
    expect(typesWhere(({ live }) => live)).toEqual([...LIVE].sort());
    expect(typesWhere((row) => !row.default)).toEqual([...ON_REQUEST].sort());
  });

  it("knows its types, and no name that every object has", () => {
    expect([...DURABLE, ...LIVE].every(isEventType)).toBe(true);
    expect(["turn_end", "constructor", "__proto__", "toString", ""].some(isEventType)).toBe(false);
  });

  it("shares no name with the frames that are no events", () => {
    expect(["hello", "events", "live", "ack", "nack", "sync"].some(isEventType)).toBe(false);
  });

  it("tells the two kinds of `error` apart", () => {
    const live = { type: "error", turn: 1, step: 1, ...LIVE_EXAMPLES.error } as AgentEvent;
    const durable = {
      seq: 1,
      at: 1,
      type: "error",
      turn: 1,
      step: 1,
      ...DURABLE_EXAMPLES.error,
    } as AgentEvent;
    expect([isDurable(live), isDurable(durable)]).toEqual([false, true]);
  });
});

/** A value of another kind than the one given. */
function wrong(value: unknown): unknown {
  if (typeof value === "string") return 5;
  if (typeof value === "number") return "5";
  if (typeof value === "boolean") return "true";
  return Array.isArray(value) ? { 0: value } : [value];
}

describe.each([
  ...DURABLE.map((type) => ({
    name: `durable ${type}`,
    fields: durablePayloads[type as DurableType].shape as Record<string, unknown>,
    schema: durableSchema(type as DurableType),
    example: { seq: 1, at: 1, turn: 1, step: 1, type, ...DURABLE_EXAMPLES[type as DurableType] } as Record<
      string,
      unknown
    >,
  })),
  ...LIVE.map((type) => ({
    name: `live ${type}`,
    fields: livePayloads[type as LiveType].shape as Record<string, unknown>,
    schema: liveSchema(type as LiveType),
    example: { turn: 1, step: 1, type, ...LIVE_EXAMPLES[type as LiveType] } as Record<string, unknown>,
  })),
])("the schema of $name", ({ fields, schema, example }) => {
  const names = Object.keys(fields);
  const envelope = Object.keys(example).filter((name) => !names.includes(name));

  it("[LOG-12] takes the documented form, with and without what is optional", () => {
    expect(names.filter((name) => !(name in example))).toEqual([]);
    expect(schema.parse(example)).toEqual(example);
    expect(schema.parse({ ...example, agentId: "helper" })).toEqual({ ...example, agentId: "helper" });
    const required = names.filter((name) => !(fields[name] instanceof z.ZodOptional));
    const least = Object.fromEntries([...envelope, ...required].map((name) => [name, example[name]]));
    expect(schema.parse(least)).toEqual(least);
  });

  it("[LOG-12] refuses a missing or wrong field", () => {
    for (const name of [...envelope, ...names]) {
      if (fields[name] instanceof z.ZodUnknown) continue;
      const damaged = { ...example, [name]: wrong(example[name]) };
      expect({ name, ok: schema.safeParse(damaged).success }).toEqual({ name, ok: false });
      if (fields[name] instanceof z.ZodOptional) continue;
      const { [name]: _missing, ...rest } = example;
      expect({ name, ok: schema.safeParse(rest).success }).toEqual({ name, ok: false });
    }
  });

  it("reads what newer code wrote: fields that it does not know do not disturb", () => {
    expect(schema.parse({ ...example, ofTheFuture: 1 })).toEqual(example);
  });
});

describe("payloads", () => {
  const refuses = (type: DurableType, more: Record<string, unknown>): boolean =>
    !durableSchema(type).safeParse({
      seq: 1,
      at: 1,
      turn: 1,
      step: 1,
      type,
      ...DURABLE_EXAMPLES[type],
      ...more,
    }).success;

  it("take counts from 0 on, and whole ones", () => {
    expect([-1, 0.5, Number.NaN, 2 ** 60].map((attempt) => refuses("output", { attempt }))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(refuses("output", { attempt: 0 })).toBe(false);
    expect([0, -1, 1.5].map((seq) => refuses("output", { seq }))).toEqual([true, true, true]);
  });

  it.each([
    ["input", { source: "robot" }],
    ["input", { content: [] }],
    ["input", { by: { kind: "root", id: "x" } }],
    ["steer", { mode: "queue" }],
    ["prompt_dropped", { reason: "lost" }],
    ["tool_calls", { calls: [{ id: "a", name: "x", args: [] }] }],
    ["tool_calls", { calls: [{ id: "a", name: "x", args: "{}" }] }],
    ["agent_trace", { finishReason: "end_turn" }],
    ["approval_resolved", { decision: "yes" }],
    ["permission_decision", { decision: "ask" }],
    ["tool_recovered", { outcome: "lost" }],
    ["agent_summary", { kind: "micro" }],
    ["error", { fatal: false }],
    ["agent_stop", { reason: "max_turns" }],
    ["agent_stop", { cause: "llm" }],
  ] as const)("[LOG-12] of %s refuse %j", (type, more) => {
    expect(refuses(type, more)).toBe(true);
  });
});
