import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import type { Recovery } from "../../src/durable/session-settings.ts";
import { Product } from "./product.ts";
import type { TestSession } from "./product.ts";
import { SqlFaults } from "./object-faults.ts";
import { modelRequests } from "./scripted-model.ts";

/** Generous: a first call loads the model's SDK. */
const WAIT = { timeout: 15_000 };

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

/** A session whose model has been asked and hangs, `replies` being for those who ask again. */
async function hanging(...replies: Parameters<Product["session"]>[0]): Promise<TestSession> {
  const session = await product.session([{ text: ["lost"], ending: "hang" }, ...replies]);
  await session.prompt("go");
  await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(1);
  return session;
}

describe("a session object whose process died", () => {
  it("[LOG-40] goes on in the wake that any request causes, under new attempt numbers", async () => {
    const session = await hanging({ text: ["whole"] });
    await abortAllDurableObjects();
    const log = await session.ended();
    expect(log.map(({ type }) => type)).toEqual(["input", "output", "agent_trace", "agent_stop"]);
    expect(log[1]).toMatchObject({ text: "whole", attempt: 1001 });
    expect(log.at(-1)).toMatchObject({ reason: "stop" });
  });

  it("[LOG-41] goes on by its alarm when nobody comes", async () => {
    const session = await hanging({ text: ["whole"] });
    await abortAllDurableObjects();
    expect(await runDurableObjectAlarm(session.stub)).toBe(true);
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(2);
    expect((await session.ended()).at(-1)).toMatchObject({ type: "agent_stop", reason: "stop" });
  });

  it("[LOG-42] keeps what waited, in order", async () => {
    const session = await hanging({ text: ["one"] }, { text: ["two"] }, { text: ["three"] });
    await session.prompt({ text: "second", promptId: "p2" });
    await session.prompt({ text: "third", promptId: "p3" });
    await abortAllDurableObjects();
    const log = await session.ended(3);
    const stops = log.filter((event) => event.type === "agent_stop");
    expect(stops.map(({ promptIds }) => promptIds.at(-1))).toEqual([expect.any(String), "p2", "p3"]);
  });

  it("[LOG-43] counts wakes without progress durably and ends the turn at the fifth", async () => {
    const session = await hanging();
    const wakes: number[] = [];
    for (let wake = 1; wake <= 5; wake += 1) {
      await abortAllDurableObjects();
      await product.call("GET", session.path);
      const recovery = await runInDurableObject(session.stub, (_object, state) =>
        state.storage.sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'recovery'").toArray(),
      );
      wakes.push((JSON.parse(recovery[0]?.value ?? "{}") as Recovery).wakes);
    }
    expect(wakes).toEqual([1, 2, 3, 4, 5]);
    const log = await session.ended();
    expect(log.slice(-2)).toMatchObject([
      { type: "error", code: "crash_loop" },
      { type: "agent_stop", reason: "error", cause: "runtime" },
    ]);
  });

  it("[LOG-44] finishes a stop that was written before it died, and asks no model again", async () => {
    const session = await hanging({ text: ["must not be asked for"] });
    await runInDurableObject(session.stub, async (object, state) => {
      const by = { kind: "user", id: "alice" } as const;
      await object.interrupt({}, by);
      await state.storage.sync();
    });
    await abortAllDurableObjects();
    const log = await session.ended();
    expect(log.at(-1)).toMatchObject({ type: "agent_stop", reason: "aborted" });
    expect(await modelRequests(session.model)).toHaveLength(1);
  });

  it("[WIRE-60] keeps its sockets through an eviction, and they miss nothing", async () => {
    const session = await product.session([{ text: ["one"] }, { text: ["two"] }]);
    const socket = await session.connect();
    await session.prompt("first");
    await socket.untilStop(1);
    await expect
      .poll(() => runInDurableObject(session.stub, (_object, state) => state.storage.getAlarm()), WAIT)
      .toBeNull();
    await evictDurableObject(session.stub);
    await session.prompt("second");
    await socket.untilStop(2);
    expect(socket.events.filter((event) => "seq" in event)).toEqual(await session.log());
    const answer = await socket.ask({ type: "interrupt" });
    expect(answer).toMatchObject({ type: "ack", result: { interrupted: false, turn: 2 } });
    socket.close();
  });

  it("[LOG-45] opens a long log with the same rows as a short one", async () => {
    const session = await product.session(Array.from({ length: 30 }, () => ({ text: ["x"] })));
    const opening = async (): Promise<number> => {
      await evictDurableObject(session.stub);
      const reads: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
      await runInDurableObject(session.stub, (_object, state) => {
        const { sql } = state.storage;
        const exec = sql.exec.bind(sql);
        const value = (...args: Parameters<typeof exec>) => {
          const cursor = exec(...args);
          reads.push(cursor);
          return cursor;
        };
        Object.defineProperty(sql, "exec", { configurable: true, value });
      });
      expect((await product.call("GET", session.path)).status).toBe(200);
      return runInDurableObject(session.stub, () => reads.reduce((sum, cursor) => sum + cursor.rowsRead, 0));
    };
    await session.prompt("first");
    await session.ended(1);
    const short = await opening();
    for (let turn = 2; turn <= 30; turn += 1) {
      await session.prompt("more");
      await session.ended(turn);
    }
    expect(await opening()).toBe(short);
  });

  it("[LOG-46] tells nobody of a commit that the storage refused, and goes on when it can", async () => {
    for (let failing = 1; failing <= 3; failing += 1) {
      const session = await product.session([{ text: ["one"] }, { text: ["again"] }]);
      const socket = await session.connect();
      await runInDurableObject(session.stub, (_object, state) => {
        const { sql } = state.storage;
        const exec = sql.exec.bind(sql);
        let writes = 0;
        const value = (...args: Parameters<typeof exec>) => {
          if (args[0].startsWith("INSERT INTO log") && ++writes === failing) {
            throw new Error("database or disk is full: SQLITE_FULL");
          }
          return exec(...args);
        };
        Object.defineProperty(sql, "exec", { configurable: true, value });
      });
      const answer = await session.prompt("go");
      if (failing === 1) {
        expect(answer).toMatchObject({ status: 503, body: { error: { code: "log_write_failed" } } });
        expect(await session.log()).toEqual([]);
      } else {
        expect(answer.status).toBe(202);
        const log = await session.ended();
        const told = socket.events.filter((event) => "seq" in event);
        expect(told).toEqual(log.slice(0, told.length));
      }
      socket.close();
    }
  });

  it("[LOG-47] counts a turn that is taken up again before a prompt that was on its way sets it going", async () => {
    const session = await product.session(
      ["lost", "whole", "two", "three"].map((text) => ({ text: [text] })),
    );
    const faults = await SqlFaults.of(session.stub);
    const by = { kind: "user", id: "alice" } as const;
    await runInDurableObject(session.stub, async (object, { storage }) => {
      // A prompt is on its way: it has entered, and is being hashed.
      const hashed = Promise.withResolvers<void>();
      const hashing = Promise.withResolvers<void>();
      const digest = crypto.subtle.digest.bind(crypto.subtle);
      const slow = async (...args: Parameters<typeof digest>): Promise<ArrayBuffer> => {
        hashing.resolve();
        await hashed.promise;
        return digest(...args);
      };
      Object.defineProperty(crypto.subtle, "digest", { configurable: true, value: slow });
      const held = object.prompt({ text: "held", promptId: "held" }, by);
      await hashing.promise;
      Object.defineProperty(crypto.subtle, "digest", { configurable: true, value: digest });
      // The storage refuses the end of another one's turn, so that whoever comes next takes that up again.
      faults.fails = (query) => faults.failed === 0 && query.startsWith("UPDATE turns");
      expect(await object.prompt({ text: "go" }, by)).toMatchObject({ ok: true });
      await expect.poll(() => faults.failed, WAIT).toBe(1);
      // While the count is being made durable, the first prompt arrives.
      const durable = Promise.withResolvers<void>();
      const counting = Promise.withResolvers<void>();
      const sync = storage.sync.bind(storage);
      const waiting = async (): Promise<void> => {
        counting.resolve();
        await durable.promise;
        return sync();
      };
      Object.defineProperty(storage, "sync", { configurable: true, value: waiting });
      const waking = object.prompt({ text: "waking", promptId: "waking" }, by);
      await counting.promise;
      hashed.resolve();
      await scheduler.wait(20);
      expect(await modelRequests(session.model)).toHaveLength(1);
      durable.resolve();
      expect(await held).toMatchObject({ ok: true });
      expect(await waking).toMatchObject({ ok: true });
    });
    const log = await session.ended(3);
    expect(log.find(({ type }) => type === "output")).toMatchObject({ text: "whole", attempt: 1001 });
  });
});
