import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelRateLimiter } from "../../../src/runtime/guard/model-rate-limiter.ts";

describe("[TENANT-45] the rate limiter", () => {
  it("[TENANT-45] lets so many calls of a model begin in a minute, and gives the others their times", () => {
    let now = 1_000;
    const limiter = new ModelRateLimiter(() => now);
    const next = (): number => limiter.reserve("m", 2) - now;
    expect([next(), next(), next(), next(), next()]).toEqual([0, 0, 60_000, 60_000, 120_000]);
    expect(limiter.reserve("other", 2)).toBe(now);
    now += 60_000;
    expect(next()).toBe(60_000);
    now += 180_000;
    expect([next(), next(), next()]).toEqual([0, 0, 60_000]);
  });

  it("[TENANT-45] gives the time of a call that does not begin to the next one", () => {
    const limiter = new ModelRateLimiter(() => 0);
    const times = [1, 2, 3, 4].map(() => limiter.reserve("m", 1));
    expect(times).toEqual([0, 60_000, 120_000, 180_000]);
    limiter.giveBack("m", 180_000);
    expect(limiter.reserve("m", 1)).toBe(180_000);
    limiter.giveBack("m", 5);
    limiter.giveBack("unknown", 0);
    expect(limiter.reserve("m", 1)).toBe(240_000);
  });

  it("[TENANT-45] never lets more begin in any minute, whatever is given back, and forgets models", () => {
    const step = fc.record({ pass: fc.nat(40_000), back: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 40 }), (perMinute, steps) => {
        let now = 0;
        const limiter = new ModelRateLimiter(() => now);
        const begun: number[] = [];
        for (const { pass, back } of steps) {
          now += pass;
          const at = limiter.reserve("m", perMinute);
          expect(at).toBeGreaterThanOrEqual(now);
          if (back) limiter.giveBack("m", at);
          else begun.push(at);
        }
        begun.sort((left, right) => left - right);
        for (const [index, at] of begun.entries()) {
          const before = begun[index - perMinute];
          if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(60_000);
        }
      }),
    );
    const limiter = new ModelRateLimiter(() => 0);
    for (let model = 0; model < 2_000; model++) limiter.reserve(`m${model}`, 1);
    expect(limiter.reserve("m1999", 1)).toBe(60_000);
    expect(limiter.reserve("m0", 1)).toBe(0);
  });
});
