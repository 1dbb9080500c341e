import { describe, expect, it } from "vitest";
import type { ModelPace } from "../../../src/runtime/model/model-call.ts";
import { Harness } from "../support/agent-harness.ts";
import { settled } from "../support/fake-time.ts";

/** A pace that holds each call back for so long, and what was given back. */
function paceOf(h: () => Harness, delayMs: number): { pace: ModelPace; back: number[] } {
  const back: number[] = [];
  return {
    back,
    pace: {
      reserve: async () => h().time.clock() + delayMs,
      giveBack: (_, at) => void back.push(at),
    },
  };
}

describe("[MODEL-52] an attempt that is held back", () => {
  it("[MODEL-52] begins at its time, and clients are told why it waits", async () => {
    const { pace, back } = paceOf(() => h, 5_000);
    const h: Harness = new Harness([{ text: "hi" }], { pace });
    const begun = h.time.clock();
    await h.start("go");
    expect(h.model.requests).toHaveLength(0);
    expect(h.last("diagnostic")).toMatchObject({
      level: "info",
      code: "rate_limit_wait",
      data: { delayMs: 5_000, model: "scripted/model" },
    });
    await h.finish();
    expect(h.last("agent_trace").startedAt).toBe(begun + 5_000);
    expect(h.last("agent_stop").reason).toBe("stop");
    expect(back).toEqual([]);
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-52] ends at once when the turn is stopped, and its place is given back", async () => {
    const { pace, back } = paceOf(() => h, 5_000);
    const h: Harness = new Harness([{ text: "hi" }], { pace });
    await h.start("go");
    const at = h.time.clock() + 5_000;
    await h.agent.interrupt("enough");
    await settled();
    expect(h.last("agent_stop").reason).toBe("aborted");
    expect([back, h.model.requests.length]).toEqual([[at], 0]);
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-52] is parked when the wait is too long to be kept, and its place is given back", async () => {
    let delayMs = 600_000;
    const back: number[] = [];
    const parked: number[] = [];
    const h: Harness = new Harness([{ text: "hi" }], {
      pace: {
        reserve: async () => h.time.clock() + delayMs,
        giveBack: (_, at) => void back.push(at),
      },
      park: (retryAt) => void parked.push(retryAt),
    });
    await h.start("go");
    expect(parked).toEqual(back);
    expect(h.agent.getState().status).toBe("waiting");
    delayMs = 0;
    await h.time.pass(600_000);
    h.agent.resume(1, 0);
    await h.finish();
    expect(h.last("agent_stop").reason).toBe("stop");
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-52] goes on when nobody answers that counts", async () => {
    const pace: ModelPace = {
      reserve: () => Promise.reject(new Error("gone")),
      giveBack: () => undefined,
    };
    const h = new Harness([{ text: "hi" }], { pace });
    await h.start("go");
    await h.finish();
    expect(h.last("agent_stop").reason).toBe("stop");
    expect(h.violations()).toEqual([]);
  });
});
