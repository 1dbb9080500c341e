import { env } from "cloudflare:workers";
import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import type { MemoryApi } from "../../src/durable/memory-api.ts";
import { RemoteMemoryIndex } from "../../src/durable/memory-client.ts";
import type { MemoryRecord, NewMemory } from "../../src/runtime/context/memory/memory-index.ts";
import { describeMemory } from "../conformance/memory-conformance.ts";
import { Product, TestSession, freshName } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";

const origin = { session: "s", seq: 1 };
const note = (id: string, content: string): NewMemory => ({ id, kind: "semantic", content, origin });

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

function objectOf(tenant: string, agent: string, owner: string): MemoryApi {
  return env.MEMORY.getByName(`${tenant}:${agent}:${owner}`) as unknown as MemoryApi;
}

describeMemory("a Memory object, through its stub", async (most) => {
  return new RemoteMemoryIndex(objectOf(product.tenant, "conformance", `user:${freshName("u")}`), most);
});

async function as<T = { data: MemoryRecord[]; next: string | null }>(
  user: string | null,
  method: string,
  path: string,
  of = product,
): Promise<{ status: number; body: T }> {
  const headers: Record<string, string> = user === null ? {} : { "x-user-id": user };
  const response = await of.fetch(path, { method, headers });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as T };
}

