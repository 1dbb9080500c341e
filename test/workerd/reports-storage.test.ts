import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { SESSION_MIGRATIONS } from "../../src/durable/session-migrations.ts";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import { EMPTY_VIEW, applyFrame } from "../../src/runtime/protocol/session-view.ts";
import { SqlFaults, alarmOf } from "./object-faults.ts";
import { loadModel } from "./load-model.ts";
import { Product } from "./product.ts";
import type { TestSession } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";

const WAIT = { timeout: 15_000 };
const POLICY = { rules: [{ id: "writes", tool: "write_file", effect: "ask" }] };
const write = (path: string) => ({ name: "write_file", args: { path, content: path, _intent: "to write" } });

let product: Product;
beforeAll(async () => {
  product = await Product.create();
  await loadModel(product);
});

/** What became of each prompt, as the log says. */
function outcomes(log: readonly DurableEvent[]): string[] {
  return log.flatMap((event) => {
    if (event.type === "agent_stop") return event.promptIds;
    return event.type === "prompt_dropped" ? [event.promptId] : [];
  });
}

/** A session in which everything is written: tools, approvals, prompts that wait, are steered in and are withdrawn. */
async function mixedSession(): Promise<TestSession> {
  const replies = Array.from({ length: 4 }, () => ({ text: ["ok"] }));
  return product.session([{ calls: [write("a.txt")] }, ...replies], { policy: POLICY });
}

/** Drives it until every prompt that was accepted has its outcome; answers with their ids, sorted. */
async function drive(session: TestSession): Promise<string[]> {
  const accepted: string[] = [];
  for (const [promptId, mode] of [
    ["first", "queue"],
    ["steered", "steer"],
    ["withdrawn", "queue"],
    ["waiting", "queue"],
  ] as const) {
    const { status } = await session.prompt({ text: promptId, promptId, mode });
    expect([202, 503]).toContain(status);
    if (status === 202) accepted.push(promptId);
  }
  const { status } = await product.call("DELETE", `${session.path}/queue/withdrawn`);
  expect(status).toBeOneOf([202, 204, 200, 404, 503]);
  accepted.sort();
  // Whatever was refused before, to ask again is what makes the session go on.
  const ended = async (): Promise<string[]> => {
    const { body } = await product.call<{ data?: { approvalId: string }[] }>(
      "GET",
      `${session.path}/requests`,
    );
    for (const { approvalId } of body.data ?? []) {
      await product.call("POST", `${session.path}/approvals/${approvalId}`, { decision: "allow" });
    }
    return outcomes(await session.log()).sort();
  };
  await expect.poll(ended, WAIT).toEqual(accepted);
  return accepted;
}

describe("a write that the storage refuses", () => {
  it("[LOG-46] is told to nobody, whichever of all writes it is, and the session goes on when the storage does", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const refused = async (k: number): Promise<boolean> => {
      const session = await mixedSession();
      const socket = await session.connect();
      await socket.until(({ type }) => type === "live");
      const faults = await SqlFaults.of(session.stub);
      faults.fails = (_query, write) => write === k;
      const accepted = await drive(session);
      faults.fails = () => false;
      expect([k, (await session.prompt("afterwards")).status]).toEqual([k, 202]);
      await expect.poll(async () => outcomes(await session.log()).length, WAIT).toBe(accepted.length + 1);
      const log = await session.log();
      expect([k, checkLog(log)]).toEqual([k, []]);
      const told = socket.frames.flatMap((frame) =>
        frame.type === "events" ? (frame["events"] as DurableEvent[]) : [],
      );
      expect(told).toEqual(log.slice(0, told.length));
      const versions = `/v1/workspaces/${session.id}/versions?limit=100`;
      const { body } = await product.call<{ data: { callId?: string }[] }>("GET", versions);
      const changed = body.data.flatMap(({ callId }) => callId ?? []);
      expect([k, changed.length]).toEqual([k, new Set(changed).size]);
      socket.close();
      return faults.failed > 0;
    };
    // Several at once, until there are no more writes to refuse.
    for (let k = 1, all = true; all; k += 6) {
      const batch = await Promise.all(Array.from({ length: 6 }, (_, index) => refused(k + index)));
      all = batch.every(Boolean);
      if (!all) expect(k + batch.indexOf(false)).toBeGreaterThan(12);
    }
  }, 60_000);
});

