import { beforeEach, describe, expect, it } from "vitest";
import { DeltaBuffer } from "../../../src/durable/delta-buffer.ts";
import type { LiveEvent } from "../../../src/runtime/protocol/live-events.ts";
import { FakeTime } from "../support/fake-time.ts";

type Delta = LiveEvent<"text_delta" | "thought_delta" | "tool_args_delta">;

const WINDOW = 4;
let time: FakeTime;
/** How far the wall clock is ahead of the timers. */
let ahead: number;
let window: number;
let sent: Delta[];
let buffer: DeltaBuffer;

beforeEach(() => {
  time = new FakeTime();
  ahead = 0;
  window = WINDOW;
  sent = [];
  buffer = new DeltaBuffer(
    (delta) => sent.push(delta),
    time,
    () => time.clock() + ahead,
    () => window,
  );
});

/** A piece of the text that is streamed, where it begins. */
function delta(offset: number, text: string, more: Partial<LiveEvent<"text_delta">> = {}): Delta {
  return { type: "text_delta", turn: 1, step: 1, attempt: 1, block: 0, offset, text, ...more };
}

describe("deltas that come fast", () => {
  it("[WIRE-76] go out at once when nothing is pending", async () => {
    for (let offset = 0; offset < 3; offset += 1) {
      buffer.push(delta(offset, "x"));
      expect(sent).toHaveLength(offset + 1);
      await time.pass(WINDOW);
    }
    expect(sent).toEqual([delta(0, "x"), delta(1, "x"), delta(2, "x")]);
  });

  it("[WIRE-76] are joined within the window, in one frame per block that begins where the first did", async () => {
    buffer.push(delta(0, "a"));
    buffer.push(delta(1, "b"));
    buffer.push(delta(2, "cd"));
    buffer.push(delta(4, "e"));
    expect(sent).toEqual([delta(0, "a")]);
    await time.pass(WINDOW - 1);
    expect(sent).toHaveLength(1);
    await time.pass(1);
    expect(sent).toEqual([delta(0, "a"), delta(1, "bcde")]);
  });

  it("[WIRE-76] are sent window by window while they come, and no timer is left when they stop", async () => {
    const text = Array.from({ length: 100 }, (_, index) => String.fromCodePoint(0x100 + index));
    for (const [offset, unit] of text.entries()) {
      buffer.push(delta(offset, unit));
      await time.pass(1);
    }
    await time.pass(2 * WINDOW);
    expect(sent.map((one) => one.text).join("")).toBe(text.join(""));
    let end = 0;
    for (const one of sent) {
      expect(one.offset).toBe(end);
      end += one.text.length;
    }
    expect(sent.length).toBeLessThanOrEqual(100 / WINDOW + 1);
    expect(time.pending).toBe(0);
  });

  it("[WIRE-76] are joined within the window as it is when they come", async () => {
    buffer.push(delta(0, "a"));
    window = 3 * WINDOW;
    await time.pass(2 * WINDOW);
    buffer.push(delta(1, "b"));
    await time.pass(WINDOW - 1);
    buffer.push(delta(2, "c"));
    expect(sent).toEqual([delta(0, "a")]);
    await time.pass(1);
    expect(sent).toEqual([delta(0, "a"), delta(1, "bc")]);
  });

  it.each([
    ["block", { block: 1 }],
    ["attempt", { attempt: 2 }],
    ["step", { step: 2 }],
    ["turn", { turn: 2 }],
  ])("[WIRE-76] of another %s are never joined", async (_, other) => {
    buffer.push(delta(0, "first"));
    buffer.push(delta(5, "a"));
    buffer.push(delta(0, "b", other));
    buffer.push(delta(6, "c"));
    await time.pass(WINDOW);
    expect(sent).toEqual([delta(0, "first"), delta(5, "a"), delta(0, "b", other), delta(6, "c")]);
  });

  it("[WIRE-76] of another kind are never joined", async () => {
    const thought: Delta = { ...delta(0, "b"), type: "thought_delta" };
    buffer.push(delta(0, "first"));
    buffer.push(delta(5, "a"));
    buffer.push(thought);
    await time.pass(WINDOW);
    expect(sent).toEqual([delta(0, "first"), delta(5, "a"), thought]);
  });

  it("[WIRE-76] are sent before whatever is told next, and once", async () => {
    buffer.push(delta(0, "a"));
    buffer.push(delta(1, "b"));
    buffer.flush();
    expect(sent).toEqual([delta(0, "a"), delta(1, "b")]);
    await time.pass(10 * WINDOW);
    buffer.flush();
    expect(sent).toHaveLength(2);
  });

  it("[LOG-78] are late by no more than the window when the clock goes back", async () => {
    buffer.push(delta(0, "a"));
    ahead = -86_400_000;
    buffer.push(delta(1, "b"));
    await time.pass(WINDOW);
    expect(sent).toEqual([delta(0, "a"), delta(1, "b")]);
    await time.pass(WINDOW);
    buffer.push(delta(2, "c"));
    expect(sent).toHaveLength(3);
  });
});
