import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import type { Recovery } from "../../src/durable/session-settings.ts";
import { EMPTY_VIEW, applyFrame } from "../../src/runtime/protocol/session-view.ts";
import type { SessionView } from "../../src/runtime/protocol/session-view.ts";
import { chatReply } from "./model-replies.ts";
import { alarmOf, metaOf } from "./object-faults.ts";
import { loadModel } from "./load-model.ts";
import { Product } from "./product.ts";
import type { TestSession, TestSocket } from "./product.ts";
import { modelRequests, scriptModel } from "./scripted-model.ts";

const WAIT = { timeout: 15_000 };
/** A reply that streams and never ends. */
const HANG = { text: ["streamed"], ending: "hang" } as const;
/** A model that has been asked and has said nothing yet. */
const SILENT = { ending: "hang" } as const;
const READ = { calls: [{ name: "read_file", args: { path: "none.txt", _intent: "to see" } }] };

let product: Product;
beforeAll(async () => {
  product = await Product.create();
  await loadModel(product);
});

async function asked(session: TestSession, times: number): Promise<void> {
  await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(times);
}

function viewOf(socket: TestSocket, before: SessionView = EMPTY_VIEW): SessionView {
  return socket.frames.reduce((view, frame) => applyFrame(view, frame as never), before);
}

describe("a client", () => {
  it("[WIRE-70] that comes between the prompt and its first text sees a turn that runs", async () => {
    const session = await product.session([SILENT]);
    const { body } = await session.prompt({ text: "go", promptId: "p1" });
    await asked(session, 1);
    expect(body).toMatchObject({ status: "running", head: 1 });
    const socket = await session.connect();
    await socket.until(({ type }) => type === "live");
    expect(socket.frames).toMatchObject([
      { type: "hello", state: { status: "running", turn: 1, step: 0, head: 1 } },
      { type: "events", events: [{ type: "input", promptId: "p1" }] },
      { type: "live", head: 1, partial: [] },
    ]);
    await socket.ask({ type: "interrupt" });
    await socket.untilStop();
    socket.close();
  });

  it("[WIRE-74] that reconnects at once after a kill makes the turn go on itself, and gets each event once", async () => {
    const session = await product.session([HANG, { text: ["wh", "ole"], delayMs: 20 }]);
    const before = await session.connect();
    await session.prompt("go");
    await before.until(({ type }) => type === "text_delta");
    const due = await alarmOf(session.stub);
    await abortAllDurableObjects();
    const held = viewOf(before);
    expect(held.blocks).toMatchObject([{ text: "streamed", attempt: 1 }]);
    const after = await session.connect(held.head);
    await after.untilStop();
    // The turn has ended before the alarm of the dead process was due.
    expect(due ?? 0).toBeGreaterThan(Date.now());
    const view = viewOf(after, held);
    expect(view).toMatchObject({ gap: false, blocks: [], events: await session.log() });
    expect(after.events.filter((event) => "seq" in event).map(({ type }) => type)).toEqual([
      "output",
      "agent_trace",
      "agent_stop",
    ]);
    expect(view.events.find((event) => event.type === "output")).toMatchObject({
      text: "whole",
      attempt: 1001,
    });
    after.close();
  });

  it("[WIRE-78] that comes long after sees how every turn ended that ended with nobody there", async () => {
    const session = await product.session([HANG, HANG, HANG, HANG, HANG, { text: ["fine"] }]);
    await session.prompt({ text: "go", promptId: "p1" });
    for (let died = 1; died <= 5; died += 1) {
      await asked(session, died);
      await abortAllDurableObjects();
      await runDurableObjectAlarm(session.stub);
    }
    await expect.poll(() => alarmOf(session.stub), WAIT).toBeNull();
    await evictDurableObject(session.stub);
    const socket = await session.connect();
    await socket.until(({ type }) => type === "live");
    expect(socket.frames[0]).toMatchObject({ state: { status: "idle", turn: 1 } });
    expect(viewOf(socket).events.map((event) => event.type)).toEqual(["input", "error", "agent_stop"]);
    expect(viewOf(socket).events.at(-1)).toMatchObject({ reason: "error", promptIds: ["p1"] });
    socket.close();
  });
});

