import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Tenant } from "../../src/durable/tenant.ts";
import { chatReply } from "./model-replies.ts";
import { alarmOf, metaOf } from "./object-faults.ts";
import { loadModel } from "./load-model.ts";
import { Product } from "./product.ts";
import type { TestSession } from "./product.ts";
import { modelRequests, scriptModel } from "./scripted-model.ts";

const WAIT = { timeout: 15_000 };
const POLICY = { rules: [{ id: "writes", tool: "write_file", effect: "ask" }] };
const HANG = { text: ["shown"], ending: "hang" } as const;
const WRITE = { name: "write_file", args: { path: "a.txt", content: "a", _intent: "to write" } };
const READ = { name: "read_file", args: { path: "long.txt", _intent: "to read" } };

let product: Product;
beforeAll(async () => {
  product = await Product.create();
  await loadModel(product);
});

async function asked(session: TestSession, times: number): Promise<void> {
  await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(times);
}

const stateOf = async (session: TestSession) => (await product.call("GET", session.path)).body;

/** The agent of a session, from the tenant's list: the session is not woken. */
async function agentOf({ id }: TestSession): Promise<string | undefined> {
  const { body } = await product.call<{ data: { id: string; agent: string }[] }>("GET", "/v1/sessions");
  return body.data.find((listed) => listed.id === id)?.agent;
}

/** The objects that a session has in R2. */
async function objectsOf(session: TestSession): Promise<string[]> {
  const { objects } = await env.FILES.list({ prefix: `t/${product.tenant}/s/${session.id}/` });
  return objects.map(({ key }) => key);
}

/** A session that has kept an artifact, and goes on as the replies say. */
async function withArtifact(replies: Parameters<Product["session"]>[0]): Promise<TestSession> {
  const session = await product.session([{ calls: [READ] }, { text: ["read"] }, ...replies], {
    policy: POLICY,
  });
  const body = Array.from({ length: 2_000 }, (_, line) => `${line} ${"x".repeat(40)}`).join("\n");
  await product.fetch(`/v1/workspaces/${session.id}/files/long.txt`, { method: "PUT", body });
  await session.prompt("read it");
  await session.ended();
  expect(await objectsOf(session)).toHaveLength(1);
  return session;
}

/** Lets the alarms come, one after another, until the session is erased; the time between them has passed. */
async function erased(session: TestSession): Promise<void> {
  for (let alarms = 0; alarms < 9; alarms += 1) {
    const condemned = await metaOf<{ at: number }>(session.stub, "condemned").catch(() => undefined);
    if (condemned === undefined) break;
    const value = JSON.stringify({ ...condemned, at: condemned.at - 3_600_000 });
    await runInDurableObject(session.stub, (_object, { storage }) => {
      storage.sql.exec("UPDATE meta SET value = ? WHERE key = 'condemned'", value);
    });
    await runDurableObjectAlarm(session.stub);
  }
  const tables = "SELECT name FROM sqlite_schema WHERE name IN ('log', 'turns', 'prompts', 'meta')";
  expect(
    await runInDurableObject(session.stub, (_object, { storage }) => [...storage.sql.exec(tables)]),
  ).toEqual([]);
  expect(await alarmOf(session.stub)).toBeNull();
  expect(await objectsOf(session)).toEqual([]);
}

/** Nothing of a deleted session answers, and its id is never free again. */
async function expectGone(session: TestSession, agent: unknown): Promise<void> {
  for (const [method, path, body] of [
    ["GET", "", undefined],
    ["GET", "/events?after=1", undefined],
    ["GET", "/messages", undefined],
    ["POST", "/prompt", { text: "more" }],
    ["POST", "/interrupt", {}],
    ["GET", "/artifacts/call_1_1_0", undefined],
  ] as const) {
    expect([path, (await product.call(method, `${session.path}${path}`, body)).status]).toEqual([path, 404]);
  }
  // The request that made it, word for word.
  expect((await product.call("POST", "/v1/sessions", { id: session.id, agent })).status).toBe(409);
  const { body } = await product.call<{ data: { id: string }[] }>("GET", "/v1/sessions");
  expect(body.data.map(({ id }) => id)).not.toContain(session.id);
}

