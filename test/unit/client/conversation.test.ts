import fc from "fast-check";
import { expect, it } from "vitest";
import { blockKey, foldConversation } from "../../../client/conversation.ts";
import type { Entry, Turn } from "../../../client/conversation.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";
import { wellFormedLogs } from "../support/log-generator.ts";

const fold = (...lines: readonly Line[]): readonly Turn[] => foldConversation([], logOf(...lines));
const entriesOf = (turns: readonly Turn[]): readonly Entry[] => turns.flatMap(({ entries }) => entries);

it("[WEB-15] any log folds to the same conversation however it is cut into parts", () => {
  fc.assert(
    fc.property(wellFormedLogs, fc.array(fc.nat({ max: 40 }), { maxLength: 8 }), (log, cuts) => {
      const parts: DurableEvent[][] = [];
      let rest = log;
      for (const cut of cuts) {
        parts.push(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
      const piecewise = [...parts, rest].reduce(foldConversation, [] as readonly Turn[]);
      expect(piecewise).toEqual(foldConversation([], log));
      const keys = entriesOf(piecewise).map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
    }),
    { numRuns: 200 },
  );
});

it("[WEB-15] an event changes the last turn and leaves the others as they are", () => {
  const turns = fold(["input"], ["agent_stop"], ["input", { turn: 2 }]);
  const more = foldConversation(turns, [
    { ...logOf(["output", { turn: 2, step: 1 }])[0], seq: 4 } as DurableEvent,
  ]);
  expect(more[0]).toBe(turns[0]);
  expect(more[1]).not.toBe(turns[1]);
  expect(turns[1]?.entries).toHaveLength(1);
  expect(foldConversation(more, [])).toBe(more);
});

it("[WEB-15] a turn runs from its input to its agent_stop", () => {
  expect(fold(["input"], ["output"]).map(({ running }) => running)).toEqual([true]);
  expect(fold(["input"], ["agent_stop"], ["prompt_dropped"]).map(({ running }) => running)).toEqual([false]);
});

it("[WEB-15] a call shows how far it has come", () => {
  const call = { id: "a", name: "ask_user", args: {} };
  const steps: readonly (readonly [Line, string])[] = [
    [["tool_calls", { calls: [call] }], "waiting"],
    [["approval_request"], "asking"],
    [["approval_resolved"], "waiting"],
    [["tool_call_start"], "running"],
    [["input_request"], "asking"],
    [["input_resolved"], "running"],
    [["tool_recovered"], "running"],
    [["tool_result", { isError: true, code: "timeout" }], "failed"],
  ];
  steps.forEach(([, status], index) => {
    const entries = entriesOf(fold(["input"], ...steps.slice(0, index + 1).map(([line]) => line)));
    expect(entries.at(-1)).toMatchObject({ kind: "call", call, status });
  });
  expect(entriesOf(fold(["input"], ["tool_calls"], ["tool_result"])).at(-1)).toMatchObject({
    status: "done",
    result: { content: "text" },
  });
});

it("[WEB-15] a block of text keeps its key when it comes into the log", () => {
  const place = { turn: 1, step: 2, attempt: 3, block: 4 };
  const [, output] = entriesOf(fold(["input"], ["output", { ...place, interrupted: true }]));
  expect(output).toEqual({ key: blockKey(place), kind: "output", text: "yes", interrupted: true });
});

it("[WEB-15] what a sub-agent forwarded, and what nobody knows, is left out", () => {
  const forwarded = logOf(["input"], ["output", { agentId: "helper" }]);
  const unknown = { seq: 3, at: 1, turn: 1, step: 1, type: "of_the_future" } as unknown as DurableEvent;
  expect(entriesOf(foldConversation([], [...forwarded, unknown])).map(({ kind }) => kind)).toEqual([
    "prompt",
  ]);
});

it("[WEB-15] everything else that happened has its place, in order", () => {
  const kinds = entriesOf(
    fold(
      ["input"],
      ["steer"],
      ["background_completed"],
      ["agent_summary"],
      ["thought"],
      ["output"],
      ["interrupt"],
      ["error"],
      ["agent_stop", { reason: "error" }],
      ["checkpoint_restore"],
    ),
  ).map(({ kind }) => kind);
  expect(kinds).toEqual([
    "prompt",
    "prompt",
    "background",
    "summary",
    "thought",
    "output",
    "error",
    "stop",
    "restore",
  ]);
});