describe("a turn whose process died", () => {
  it("[LOG-72] before the model's first text calls it once more", async () => {
    const session = await product.session([SILENT, { text: ["ok"] }]);
    await session.prompt("go");
    await asked(session, 1);
    await abortAllDurableObjects();
    const log = await session.ended();
    expect(log.map(({ type }) => type)).toEqual(["input", "output", "agent_trace", "agent_stop"]);
    expect(await modelRequests(session.model)).toHaveLength(2);
  });

  it("[LOG-75] ends as it should when it makes progress between its deaths, however many they are", async () => {
    const steps = Array.from({ length: 11 }, () => [READ, HANG]).flat();
    const session = await product.session([...steps, { text: ["done"] }]);
    await session.prompt("go");
    for (let died = 1; died <= 11; died += 1) {
      await asked(session, 2 * died);
      await abortAllDurableObjects();
      await product.call("GET", session.path);
      const { wakes, stalls } = (await metaOf<Recovery>(session.stub, "recovery")) ?? {};
      expect({ wakes, stalls }).toEqual({ wakes: died, stalls: 1 });
    }
    const log = await session.ended();
    expect(log.at(-1)).toMatchObject({ reason: "stop", step: 12 });
    expect(log.filter(({ type }) => type === "tool_result")).toHaveLength(11);
  });

  it("[LOG-76] without progress adds nothing to the log until it is given up, and the session goes on", async () => {
    const session = await product.session([HANG, HANG, HANG, HANG, HANG, { text: ["fine"] }]);
    await session.prompt("go");
    for (let died = 1; died <= 4; died += 1) {
      await asked(session, died);
      await abortAllDurableObjects();
      expect((await session.log()).map(({ type }) => type)).toEqual(["input"]);
    }
    await asked(session, 5);
    await abortAllDurableObjects();
    const log = await session.ended();
    expect(log.slice(1)).toMatchObject([
      { type: "error", code: "crash_loop" },
      { type: "agent_stop", reason: "error" },
    ]);
    expect(await modelRequests(session.model)).toHaveLength(5);
    await session.prompt("next");
    expect((await session.ended(2)).at(-1)).toMatchObject({ turn: 2, reason: "stop" });
  });

  it("[LOG-73] asks its model only once its wake is counted for good", async () => {
    const session = await product.session([HANG, { text: ["ok"] }]);
    await session.prompt("go");
    await asked(session, 1);
    await abortAllDurableObjects();
    const counted = await runInDurableObject(session.stub, (_object, { storage }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const state = { synced: false, release: resolve };
      const value = async (): Promise<void> => {
        state.synced = true;
        await promise;
      };
      Object.defineProperty(storage, "sync", { configurable: true, value });
      return state;
    });
    const answer = product.call("GET", session.path);
    await expect.poll(() => counted.synced, WAIT).toBe(true);
    // A call that did not wait would be at the model before these are.
    for (let time = 1; time <= 5; time += 1) expect(await modelRequests(session.model)).toHaveLength(1);
    expect((await metaOf<Recovery>(session.stub, "recovery"))?.wakes).toBe(1);
    await runInDurableObject(session.stub, () => counted.release());
    await answer;
    expect((await session.ended()).at(-1)).toMatchObject({ reason: "stop" });
  });

  it("[STOP-20] and that goes on is stopped like any other", async () => {
    const session = await product.session([HANG, HANG, { text: ["next"] }]);
    await session.prompt("go");
    await asked(session, 1);
    await abortAllDurableObjects();
    await product.call("GET", session.path);
    await asked(session, 2);
    const { body } = await product.call("POST", `${session.path}/interrupt`, { turn: 1 });
    expect(body).toEqual({ interrupted: true, turn: 1 });
    expect((await session.ended()).at(-1)).toMatchObject({ reason: "aborted" });
    await expect.poll(async () => (await modelRequests(session.model))[1]?.aborted, WAIT).toBe(true);
    await session.prompt("next");
    expect((await session.ended(2)).at(-1)).toMatchObject({ reason: "stop" });
  });
});

describe("an object that nothing has called since its eviction", () => {
  it.each(["an alarm", "an RPC", "a stream", "a socket"])(
    "[LOG-77] may be called by %s first",
    async (door) => {
      const session = await product.session([{ text: ["one"] }, { text: ["two"] }]);
      await session.prompt("first");
      const log = await session.ended();
      await expect.poll(() => alarmOf(session.stub), WAIT).toBeNull();
      await runInDurableObject(session.stub, (_object, { storage }) => storage.setAlarm(Date.now() + 60_000));
      await evictDurableObject(session.stub);
      if (door === "an alarm") expect(await runDurableObjectAlarm(session.stub)).toBe(true);
      if (door === "an RPC") {
        const { body } = await product.call("GET", session.path);
        expect(body).toMatchObject({ id: session.id, head: log.length });
      }
      if (door === "a stream") {
        const response = await product.fetch(`${session.path}/events`, {
          headers: { accept: "application/x-ndjson" },
        });
        const { value } = (await response.body?.getReader().read()) ?? {};
        expect(new TextDecoder().decode(value)).toContain('"type":"input"');
      }
      if (door === "a socket") {
        const socket = await session.connect(log.length);
        await socket.until(({ type }) => type === "live");
        socket.close();
      }
      await session.prompt("second");
      expect((await session.ended(2)).at(-1)).toMatchObject({ reason: "stop", turn: 2 });
    },
  );
});

describe("a model's provider", () => {
  it("[WIRE-77] that reports an error inside a healthy stream fails the turn, with no empty reply, and a late client sees the same", async () => {
    const session = await product.session([]);
    const failing = {
      chunks: [
        'data: {"error":{"message":"overloaded","type":"invalid_request_error","code":"invalid_api_key"}}\n\n',
      ],
    };
    await scriptModel(session.model, [failing]);
    const there = await session.connect();
    await session.prompt("go");
    const log = await session.ended();
    expect(log.map(({ type }) => type)).toEqual(["input", "error", "agent_stop"]);
    expect(log.at(-1)).toMatchObject({ reason: "error", cause: "model" });
    await there.untilStop();
    const late = await session.connect();
    await late.until(({ type }) => type === "live");
    expect(viewOf(late).events).toEqual(viewOf(there).events);
    expect(JSON.stringify(log)).not.toContain("overloaded");
    there.close();
    late.close();
  });

  it("[TURN-7] whose connection is lost after some text is asked again, and the text is withdrawn", async () => {
    const session = await product.session([]);
    const lost = chatReply({ text: ["par", "tial"], ending: "break" });
    await scriptModel(session.model, [lost, chatReply({ text: ["whole"] })]);
    const socket = await session.connect();
    await session.prompt("go");
    const log = await session.ended();
    expect(log.find((event) => event.type === "output")).toMatchObject({ text: "whole", attempt: 2 });
    expect(log.at(-1)).toMatchObject({ reason: "stop" });
    await socket.untilStop();
    expect(socket.events.find(({ type }) => type === "attempt_reset")).toMatchObject({ attempt: 1 });
    expect(viewOf(socket)).toMatchObject({ blocks: [], gap: false, events: log });
    socket.close();
  });
});
