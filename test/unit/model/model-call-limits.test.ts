import { describe, expect, it } from "vitest";
import type { ModelCallEvent } from "../../../src/runtime/model/model-call.ts";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import type { ModelDelta, ModelProvider } from "../../../src/runtime/model/model-provider.ts";
import { createScriptedProvider } from "../../../src/runtime/model/scripted-provider.ts";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import { settled } from "../support/fake-time.ts";
import type { FakeTime } from "../support/fake-time.ts";
import { RunningCall, scripted, START, startCall } from "./running-call.ts";

describe("[MODEL-22] time limits", () => {
  const once = { limits: { ...DEFAULT_LIMITS, modelTries: 1 } };

  it("[MODEL-22] the first delta has to come in time", async () => {
    const call = new RunningCall(scripted({ end: "hang" }), once);
    await call.time.pass(59_999);
    expect(call.types).toEqual(["attempt_start"]);
    await call.time.pass(1);
    expect(call.last).toMatchObject({
      type: "failed",
      error: { code: "model_timeout" },
      endedAt: START + 60_000,
    });
    expect(call.time.pending).toBe(0);
  });

  it("[MODEL-22] keep-alives do not stand for the first delta", async () => {
    const call = new RunningCall((time) => aliveEvery(time, 1_000), once);
    await call.time.pass(60_000);
    expect(call.last).toMatchObject({
      type: "failed",
      error: { code: "model_timeout" },
      endedAt: START + 60_000,
    });
  });

  it("[MODEL-22] a clock that is set back makes no wait longer than the limit", async () => {
    let back = 0;
    let now = (): number => START;
    const hanging = scripted({ text: ["a", "b"], delayMs: 1_000, end: "hang" });
    const call = new RunningCall(
      (time) => {
        now = time.clock;
        return hanging(time);
      },
      { ...once, clock: () => now() - back },
    );
    await call.time.pass(2_000);
    back = 3_600_000;
    await call.time.pass(2 * 60_000);
    expect(call.last).toMatchObject({ type: "failed", error: { code: "model_timeout" } });
  });

  it("[MODEL-22] after it every delta has to come in time", async () => {
    const call = new RunningCall(scripted({ text: ["a", "b", "c"], delayMs: 59_000, end: "hang" }), once);
    await call.time.pass(3 * 59_000 + 59_999);
    expect(call.types).toEqual(["attempt_start", "delta", "delta", "delta"]);
    await call.time.pass(1);
    expect(call.last).toMatchObject({
      type: "failed",
      error: { code: "model_timeout" },
      blocks: [{ text: "abc" }],
      endedAt: START + 3 * 59_000 + 60_000,
    });
  });

  it("[MODEL-22] keep-alives between deltas keep the stream alive, and the whole call has its own limit", async () => {
    const call = new RunningCall((time) => aliveEvery(time, 50_000, "a"), once);
    await call.time.pass(599_999);
    expect(call.types).toEqual(["attempt_start", "delta"]);
    await call.time.pass(1);
    expect(call.last).toMatchObject({
      type: "failed",
      error: { code: "model_timeout" },
      blocks: [{ text: "a" }],
    });
  });

  it("[MODEL-22] time that the reader takes between deltas does not count", async () => {
    const { events, time } = startCall(createScriptedProvider([{ text: ["a", "b"] }]), once);
    const types: string[] = [];
    for await (const event of events) {
      types.push(event.type);
      await time.pass(70_000);
    }
    expect(types).toEqual(["attempt_start", "delta", "delta", "reply"]);
  });

  it("[MODEL-22] a provider that ignores its signal does not hold the call up", async () => {
    const call = new RunningCall(scripted({ end: "hang_ignoring_abort" }, { text: "ok" }));
    await call.time.pass(62_000);
    expect(call.events).toMatchObject([{}, { error: { code: "model_timeout" } }, {}, {}, { type: "reply" }]);
  });

  it("[MODEL-22] a limit aborts the provider's signal", async () => {
    let aborted = false;
    const call = new RunningCall((_time) => ({
      id: "x",
      generate: (_request, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("gone"));
          });
        }),
    }));
    await call.time.pass(60_000);
    expect(aborted).toBe(true);
    expect(call.events[1]).toMatchObject({ error: { code: "model_timeout" } });
  });
});

