import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_VIEW, applyFrame } from "../../../src/runtime/protocol/session-view.ts";
import type { SessionView } from "../../../src/runtime/protocol/session-view.ts";
import { StreamRig } from "./stream-rig.ts";
import type { StreamReader } from "./stream-rig.ts";

const SMALL = { syncBytes: 600, replayPageBytes: 400 };

function viewOf({ frames }: StreamReader): SessionView {
  return frames.reduce(applyFrame, EMPTY_VIEW);
}

const types = ({ frames }: StreamReader): string[] => frames.map(({ type }) => type);

describe("an event stream", () => {
  it("[WIRE-50] is the log by pages, one `live`, then everything as it happens", async () => {
    const rig = new StreamRig(SMALL);
    for (let step = 1; step <= 5; step += 1) rig.commit(["output", { step, text: "x".repeat(100) }]);
    const reader = rig.stream();
    await reader.read();
    expect(types(reader)).toEqual([...Array.from({ length: 5 }, () => "output"), "live"]);
    expect(reader.pieces.length).toBeGreaterThan(2);
    await rig.show(6, "a");
    await reader.read();
    rig.commit(["output", { step: 6 }], ["agent_trace", { step: 6 }]);
    await reader.read();
    expect(types(reader).slice(6)).toEqual(["text_delta", "output", "agent_trace"]);
    expect(viewOf(reader).events).toEqual(rig.events);
  });

  it("[WIRE-75] holds no more than its bound for a reader who has stopped reading, and catches him up from the log", async () => {
    const rig = new StreamRig(SMALL);
    const reader = rig.stream();
    await reader.read();
    for (let step = 1; step <= 50; step += 1) {
      await rig.show(step, "shown ");
      rig.commit(["output", { step, text: "x".repeat(100) }], ["agent_trace", { step }]);
    }
    await rig.show(51, "still ");
    await rig.show(51, "open");
    await reader.read();
    // A commit that is under way when the bound is reached is the most that comes on top.
    expect(Math.max(...reader.pieces)).toBeLessThan(SMALL.syncBytes + 800);
    const view = viewOf(reader);
    expect(view).toMatchObject({ gap: false, events: rig.events });
    expect(view.blocks).toEqual([
      { turn: 1, step: 51, attempt: 1, block: 0, kind: "text", text: "still open" },
    ]);
    expect(types(reader).filter((type) => type === "live").length).toBeGreaterThan(1);
    await rig.show(51, "!");
    await reader.read();
    expect(viewOf(reader).blocks[0]?.text).toBe("still open!");
  });

  it("[WIRE-75] gives every reader the same log and text, at whatever pace each reads", async () => {
    const acts = fc.constantFrom("show", "show", "commit", "read", "read all");
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { maxLength: 60 }), async (script) => {
        const rig = new StreamRig({ syncBytes: 300, replayPageBytes: 200 });
        const slow = rig.stream();
        const steady = rig.stream();
        let step = 1;
        for (const act of script) {
          if (act === "show") await rig.show(step, "some text that is shown ");
          else if (act === "commit") rig.commit(["agent_trace", { step: step++ }]);
          else await slow.read(act === "read" ? 1 : undefined);
          await steady.read();
        }
        await slow.read();
        const { events, blocks, gap } = viewOf(slow);
        expect({ events, gap }).toEqual({ events: rig.events, gap: false });
        expect(blocks).toEqual(viewOf(steady).blocks);
      }),
      { numRuns: 60 },
    );
  });

  it("[WIRE-72] tells nothing live before the replay has reached the head", async () => {
    const rig = new StreamRig(SMALL);
    for (let step = 1; step <= 20; step += 1) rig.commit(["output", { step, text: "x".repeat(100) }]);
    const reader = rig.stream();
    await reader.read(2);
    await rig.show(21, "early");
    rig.commit(["output", { step: 21 }], ["agent_trace", { step: 21 }]);
    await rig.show(22, "open");
    await reader.read();
    expect(types(reader)).toEqual([...Array.from({ length: 21 }, () => "output"), "agent_trace", "live"]);
    expect(viewOf(reader).blocks).toMatchObject([{ step: 22, text: "open" }]);
  });

  it("[WIRE-53] sends the named types only, and goes on behind those that it leaves out", async () => {
    const rig = new StreamRig(SMALL);
    for (let step = 1; step <= 20; step += 1) rig.commit(["output", { step, text: "x".repeat(100) }]);
    const reader = rig.stream({ types: new Set(["input", "message"]) });
    await reader.read();
    await rig.show(21, "not asked for");
    rig.commit(["input", { turn: 2 }], ["output", { step: 21 }]);
    rig.tell({ type: "message", turn: 1, step: 21, text: "", calls: [] });
    await reader.read();
    expect(types(reader)).toEqual(["live", "input", "message"]);
  });

  it.each([
    ["agent_stop", { promptIds: ["other", "mine"] }],
    ["prompt_dropped", { promptId: "mine" }],
  ] as const)("[WIRE-54] ends with its prompt's outcome: %s", async (type, outcome) => {
    const rig = new StreamRig();
    const early = rig.stream({ until: "mine" });
    rig.commit(["agent_stop", { promptIds: ["p1"] }], ["prompt_dropped", { promptId: "p2" }]);
    await early.read();
    expect(early.ended).toBe(false);
    rig.commit([type, outcome], ["input", { turn: 2 }]);
    const late = rig.stream({ until: "mine" });
    for (const reader of [early, late]) {
      await reader.read();
      expect(reader.ended).toBe(true);
      expect(types(reader).at(-1)).toBe(type);
    }
    expect(rig.time.pending).toBe(0);
  });

  it.each([
    ["sse", ": keep-alive\n\n"],
    ["ndjson", "\n"],
  ] as const)(
    "[WIRE-50] is kept alive while nothing happens, as %s, and says so once to one who does not read",
    async (format, sign) => {
      const rig = new StreamRig();
      const reader = rig.stream({ format });
      await reader.read();
      const { length } = reader.text;
      await rig.time.pass(rig.limits.keepAliveMs);
      await reader.read();
      expect(reader.text.slice(length)).toBe(sign);
      await rig.time.pass(10 * rig.limits.keepAliveMs);
      await reader.read();
      // One is on its way to the reader, one waits in the stream, one behind it.
      expect(reader.text.slice(length).length).toBeLessThanOrEqual(4 * sign.length);
    },
  );

  it("[WIRE-75] leaves nothing behind when its reader goes", async () => {
    const rig = new StreamRig();
    const reader = rig.stream();
    await reader.read();
    await reader.cancel();
    expect(rig.time.pending).toBe(0);
    rig.commit(["input"]);
    await rig.show(1, "x");
    expect(viewOf(reader).events).toEqual([]);
  });

  it("[STOP-22] ends after what it has when its session is deleted, at once or when it is read", async () => {
    const rig = new StreamRig();
    const [reading, stalled] = [rig.stream(), rig.stream()];
    await reading.read();
    rig.commit(["input"]);
    rig.deletion.abort();
    rig.commit(["output", { step: 1 }]);
    for (const reader of [reading, stalled]) {
      await reader.read();
      expect(reader.ended).toBe(true);
      expect(types(reader)).not.toContain("output");
    }
    expect(types(reading)).toEqual(["live", "input"]);
    expect(rig.time.pending).toBe(0);
  });

  it("[WIRE-79] ends when its token expires, before anything further is told", async () => {
    const rig = new StreamRig({ keepAliveMs: 1_000 });
    rig.caller = { ...rig.caller, expiresAt: rig.time.clock() + 2_500 };
    const [follower, idle] = [rig.stream(), rig.stream()];
    await follower.read();
    await rig.time.pass(2_400);
    rig.commit(["output", { text: "in time" }]);
    await follower.read();
    expect(types(follower)).toEqual(["live", "output"]);
    await rig.time.pass(200);
    rig.commit(["output", { text: "too late" }]);
    await follower.read();
    expect([types(follower), follower.ended]).toEqual([["live", "output"], true]);
    // Without any event, too.
    await rig.time.pass(1_000);
    await idle.read();
    expect([idle.text.includes("too late"), idle.ended]).toEqual([false, true]);
  });

  it("[WIRE-79] ends when its key is found to be revoked, not when nobody can tell", async () => {
    const rig = new StreamRig({ keepAliveMs: 1_000, recheckMs: 5_000 });
    const answers = [() => Promise.reject(new Error("no answer")), async () => true, async () => false];
    let asked = 0;
    rig.stands = async () => (answers[asked++] ?? answers[2])?.() ?? false;
    const reader = rig.stream();
    await reader.read();
    await rig.time.pass(4_900);
    expect(asked).toBe(0);
    await rig.time.pass(6_000);
    expect([asked, reader.ended]).toEqual([2, false]);
    await rig.time.pass(6_000);
    await reader.read();
    expect([asked, reader.ended]).toEqual([3, true]);
    rig.commit(["output", { text: "too late" }]);
    await reader.read();
    expect(reader.text).not.toContain("too late");
  });
});
