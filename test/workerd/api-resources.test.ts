import { beforeAll, describe, expect, it } from "vitest";
import { NO_USAGE, addUsage } from "../../src/runtime/protocol/usage.ts";
import { codeOf, sendAsRoot } from "./api-client.ts";
import { Product, TestSession, freshName } from "./product.ts";

type Body = Record<string, unknown>;
interface List<T = Body> {
  data: T[];
  next: string | null;
}

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

/** A session whose agent nobody else uses, and whose model needs no network. */
async function demoSession(): Promise<TestSession> {
  const agent = freshName("agent");
  const id = freshName("session");
  await product.call("POST", "/v1/agents", { id: agent, name: "D", model: "demo" });
  await product.call("POST", "/v1/sessions", { id, agent });
  return new TestSession(product, id, "demo");
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const json = { "content-type": "application/json", ...headers };
  return product.fetch(path, { method: "POST", body: JSON.stringify(body), headers: json });
}

describe("agents", () => {
  it("[API-20] each change is a version, and the newest one is shown", async () => {
    const id = freshName("agent");
    const first = {
      id,
      name: "Reader",
      model: "demo",
      prompts: [{ name: "role", content: "Read." }],
      maxSteps: 3,
    };
    const created = await product.call("POST", "/v1/agents", first);
    expect(created).toMatchObject({
      status: 201,
      body: { ...first, version: 1, createdAt: expect.any(Number) },
    });
    const second = { name: "Reader", tools: ["grep", "read_file"] };
    expect(await product.call("PUT", `/v1/agents/${id}`, second)).toMatchObject({
      status: 200,
      body: { id, version: 2, ...second },
    });
    // The same once more, as after a lost answer, changes nothing.
    expect((await product.call("PUT", `/v1/agents/${id}`, second)).body).toMatchObject({ version: 2 });
    const { body } = await product.call("GET", `/v1/agents/${id}`);
    expect(body).toMatchObject({ version: 2, ...second });
    expect(body).not.toHaveProperty("model");
    const versions = await product.call<List>("GET", `/v1/agents/${id}/versions`);
    expect(versions.body.data.map(({ version }) => version)).toEqual([2, 1]);
    const older = await product.call<List>("GET", `/v1/agents/${id}/versions?limit=1&cursor=${2}`);
    expect(older.body).toMatchObject({ data: [{ version: 1, model: "demo" }], next: null });
    const all = await product.call<List>("GET", "/v1/agents");
    expect(all.body.data.filter((agent) => agent["id"] === id)).toMatchObject([{ version: 2 }]);
    expect(all.body.data.map((agent) => agent["id"])).toContain("default");
  });

  it("[API-20] refuses a taken id, an unknown agent, and what this deployment does not offer", async () => {
    const agent = { id: freshName("agent"), name: "A" };
    await product.call("POST", "/v1/agents", agent);
    expect((await product.call("POST", "/v1/agents", agent)).body).toMatchObject({
      error: { code: "id_taken" },
    });
    expect((await product.call("PUT", "/v1/agents/unknown", { name: "A" })).status).toBe(404);
    expect((await product.call("GET", "/v1/agents/unknown/versions")).status).toBe(404);
    const refused = [
      { tools: ["teleport"] },
      { model: "gpt" },
      { maxSteps: 0 },
      { budget: { turnTokens: -1 } },
    ];
    for (const wrong of refused) {
      const answer = await product.call("POST", "/v1/agents", { name: "A", ...wrong });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: "invalid_request" } } });
    }
  });
});