describe("[MODEL-23] abort", () => {
  it.each(["hang", "hang_ignoring_abort"] as const)(
    "[MODEL-23] ends the call at once with what it has shown: %s",
    async (end) => {
      const call = new RunningCall(scripted({ thought: "hm", text: ["pa", "r"], end }));
      await settled();
      call.controller.abort();
      await call.done;
      expect(call.last).toEqual({
        type: "aborted",
        attempt: 1,
        blocks: [
          { kind: "thought", block: 0, text: "hm" },
          { kind: "text", block: 1, text: "par" },
        ],
        startedAt: START,
        firstTokenAt: START,
        endedAt: START,
      });
      expect(call.types).not.toContain("attempt_failed");
      expect(call.time.pending).toBe(0);
    },
  );

  it("[MODEL-23] before the call starts nothing", async () => {
    const provider = createScriptedProvider([{ text: "no" }]);
    const call = new RunningCall(() => provider, { signal: AbortSignal.abort() });
    await call.done;
    expect(call.types).toEqual(["aborted"]);
    expect(provider.requests).toEqual([]);
  });

  it("[MODEL-23] between two tries ends the wait, and what was withdrawn is not given back", async () => {
    const call = new RunningCall(
      scripted({ text: "par", error: new ModelError("model_error", "no") }, { text: "no" }),
    );
    await call.time.pass(100);
    call.controller.abort();
    await call.done;
    expect(call.types).toEqual(["attempt_start", "delta", "attempt_failed", "aborted"]);
    expect(call.last).toMatchObject({ attempt: 1, blocks: [], endedAt: START + 100 });
    expect(call.time.pending).toBe(0);
  });

  it("[MODEL-23] at any delta: no later delta and no reply gets through", async () => {
    const texts = ["a", "b", "c", "d"];
    for (let at = 0; at <= texts.length; at++) {
      const { events, controller } = startCall(createScriptedProvider([{ text: texts }]));
      const seen: ModelCallEvent[] = [];
      for await (const event of events) {
        seen.push(event);
        if (seen.length === at + 1) controller.abort();
      }
      expect(seen.map((event) => event.type)).toEqual([
        "attempt_start",
        ...Array(at).fill("delta"),
        "aborted",
      ]);
      const blocks = at === 0 ? [] : [{ kind: "text", block: 0, text: texts.slice(0, at).join("") }];
      expect(seen.at(-1)).toMatchObject({ blocks });
    }
  });

  it("[MODEL-23] reaches the provider at once, also while the reader is busy with a delta", async () => {
    let aborted = false;
    const { events, controller } = startCall({
      id: "x",
      async *stream(_request, signal) {
        signal.addEventListener("abort", () => (aborted = true));
        yield { type: "delta", kind: "text", block: 0, text: "a" };
        await new Promise(() => undefined);
      },
    });
    for await (const event of events) {
      if (event.type !== "delta") continue;
      controller.abort();
      expect(aborted).toBe(true);
    }
  });

  it("[MODEL-23] that overtakes a delta on its way keeps it back", async () => {
    let give: (item: IteratorResult<ModelDelta>) => void = () => undefined;
    const next = (): Promise<IteratorResult<ModelDelta>> =>
      new Promise((resolve) => {
        give = resolve;
      });
    const { events, controller } = startCall({
      id: "x",
      stream: () => ({ [Symbol.asyncIterator]: () => ({ next }) }),
    });
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of events) types.push(event.type);
    })();
    await settled();
    give({ done: false, value: { type: "delta", kind: "text", block: 0, text: "late" } });
    // Between the delta's arrival and its reader's turn.
    queueMicrotask(() => controller.abort());
    await reading;
    expect(types).toEqual(["attempt_start", "aborted"]);
  });

  it("[MODEL-23] a reader that stops reading stops the provider", async () => {
    let aborted = false;
    const { events, time } = startCall({
      id: "x",
      async *stream(_request, signal) {
        signal.addEventListener("abort", () => (aborted = true));
        yield { type: "delta", kind: "text", block: 0, text: "a" };
        await new Promise(() => undefined);
      },
    });
    for await (const event of events) if (event.type === "delta") break;
    expect(aborted).toBe(true);
    expect(time.pending).toBe(0);
  });
});

/** A provider that gives some text, then a keep-alive every so often, for ever. */
function aliveEvery(time: FakeTime, ms: number, text = ""): ModelProvider {
  return {
    id: "x",
    async *stream() {
      if (text !== "") yield { type: "delta", kind: "text", block: 0, text };
      for (;;) {
        await new Promise<void>((resolve) => time.after(ms, resolve));
        yield { type: "alive" };
      }
    },
  };
}