async function prompt(session: TestSession, user: string, text: string): Promise<void> {
  const headers = { "x-user-id": user, "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ text }) };
  expect((await session.product.fetch(`${session.path}/prompt`, init)).status).toBe(202);
}

const remember = (content: string, extra: object = {}) => ({
  calls: [{ name: "remember", args: { content, ...extra } }],
});

async function agentOf({ path }: TestSession): Promise<string> {
  return (await product.call<{ agent: string }>("GET", path)).body.agent;
}

describe("an agent that remembers", () => {
  it("[MEMORY-5] [MEMORY-7] is reminded in another session of the same user, and of no other user", async () => {
    const replies = [remember("Ann takes her tea green."), { text: ["1"] }, { text: ["2"] }, { text: ["3"] }];
    const first = await product.session(replies, { memory: true, tools: [] });
    await prompt(first, "ann", "Remember how I take my tea: green.");
    await first.ended();
    const agent = await agentOf(first);
    const { body } = await as("ann", "GET", `/v1/agents/${agent}/memories`);
    expect(body.data).toMatchObject([
      { kind: "semantic", content: "Ann takes her tea green.", origin: { session: first.id, seq: 1 } },
    ]);
    const id = freshName("session");
    expect((await product.call("POST", "/v1/sessions", { id, agent })).status).toBe(201);
    const second = new TestSession(product, id, first.model);
    await prompt(second, "ann", "Which TEA would I like?");
    const [input] = await second.ended();
    expect(input).toMatchObject({ type: "input", memories: [{ content: "Ann takes her tea green." }] });
    await abortAllDurableObjects();
    await prompt(second, "bob", "And which tea would I like?");
    const log = await second.ended(2);
    expect(log.find(({ type, turn }) => type === "input" && turn === 2)).not.toHaveProperty("memories");
    const requests = await modelRequests(first.model);
    const asked = requests.map(({ body: request }) => (request as { messages: unknown[] }).messages);
    expect(JSON.stringify(asked[2])).toContain("Ann takes her tea green.");
    expect(asked[3]?.slice(0, 2)).toEqual(asked[2]?.slice(0, 2));
  });

  it("[MEMORY-6] answers while its memory fails", async () => {
    const session = await product.session([remember("x"), { text: ["done"] }], { memory: true, tools: [] });
    const stub = env.MEMORY.getByName(`${product.tenant}:${await agentOf(session)}:user:ann`);
    await runInDurableObject(stub, (_object, { storage }) => {
      const value = () => {
        throw new Error("disk");
      };
      Object.defineProperty(storage.sql, "exec", { configurable: true, value });
    });
    await prompt(session, "ann", "go");
    const log = await session.ended();
    expect(log.find(({ type }) => type === "tool_result")).toMatchObject({ isError: true, code: "internal" });
    expect(log.at(-1)).toMatchObject({ type: "agent_stop", reason: "stop" });
  });
});

describe("what is remembered of a user", () => {
  it("[MEMORY-8] is listed in parts, found by words, and removed", async () => {
    const agent = freshName("agent");
    await product.call("POST", "/v1/agents", { id: agent, memory: true });
    const ann = objectOf(product.tenant, agent, "user:ann");
    for (const [at, content] of ["green tea", "black tea", "Москва"].entries()) {
      await ann.upsert({ ...note(`m${at}`, content), kind: at === 1 ? "episodic" : "semantic" }, 10);
    }
    const path = `/v1/agents/${agent}/memories`;
    const part = await as("ann", "GET", `${path}?limit=2`);
    expect(part.body.data.map(({ id }) => id)).toEqual(["m2", "m1"]);
    expect((await as("ann", "GET", `${path}?limit=2&cursor=${part.body.next}`)).body.data).toMatchObject([
      { id: "m0" },
    ]);
    expect((await as("ann", "GET", `${path}?query=tea&kinds=episodic`)).body.data).toMatchObject([
      { id: "m1" },
    ]);
    expect((await as("ann", "GET", `${path}?query=${encodeURIComponent("москва")}`)).body.data).toMatchObject(
      [{ id: "m2" }],
    );
    expect((await as("ann", "GET", `${path}?kinds=episodic`)).status).toBe(400);
    expect((await as("ann", "GET", `${path}?kinds=other&query=x`)).status).toBe(400);
    expect((await as("ann", "DELETE", `${path}/m1`)).status).toBe(204);
    expect((await as("ann", "DELETE", `${path}/m1`)).status).toBe(404);
    expect((await as("ann", "GET", `/v1/agents/nobody/memories`)).status).toBe(404);
    expect((await as("ann", "GET", path)).body.data).toHaveLength(2);
    const { body } = await product.call<{ data: { action: string; target: string }[] }>(
      "GET",
      "/v1/audit?limit=5",
    );
    expect(body.data).toContainEqual(
      expect.objectContaining({ action: "memory.delete", target: "memory:m1" }),
    );
  });

  it("[MEMORY-10] is seen by no other user, agent, key or tenant", async () => {
    const agents = [freshName("agent"), freshName("agent")];
    const other = await Product.create();
    for (const id of agents) {
      for (const tenant of [product, other]) await tenant.call("POST", "/v1/agents", { id, memory: true });
    }
    const [mine = "", theirs = ""] = agents;
    await objectOf(product.tenant, mine, "user:ann").upsert(note("secret", "the secret of ann"), 10);
    const attempts: [Product, string, string | null][] = [
      [product, mine, "bob"],
      [product, mine, "Ann"],
      [product, mine, null],
      [product, theirs, "ann"],
      [other, mine, "ann"],
      [other, mine, `${product.tenant}:${mine}:user:ann`],
      [product, theirs, `x:${mine}:user:ann`],
    ];
    for (const [tenant, agent, user] of attempts) {
      const path = `/v1/agents/${agent}/memories`;
      const seen = [
        (await as(user, "GET", path, tenant)).body.data,
        (await as(user, "GET", `${path}?query=secret`, tenant)).body.data,
        (await as(user, "DELETE", `${path}/secret`, tenant)).status,
        (await as(user, "DELETE", path, tenant)).status,
        // Of all agents it would rightly take the user's own.
        user === "ann" && tenant === product
          ? 202
          : (await as(user, "DELETE", "/v1/memories", tenant)).status,
      ];
      expect([agent, user, ...seen]).toEqual([agent, user, [], [], 404, 202, 202]);
    }
    expect((await as("ann", "GET", `/v1/agents/${mine}/memories`)).body.data).toMatchObject([
      { id: "secret" },
    ]);
  });

  it("[MEMORY-11] is nothing at first, and asking stores nothing", async () => {
    const path = "/v1/agents/default/memories";
    expect(await as("nobody", "GET", path)).toMatchObject({ status: 200, body: { data: [], next: null } });
    expect((await as("nobody", "GET", `${path}?query=x`)).body.data).toEqual([]);
    expect((await as("nobody", "DELETE", `${path}/x`)).status).toBe(404);
    const stub = env.MEMORY.getByName(`${product.tenant}:default:user:nobody`);
    const tables = await runInDurableObject(stub, (_object, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_schema").toArray(),
    );
    expect(tables).toEqual([]);
    const unknown = await objectOf("no-tenant", "default", "user:ann").upsert(note("a", "x"), 10);
    expect(unknown).toMatchObject({ ok: false, error: { code: "not_found" } });
  });

  it("[MEMORY-9] goes with the user, of one agent or of all, and can begin anew", async () => {
    const agents = [freshName("agent"), freshName("agent")];
    for (const id of agents) {
      await product.call("POST", "/v1/agents", { id, memory: true });
      for (const user of ["cyd", "dan"])
        await objectOf(product.tenant, id, `user:${user}`).upsert(note("a", "x"), 10);
    }
    const counts = async (user: string): Promise<number[]> =>
      Promise.all(
        agents.map(async (id) => (await as(user, "GET", `/v1/agents/${id}/memories`)).body.data.length),
      );
    expect((await as("cyd", "DELETE", `/v1/agents/${agents[0]}/memories`)).status).toBe(202);
    expect([await counts("cyd"), await counts("dan")]).toEqual([
      [0, 1],
      [1, 1],
    ]);
    expect((await as("cyd", "DELETE", "/v1/memories")).status).toBe(202);
    expect([await counts("cyd"), await counts("dan")]).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect((await as("cyd", "DELETE", "/v1/memories")).status).toBe(202);
    await objectOf(product.tenant, agents[0] ?? "", "user:cyd").upsert(note("b", "y"), 10);
    expect(await counts("cyd")).toEqual([1, 0]);
  });

  it("[MEMORY-9] goes with the tenant, and what is being kept at that moment is refused", async () => {
    const gone = await Product.create();
    const ann = objectOf(gone.tenant, "default", "user:ann");
    expect((await ann.upsert(note("a", "x"), 10)).ok).toBe(true);
    const late = objectOf(gone.tenant, "default", "user:late");
    const [kept] = await Promise.all([late.upsert(note("a", "x"), 10), late.remove()]);
    expect(kept).toMatchObject({ ok: false, error: { code: "unavailable" } });
    const headers = { authorization: `Bearer ${env.ROOT_KEY}` };
    await gone.fetch(`/v1/tenants/${gone.tenant}`, { method: "DELETE", headers });
    while (await runDurableObjectAlarm(env.TENANT.getByName(gone.tenant)));
    const stub = env.MEMORY.getByName(`${gone.tenant}:default:user:ann`);
    const tables = await runInDurableObject(stub, (_object, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_schema").toArray(),
    );
    expect(tables).toEqual([]);
    expect(await ann.upsert(note("a", "x"), 10)).toMatchObject({ ok: false, error: { code: "not_found" } });
  });

  it("[MEMORY-2] is of so many users at most", async () => {
    const small = await Product.create();
    const headers = { authorization: `Bearer ${env.ROOT_KEY}`, "content-type": "application/json" };
    const body = JSON.stringify({ limits: { memoryOwners: 1 } });
    await small.fetch(`/v1/tenants/${small.tenant}`, { method: "PATCH", headers, body });
    expect((await objectOf(small.tenant, "default", "user:one").upsert(note("a", "x"), 10)).ok).toBe(true);
    const second = await objectOf(small.tenant, "default", "user:two").upsert(note("a", "x"), 10);
    expect(second).toMatchObject({ error: { code: "memory_full", details: { limit: "memoryOwners" } } });
    expect((await as("one", "DELETE", "/v1/memories", small)).status).toBe(202);
    expect((await objectOf(small.tenant, "default", "user:two").upsert(note("a", "x"), 10)).ok).toBe(true);
  });
});