describe("sessions", () => {
  it("[API-21] a session pins the agent's version and gets a workspace of its own", async () => {
    const agent = freshName("agent");
    await product.call("POST", "/v1/agents", { id: agent, name: "A", model: "demo" });
    const id = freshName("session");
    const created = await product.call("POST", "/v1/sessions", {
      id,
      agent,
      title: "T",
      metadata: { a: [1] },
    });
    const expected = {
      id,
      agent,
      agentVersion: 1,
      workspace: id,
      title: "T",
      metadata: { a: [1] },
      status: "idle",
    };
    expect(created).toMatchObject({ status: 201, body: expected });
    await product.call("PUT", `/v1/agents/${agent}`, { name: "B", model: "demo" });
    expect((await product.call("GET", `/v1/sessions/${id}`)).body).toMatchObject(expected);
    expect((await product.call("POST", "/v1/sessions", { agent })).body).toMatchObject({ agentVersion: 2 });
    expect((await product.call("POST", "/v1/sessions", {})).body).toMatchObject({
      agent: "default",
      agentVersion: 1,
    });
  });

  it("[API-21] sessions can share a workspace, which has to exist", async () => {
    const { body } = await product.call<{ workspace: string }>("POST", "/v1/sessions", {});
    const shared = await product.call("POST", "/v1/sessions", { workspace: body.workspace });
    expect(shared).toMatchObject({ status: 201, body: { workspace: body.workspace } });
    for (const wrong of [{ workspace: "unknown" }, { agent: "unknown" }]) {
      expect((await product.call("POST", "/v1/sessions", wrong)).status).toBe(404);
    }
  });

  it("[API-21] an id that a workspace has already is left to it", async () => {
    const id = freshName("workspace");
    expect((await product.call("POST", "/v1/workspaces", { id })).status).toBe(201);
    const created = await product.call<{ workspace: string }>("POST", "/v1/sessions", { id });
    expect(created.status).toBe(201);
    expect(created.body.workspace).not.toBe(id);
    expect((await product.call("GET", `/v1/workspaces/${created.body.workspace}`)).status).toBe(200);
  });

  it("[API-22] lists the newest first, and what a title or a turn's end changed", async () => {
    const session = await demoSession();
    await product.call("POST", "/v1/sessions", { id: freshName("session") });
    await session.prompt("hello");
    const log = await session.ended();
    await product.call("PATCH", session.path, {
      title: "Renamed",
      metadata: { b: 2 },
      budget: { sessionTokens: 9 },
    });
    const found = async (): Promise<Body | undefined> => {
      const { body } = await product.call<List>("GET", "/v1/sessions?limit=200");
      return body.data.find(({ id }) => id === session.id);
    };
    await expect.poll(async () => (await found())?.["head"]).toBe(log.length);
    expect(await found()).toMatchObject({ title: "Renamed", status: "idle", agentVersion: 1 });
    const page = await product.call<List>("GET", "/v1/sessions?limit=1");
    expect(page.body.data).toHaveLength(1);
    const next = await product.call<List>("GET", `/v1/sessions?limit=200&cursor=${page.body.next}`);
    expect(next.body.data.map(({ id }) => id)).toContain(session.id);
    expect(next.body.data.map(({ id }) => id)).not.toContain(page.body.data[0]?.["id"]);
    expect((await product.call("GET", session.path)).body).toMatchObject({
      title: "Renamed",
      metadata: { b: 2 },
    });
  });

  it("[API-23] a chosen id that is taken is 409, for ever", async () => {
    const id = freshName("session");
    expect((await product.call("POST", "/v1/sessions", { id })).status).toBe(201);
    for (const body of [{ id }, { id, title: "other" }]) {
      expect((await product.call("POST", "/v1/sessions", body)).body).toMatchObject({
        error: { code: "id_taken" },
      });
    }
    expect((await product.call("DELETE", `/v1/sessions/${id}`)).status).toBe(202);
    expect((await product.call("GET", `/v1/sessions/${id}`)).status).toBe(404);
    expect((await product.call("DELETE", `/v1/sessions/${id}`)).status).toBe(404);
    expect((await product.call("PATCH", `/v1/sessions/${id}`, { title: "x" })).status).toBe(404);
    expect((await product.call("POST", "/v1/sessions", { id })).body).toMatchObject({
      error: { code: "id_taken" },
    });
    const { body } = await product.call<List>("GET", "/v1/sessions?limit=200");
    expect(body.data.map((session) => session["id"])).not.toContain(id);
  });

  it("[API-24] a create with an Idempotency-Key is one session, however often and at once it comes", async () => {
    const create = (body: Body): Promise<Response> =>
      post("/v1/sessions", body, { "idempotency-key": "order-1" });
    const answers = await Promise.all([1, 2, 3, 4].map(() => create({ title: "once" })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const ids = await Promise.all(answers.map(async (answer) => (await answer.json<{ id: string }>()).id));
    expect(new Set(ids).size).toBe(1);
    await product.call("PATCH", `/v1/sessions/${ids[0]}`, { title: "renamed" });
    expect(await (await create({ title: "once" })).json()).toMatchObject({ id: ids[0], title: "renamed" });
    expect(await codeOf(await create({ title: "other" }))).toBe("idempotency_mismatch");
    // Another route and another tenant with the same key are other requests.
    const elsewhere = await post("/v1/agents", { name: "A" }, { "idempotency-key": "order-1" });
    expect(elsewhere.status).toBe(201);
    const other = await Product.create();
    const headers = { "content-type": "application/json", "idempotency-key": "order-1" };
    const theirs = await other.fetch("/v1/sessions", { method: "POST", body: '{"title":"x"}', headers });
    expect((await theirs.json<{ id: string }>()).id).not.toBe(ids[0]);
    expect(await codeOf(await post("/v1/sessions", {}, { "idempotency-key": "ä" }))).toBe("invalid_request");
  });

  it("[API-25] beyond the tenant's number of sessions a create is 429 and says which limit", async () => {
    const small = await Product.create();
    await sendAsRoot("PATCH", `/v1/tenants/${small.tenant}`, { limits: { sessions: 2 } });
    await small.call("POST", "/v1/sessions", { id: "a" });
    await small.call("POST", "/v1/sessions", { id: "b" });
    const body = JSON.stringify({ id: "c" });
    const refused = await small.fetch("/v1/sessions", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(await refused.json()).toMatchObject({
      error: { code: "too_many_sessions", details: { limit: "sessions" } },
    });
    expect((await small.call("GET", "/v1/sessions/c")).status).toBe(404);
    await small.call("DELETE", "/v1/sessions/a");
    expect((await small.call("POST", "/v1/sessions", { id: "c" })).status).toBe(201);
  });
});

describe("usage and audit", () => {
  it("[API-31] usage is summed by day, agent and model", async () => {
    const session = await demoSession();
    await session.prompt("one");
    await session.ended(1);
    await session.prompt("two");
    const log = await session.ended(2);
    const { agent } = (await product.call<{ agent: string }>("GET", session.path)).body;
    const sums = async (query = ""): Promise<Body[]> => {
      const { body } = await product.call<List>("GET", `/v1/usage?limit=200${query}`);
      return body.data.filter((sum) => sum["agent"] === agent);
    };
    const used = log.reduce(
      (sum, event) => (event.type === "agent_stop" ? addUsage(sum, event.usage) : sum),
      NO_USAGE,
    );
    expect(used.input).toBeGreaterThan(0);
    await expect.poll(() => sums()).toMatchObject([{ model: "demo", usage: used }]);
    const day = new Date(log[0]?.at ?? 0).toISOString().slice(0, 10);
    expect(await sums(`&from=${day}`)).toMatchObject([{ day }]);
    expect(await sums("&to=2001-01-01")).toEqual([]);
    expect((await product.call("GET", "/v1/usage?from=yesterday")).status).toBe(400);
  });

  it("[API-32] every change is in the audit log with who, what and the request, and no content", async () => {
    const own = await Product.create();
    const headers = { "content-type": "application/json", "x-user-id": "alice" };
    const body = JSON.stringify({ id: "s", title: "top secret title" });
    const created = await own.fetch("/v1/sessions", { method: "POST", body, headers });
    await own.call("POST", "/v1/agents", {
      id: "a",
      name: "A",
      prompts: [{ name: "p", content: "secret prompt" }],
    });
    await own.call("POST", "/v1/keys", { name: "secret key name", role: "viewer" });
    await own.call("PATCH", "/v1/sessions/s", { title: "secret too" });
    await own.call("POST", "/v1/sessions/s/tokens", { scopes: ["read"] });
    await own.call("PUT", "/v1/agents/unknown", { name: "A" });
    await own.call("DELETE", "/v1/sessions/s");
    const { body: audit } = await own.call<List<Body & { action: string }>>("GET", "/v1/audit");
    const lines = audit.data.map(
      ({ action, target, result }) => `${action} ${String(target)} ${String(result)}`,
    );
    const keyTarget = expect.stringMatching(/^key\.create key:\S+ ok$/) as string;
    expect(lines).toEqual([
      "session.delete session:s ok",
      "agent.update agent:unknown not_found",
      "token.issue session:s ok",
      "session.update session:s ok",
      keyTarget,
      "agent.create agent:a ok",
      "session.create session:s ok",
      `tenant.create tenant:${own.tenant} ok`,
    ]);
    expect(audit.data.at(-2)).toMatchObject({
      by: { kind: "user", id: "alice" },
      keyId: own.key.split(".")[1],
      requestId: created.headers.get("x-request-id"),
      at: expect.any(Number),
    });
    expect(audit.data.at(-1)).toMatchObject({ by: { kind: "key", id: "root" } });
    expect(JSON.stringify(audit)).not.toContain("secret");
    const page = await own.call<List<{ number: number }>>("GET", "/v1/audit?limit=1&cursor=2");
    expect(page.body.data.map(({ number }) => number)).toEqual([1]);
  });
});
