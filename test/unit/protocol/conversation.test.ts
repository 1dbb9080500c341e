import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inForce } from "../../../src/runtime/protocol/conversation.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../../src/runtime/protocol/log-grammar.ts";
import { toModelMessages } from "../../../src/runtime/protocol/model-messages.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";
import { corruptLogs, cutLogs, wellFormedLogs } from "../support/log-generator.ts";

/** The rule as it is written: after a restore the conversation is fold(log up to toSeq), recursively. */
function conversationOf(log: readonly DurableEvent[]): DurableEvent[] {
  const at: DurableEvent[][] = [[]];
  log.forEach((event, index) => {
    const before = at[index] ?? [];
    if (event.agentId !== undefined) at.push(before);
    else if (event.type === "checkpoint_restore" && event.conversation) at.push(at[event.toSeq] ?? []);
    else at.push([...before, event]);
  });
  return at.at(-1) ?? [];
}

/** One whole turn of four events that answers with its own name. */
function turn(number: number): Line[] {
  const text = `answer ${number}`;
  return [
    ["input", { turn: number, promptId: `p${number}` }],
    ["output", { turn: number, step: 1, text }],
    ["agent_trace", { turn: number, step: 1 }],
    ["agent_stop", { turn: number, step: 1, promptIds: [`p${number}`] }],
  ];
}

function answers(log: readonly DurableEvent[]): string[] {
  expect(checkLog(log)).toEqual([]);
  return inForce(log).events.flatMap((event) => (event.type === "output" ? [event.text] : []));
}

const restore = (toSeq: number, more: Record<string, unknown> = {}): Line => [
  "checkpoint_restore",
  { turn: 2, step: 1, toSeq, ...more },
];

describe("restores", () => {
  const two = [...turn(1), ...turn(2)];

  it("[LOG-9] take back what came after a checkpoint", () => {
    expect(answers(logOf(...two))).toEqual(["answer 1", "answer 2"]);
    expect(answers(logOf(...two, restore(4)))).toEqual(["answer 1"]);
    expect(answers(logOf(...two, restore(0)))).toEqual([]);
    expect(answers(logOf(...two, restore(4), ...turn(3)))).toEqual(["answer 1", "answer 3"]);
  });

  it("[LOG-9] into a skipped span bring that span back", () => {
    expect(answers(logOf(...two, restore(4), ...turn(3), restore(8, { turn: 3 })))).toEqual([
      "answer 1",
      "answer 2",
    ]);
    expect(answers(logOf(...two, restore(0), restore(8)))).toEqual(["answer 1", "answer 2"]);
  });

  it("[LOG-9] to a turn that came after an earlier restore lead to what was in force then", () => {
    // Turn 3 ends at seq 13; it followed turn 1 alone.
    const log = logOf(...two, restore(4), ...turn(3), ...turn(4), restore(13, { turn: 4 }));
    expect(answers(log)).toEqual(["answer 1", "answer 3"]);
  });

  it("of files alone leave the conversation alone", () => {
    expect(answers(logOf(...two, restore(4, { conversation: false, files: true })))).toEqual([
      "answer 1",
      "answer 2",
    ]);
  });

  it("[LOG-9] agree with the recursive rule on every log", () => {
    fc.assert(
      fc.property(cutLogs, (log) => {
        const expected = conversationOf(log);
        const summary = expected.findLast((event) => event.type === "agent_summary") ?? null;
        const after = expected.filter(
          (event) => event.type !== "agent_summary" && event.seq > (summary?.throughSeq ?? 0),
        );
        expect(inForce(log)).toEqual({ summary, events: after });
      }),
      { numRuns: 1_000 },
    );
  });

  it("[LOG-9] are often nested in the logs that prove this", () => {
    const nested = fc.sample(wellFormedLogs, { numRuns: 500, seed: 7 }).filter((log) => {
      const restores = log.filter((event) => event.type === "checkpoint_restore" && event.conversation);
      return restores.some(
        (later) =>
          later.type === "checkpoint_restore" &&
          restores.some(
            (earlier) =>
              earlier.type === "checkpoint_restore" &&
              earlier.toSeq < later.toSeq &&
              later.toSeq < earlier.seq,
          ),
      );
    });
    expect(nested.length).toBeGreaterThan(10);
  });
});

describe("summaries", () => {
  const summary = (more: Record<string, unknown>): Line => [
    "agent_summary",
    { turn: 1, step: 1, text: "sum", ...more },
  ];

  it("[LOG-10] stand for everything up to their throughSeq, and the latest stands for all before", () => {
    const once = logOf(...turn(1), summary({ throughSeq: 4 }), ...turn(2));
    expect(answers(once)).toEqual(["answer 2"]);
    expect(toModelMessages(once)[0]).toMatchObject({
      role: "user",
      content: [{ text: expect.stringContaining("sum") }],
    });
    const twice = logOf(
      ...turn(1),
      summary({ throughSeq: 4 }),
      ...turn(2),
      summary({ turn: 2, throughSeq: 9, text: "more" }),
    );
    expect(answers(twice)).toEqual([]);
    expect(toModelMessages(twice)).toMatchObject([{ content: [{ text: expect.stringContaining("more") }] }]);
  });

  it("[LOG-10] keep what came between their throughSeq and themselves", () => {
    const log = logOf(...turn(1), ...turn(2), summary({ turn: 2, throughSeq: 4 }));
    expect(answers(log)).toEqual(["answer 2"]);
  });

  it("[LOG-10] are taken back by a restore to before them, and come back with their span", () => {
    const log = [...turn(1), ...turn(2), summary({ turn: 2, throughSeq: 8 }), ...turn(3)];
    expect(answers(logOf(...log, restore(4, { turn: 3 })))).toEqual(["answer 1"]);
    expect(inForce(logOf(...log, restore(4, { turn: 3 }))).summary).toBeNull();
    const back = logOf(...log, restore(4, { turn: 3 }), restore(13, { turn: 3 }));
    expect(inForce(back).summary?.throughSeq).toBe(8);
    expect(answers(back)).toEqual(["answer 3"]);
  });
});

describe("the cost", () => {
  it("reads each event of a log a bounded number of times, however often it was restored", () => {
    let reads = 0;
    const lines: Line[] = [];
    for (let number = 1; number <= 300; number += 1)
      lines.push(...turn(number), restore(lines.length + 4, { turn: number }));
    const log = logOf(...lines).map(
      (event) => new Proxy(event, { get: (target, key) => ((reads += 1), Reflect.get(target, key)) }),
    );
    inForce(log);
    expect(reads).toBeLessThan(log.length * 12);
  });

  it("[LOG-2] never throws on a corrupt log", () => {
    fc.assert(
      fc.property(corruptLogs, (log) => void inForce(log)),
      { numRuns: 500 },
    );
  });
});