/** What a session is in the middle of when it is deleted. */
const BUSY: Record<string, () => Promise<TestSession>> = {
  "streams a reply": async () => {
    const session = await withArtifact([HANG]);
    await session.prompt("go");
    await asked(session, 3);
    return session;
  },
  "waits for a person, with prompts behind it": async () => {
    const session = await withArtifact([{ calls: [WRITE] }]);
    await session.prompt("write");
    await session.prompt("later");
    await expect.poll(() => stateOf(session), WAIT).toMatchObject({ status: "waiting" });
    return session;
  },
  "waits for its model's provider": async () => {
    const session = await withArtifact([]);
    const limited = { status: 429, headers: { "retry-after": "600" }, chunks: ["{}"] };
    await scriptModel(session.model, [limited, chatReply({ text: ["must not be asked for"] })]);
    await session.prompt("go");
    await expect.poll(() => stateOf(session), WAIT).toMatchObject({ status: "waiting" });
    return session;
  },
  "has been evicted": async () => {
    const session = await withArtifact([]);
    await expect.poll(() => alarmOf(session.stub), WAIT).toBeNull();
    await evictDurableObject(session.stub);
    return session;
  },
};

describe.each(Object.entries(BUSY))("a session that %s when it is deleted", (doing, busy) => {
  it("[STOP-22] ends at once for all who follow it, does nothing more, and is erased with all that it kept", async () => {
    const session = await busy();
    const agent = await agentOf(session);
    const requests = (await modelRequests(session.model)).length;
    const socket = await session.connect();
    await socket.until(({ type }) => type === "live");
    const stream = await product.fetch(`${session.path}/events`, {
      headers: { accept: "application/x-ndjson" },
    });
    const text = stream.text();
    expect((await product.call("DELETE", session.path)).status).toBe(202);
    const told = socket.frames.length;
    expect(await socket.untilClosed()).toMatchObject({ code: 4404 });
    expect(await text).toContain('"type":"live"');
    await expectGone(session, agent);
    await product.call("DELETE", session.path);
    await expectGone(session, agent);
    await erased(session);
    await expectGone(session, agent);
    expect(socket.frames).toHaveLength(told);
    expect(await modelRequests(session.model)).toHaveLength(requests);
    const hungUp = async () => (await modelRequests(session.model)).at(-1)?.aborted;
    await expect.poll(hungUp, WAIT).toBe(doing === "streams a reply");
    expect((await product.fetch(`/v1/workspaces/${session.id}/files/a.txt`)).status).toBe(404);
  });

  it("[STOP-23] is erased all the same when its process dies on the way", async () => {
    const session = await busy();
    const agent = await agentOf(session);
    expect((await product.call("DELETE", session.path)).status).toBe(202);
    await abortAllDurableObjects();
    await expectGone(session, agent);
    // It dies again just before the last step.
    await runInDurableObject(session.stub, (_object, { storage }) => {
      Object.defineProperty(storage, "deleteAll", {
        configurable: true,
        value: () => new Promise(() => undefined),
      });
    });
    const value = JSON.stringify({ at: 0, held: false });
    await runInDurableObject(session.stub, (_object, { storage }) => {
      storage.sql.exec("UPDATE meta SET value = ? WHERE key = 'condemned'", value);
    });
    const alarm = runDurableObjectAlarm(session.stub).catch(() => "died");
    await expect.poll(() => objectsOf(session), WAIT).toEqual([]);
    await abortAllDurableObjects();
    await alarm;
    expect(await alarmOf(session.stub)).not.toBeNull();
    await expectGone(session, agent);
    await erased(session);
    await expectGone(session, agent);
  });
});

it("[STOP-24] a prompt that is on its way when its session is deleted is not accepted", async () => {
  const session = await product.session([{ text: ["must not be asked for"] }]);
  const tenant = (env.TENANT as DurableObjectNamespace<Tenant>).getByName(product.tenant);
  const { promise, resolve } = Promise.withResolvers<void>();
  const asking = vi.fn();
  const restore = await runInDurableObject(tenant, (object) => {
    const methods = Object.getPrototypeOf(object) as Pick<Tenant, "beginTurn">;
    const { beginTurn } = methods;
    methods.beginTurn = async function hold(this: Tenant, lease) {
      asking();
      await promise;
      return beginTurn.call(this, lease);
    };
    return () => (methods.beginTurn = beginTurn);
  });
  try {
    const prompt = session.prompt("go");
    await expect.poll(() => asking.mock.calls.length, WAIT).toBe(1);
    expect((await product.call("DELETE", session.path)).status).toBe(202);
    await runInDurableObject(tenant, () => resolve());
    expect(await prompt).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
    expect(await modelRequests(session.model)).toEqual([]);
  } finally {
    restore();
  }
});
