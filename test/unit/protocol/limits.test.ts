import { describe, expect, it } from "vitest";
import { callIdOf, idSchema } from "../../../src/runtime/protocol/ids.ts";
import { DEFAULT_LIMITS, withLimits } from "../../../src/runtime/protocol/limits.ts";

const KiB = 1024;
const minutes = 60_000;

describe("limits", () => {
  it("are what is promised unless a deployment says otherwise", () => {
    expect(DEFAULT_LIMITS).toMatchObject({
      bodyBytes: KiB * KiB,
      frameBytes: KiB * KiB,
      promptBytes: 256 * KiB,
      waitingPrompts: 100,
      socketsPerSession: 64,
      stepsPerTurn: 50,
      parallelCalls: 10,
      toolMs: minutes,
      toolMaxMs: 15 * minutes,
      firstDeltaMs: minutes,
      betweenDeltasMs: minutes,
      modelCallMs: 10 * minutes,
      modelTries: 4,
      retryBaseMs: 500,
      retryCapMs: 8_000,
      retryAfterInPlaceMs: minutes,
      wakesWithoutProgress: 5,
      stopGraceMs: 2_000,
      requestMs: 30 * 24 * 60 * minutes,
      argumentBytes: 256 * KiB,
      inlineStringBytes: 64 * KiB,
      syncBytes: KiB * KiB,
      replayPauseBytes: 4 * KiB * KiB,
      socketCloseBytes: 8 * KiB * KiB,
      replayPageBytes: 256 * KiB,
      keepAliveMs: 15_000,
      runningTurns: 100,
      promptsPerMinute: 600,
      sessions: 100_000,
    });
  });

  it("are positive numbers, whole ones", () => {
    const odd = Object.entries(DEFAULT_LIMITS).filter(
      ([, value]) => !Number.isSafeInteger(value) || value <= 0,
    );
    expect(odd).toEqual([]);
  });

  it("can be replaced one by one", () => {
    expect(withLimits({ stepsPerTurn: 3 })).toEqual({ ...DEFAULT_LIMITS, stepsPerTurn: 3 });
    expect(withLimits()).toEqual(DEFAULT_LIMITS);
  });

  it("keep what a log row must hold below what storage refuses", () => {
    expect(DEFAULT_LIMITS.logRowBytes).toBeLessThan(2_000_000);
    expect(DEFAULT_LIMITS.syncBytes).toBeLessThan(DEFAULT_LIMITS.replayPauseBytes);
    expect(DEFAULT_LIMITS.replayPauseBytes).toBeLessThan(DEFAULT_LIMITS.socketCloseBytes);
  });
});

describe("ids", () => {
  it.each(["a", "A-9_z", "0", "x".repeat(64), "__proto__", "constructor"])("may be %s", (id) => {
    expect(idSchema.parse(id)).toBe(id);
  });

  it.each([
    "",
    "x".repeat(65),
    "a b",
    "a/b",
    "../a",
    "a.b",
    "a:b",
    "ä",
    "a\n",
    "a\u0000",
    "%2e",
    5,
    null,
    ["a"],
  ])("may not be %j", (id) => {
    expect(idSchema.safeParse(id).success).toBe(false);
  });

  it("of calls differ by turn, step and place", () => {
    const ids = [1, 2, 11].flatMap((turn) =>
      [1, 11].flatMap((step) => [0, 1].map((place) => callIdOf(turn, step, place))),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => idSchema.safeParse(id).success)).toBe(true);
  });
});
