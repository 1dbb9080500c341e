import { expect, it } from "vitest";
import { marker, sendTimes } from "../../../bench/markers.ts";
import { parseScript, scriptName, textScript } from "../../../bench/model-script.ts";
import { quantile, spreadOf } from "../../../bench/statistics.ts";
import { textFigures, wholeMs } from "../../../bench/turn-figures.ts";

const dialect = {
  deltaText: (frame: string): string | null => (JSON.parse(frame) as { d?: string }).d ?? null,
};

function frame(at: number, content: object): { at: number; text: string } {
  return { at, text: JSON.stringify(content) };
}

it("[BENCH-1] takes the middle of the runs, between two where there is none", () => {
  expect(spreadOf([5, 1, 9])).toEqual({ median: 5, min: 1, max: 9 });
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([7], 0.99)).toBe(7);
  expect(() => spreadOf([])).toThrow(RangeError);
});

it("[BENCH-2] finds the sending time of every delta, however they were joined on the way", () => {
  const text = [12, 3_456_789, 99].map(marker).join("");
  expect(sendTimes(text, 0)).toEqual([12, 3_456_789, 99]);
  expect(sendTimes(text, 2)).toEqual([99]);
  expect(sendTimes(text.slice(0, -1), 0)).toEqual([12, 3_456_789]);
  expect(sendTimes("", 0)).toEqual([]);
});

it("[BENCH-2] measures from a delta's sending to its arrival, and counts bytes of what carried it", () => {
  const joined = frame(12_000, { d: marker(8_000) + marker(9_000) });
  const frames = [
    frame(500, { type: "start" }),
    frame(5_000, { d: marker(4_000) }),
    joined,
    frame(20_000, { type: "done" }),
  ];
  const figures = textFigures({ promptedAt: 1_000, frames }, dialect);
  expect(figures).toMatchObject({ deltas: 3, frames: 2, firstMs: 4, p50Ms: 3 });
  expect(figures.perSecond).toBeCloseTo(3 / 0.008);
  expect(figures.bytesPerDelta).toBeCloseTo((22 + 36) / 3);
  expect(figures.allBytesPerDelta).toBeGreaterThan(figures.bytesPerDelta);
  expect(wholeMs({ promptedAt: 1_000, frames })).toBe(19);
});

it("[BENCH-2] does not make figures of a turn without deltas", () => {
  const frames = [frame(1, { type: "done" })];
  expect(() => textFigures({ promptedAt: 0, frames }, dialect)).toThrow(RangeError);
});

it("[BENCH-3] a model's name says what it answers", () => {
  for (const script of [
    textScript(2_000),
    textScript(200, 1, 5),
    { kind: "steps", steps: 20, calls: 5, tool: "read_file" } as const,
  ]) {
    expect(parseScript(scriptName(script))).toEqual(script);
  }
  for (const name of ["", "gpt-4", "text-1-2", "steps-1-2-", "text-x-1-1"]) {
    expect(() => parseScript(name)).toThrow(name);
  }
});