describe("storage that another version of the product wrote", () => {
  it("[LOG-80] of a later one is left alone: every door says so, and everything is there when that version is back", async () => {
    const session = await product.session([{ text: ["x"], ending: "hang" }, { text: ["whole"] }]);
    await session.prompt("go");
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(1);
    const later = SESSION_MIGRATIONS.length + 1;
    const sql = (query: string) =>
      runInDurableObject(session.stub, (_object, { storage }) => [...storage.sql.exec(query)]);
    const all = async () => {
      const tables = ["log", "turns", "prompts", "meta", "migrations"];
      return Promise.all(tables.map((table) => sql(`SELECT * FROM ${table}`)));
    };
    await sql(`INSERT INTO migrations (id) VALUES (${later})`);
    const before = await all();
    await abortAllDurableObjects();
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["POST", "/prompt", { text: "more" }],
      ["POST", "/interrupt", {}],
      ["GET", "/events", undefined],
      ["GET", "/messages", undefined],
      ["DELETE", "/queue/x", undefined],
    ] as const) {
      const answer = await product.call(method, `${session.path}${path}`, body);
      expect([path, answer]).toMatchObject([path, { status: 503, body: { error: { code: "unavailable" } } }]);
    }
    const socket = await product.fetch(`${session.path}/ws`, { headers: { upgrade: "websocket" } });
    expect(socket.status).toBe(503);
    await socket.body?.cancel();
    await runDurableObjectAlarm(session.stub);
    expect(await alarmOf(session.stub)).toBeGreaterThan(Date.now());
    expect(await all()).toEqual(before);
    await sql(`DELETE FROM migrations WHERE id = ${later}`);
    await runDurableObjectAlarm(session.stub);
    expect((await session.ended()).at(-1)).toMatchObject({ reason: "stop" });
  });

  it("[LOG-79] keeps and delivers events of types that it does not know, and nothing else changes", async () => {
    const session = await product.session([{ text: ["one"] }, { text: ["two"] }, { text: ["three"] }]);
    await session.prompt("first");
    await session.ended();
    const messages = (await product.call("GET", `${session.path}/messages`)).body;
    const future = { seq: 5, at: 1, turn: 1, step: 1, type: "of_the_future", answer: { nested: [1, "x"] } };
    await runInDurableObject(session.stub, (_object, { storage }) => {
      const body = JSON.stringify([future]);
      storage.sql.exec("INSERT INTO log (first_seq, last_seq, body) VALUES (5, 5, ?)", body);
    });
    await evictDurableObject(session.stub);
    expect((await product.call("GET", session.path)).body).toMatchObject({
      head: 5,
      status: "idle",
      turn: 1,
    });
    expect((await product.call("GET", `${session.path}/messages`)).body).toEqual(messages);
    const socket = await session.connect();
    await session.prompt("second");
    await socket.untilStop(2);
    await evictDurableObject(session.stub);
    await session.prompt("third");
    const log = await session.ended(3);
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
    expect(log[4]).toEqual(future);
    await socket.untilStop(3);
    const view = socket.frames.reduce((held, frame) => applyFrame(held, frame as never), EMPTY_VIEW);
    expect(view).toMatchObject({ events: log, gap: false });
    const requests = (await modelRequests(session.model)).map(({ body }) => JSON.stringify(body));
    expect(requests.some((request) => request.includes("of_the_future"))).toBe(false);
    socket.close();
  });
});

it("[LOG-84] a turn leaves nothing in the object but its log and its own row", async () => {
  const session = await mixedSession();
  expect(await drive(session)).toEqual(["first", "steered", "waiting", "withdrawn"]);
  const left = await runInDurableObject(session.stub, (_object, { storage }) => {
    const rows = <T>(query: string): T[] => [...storage.sql.exec(query)] as T[];
    return {
      prompts: rows<{ id: string; state: string; body: string }>("SELECT id, state, body FROM prompts"),
      turns: rows<{ turn: number }>("SELECT turn FROM turns").length,
      meta: rows<{ key: string }>("SELECT key FROM meta").map(({ key }) => key),
    };
  });
  // A tombstone: its id stays taken, its text is gone.
  expect(left.prompts).toMatchObject([{ id: "withdrawn", state: "dropped" }]);
  expect(left.prompts[0]?.body).not.toContain("content");
  expect(left).toMatchObject({ turns: 2, meta: ["settings"] });
});
