import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { ProviderStore } from "../../src/durable/provider-store.ts";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import { chatReply } from "./model-replies.ts";
import { Product, freshName } from "./product.ts";
import { modelRequests, scriptModel } from "./scripted-model.ts";

const BASE_URL = "https://models.acme.dev/v1";
const KEY = "sk-key-of-the-tenant";
const PATIENCE = { timeout: 20_000, interval: 20 };

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

/** A session of an agent with this definition. */
async function sessionOf(definition: object): Promise<string> {
  const agent = freshName("agent");
  expect((await product.call("POST", "/v1/agents", { id: agent, tools: [], ...definition })).status).toBe(
    201,
  );
  const id = freshName("session");
  expect((await product.call("POST", "/v1/sessions", { id, agent })).status).toBe(201);
  return id;
}

/** The events of one turn. */
async function turn(session: string, text: string, extra: object = {}): Promise<readonly DurableEvent[]> {
  const { body } = await product.call<{ head: number }>("GET", `/v1/sessions/${session}`);
  expect((await product.call("POST", `/v1/sessions/${session}/prompt`, { text, ...extra })).status).toBe(202);
  await vi.waitFor(async () => {
    const state = await product.call<{ status: string }>("GET", `/v1/sessions/${session}`);
    expect(state.body.status).toBe("idle");
  }, PATIENCE);
  const path = `/v1/sessions/${session}/events?limit=5000`;
  const { body: page } = await product.call<{ events: DurableEvent[] }>("GET", path);
  expect(checkLog(page.events)).toEqual([]);
  return page.events.filter(({ seq }) => seq > body.head);
}

function textIn(events: readonly DurableEvent[]): string {
  return events.flatMap((event) => (event.type === "output" ? [event.text] : [])).join("");
}

describe("a tenant's own model key", () => {
  it("[TENANT-41] serves the models of its provider from the next turn on, until it is removed", async () => {
    const model = freshName("own");
    await scriptModel(model, [chatReply({ text: ["hi"] }), chatReply({ text: ["no"] })]);
    const session = await sessionOf({ model: `acme/${model}` });
    expect((await turn(session, "before")).find(({ type }) => type === "error")).toMatchObject({
      code: "not_configured",
      message: expect.stringContaining("/v1/providers/acme"),
    });
    const put = await product.call("PUT", "/v1/providers/acme", { apiKey: KEY, baseUrl: `${BASE_URL}/` });
    expect(put).toMatchObject({ status: 200, body: { id: "acme", baseUrl: BASE_URL, dialect: "chat" } });
    expect(textIn(await turn(session, "with"))).toBe("hi");
    const [asked] = await modelRequests(model);
    expect(asked?.authorization).toBe(`Bearer ${KEY}`);
    expect((await product.call("DELETE", "/v1/providers/acme")).status).toBe(204);
    expect((await product.call("DELETE", "/v1/providers/acme")).status).toBe(404);
    const after = await turn(session, "after");
    expect(after.find(({ type }) => type === "error")).toMatchObject({ code: "not_configured" });
    expect(await modelRequests(model)).toHaveLength(1);
  });

  it("[MODEL-19] [TENANT-41] speaks as its server needs it: reasoning goes back, an end without a reason is one", async () => {
    const model = freshName("thinks");
    const chunk = (delta: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const called = { name: "tree", arguments: "{}" };
    const thinks = [
      chunk({ reasoning_content: "hm" }),
      chunk({ tool_calls: [{ index: 0, id: "c0", function: called }] }, "tool_calls"),
    ];
    await scriptModel(model, [
      { chunks: thinks },
      { chunks: [chunk({ content: "done" }), "data: [DONE]\n\n"] },
    ]);
    const compat = { reasoningField: "reasoning_content", allowMissingFinishReason: true };
    const body = { apiKey: KEY, baseUrl: BASE_URL, compat };
    expect(await product.call("PUT", "/v1/providers/deep", body)).toMatchObject({ body: { compat } });
    const session = await sessionOf({ model: `deep/${model}`, tools: ["tree"] });
    expect(textIn(await turn(session, "go"))).toBe("done");
    const [, second] = await modelRequests(model);
    expect(second?.body).toMatchObject({
      messages: expect.arrayContaining([
        expect.objectContaining({ role: "assistant", reasoning_content: "hm" }),
      ]),
    });
  });

  it("[TENANT-42] is stored encrypted and shown nowhere", async () => {
    const put = await product.call("PUT", "/v1/providers/vault", { apiKey: KEY, baseUrl: BASE_URL });
    const seen = [
      put,
      ...(await Promise.all(["/v1/providers", "/v1/audit"].map((path) => product.call("GET", path)))),
    ];
    expect(JSON.stringify(seen)).not.toContain(KEY);
    expect(JSON.stringify(seen)).toContain("provider.put");
    const rows = await runInDurableObject(env.TENANT.getByName(product.tenant), (_, { storage }) =>
      storage.sql.exec<{ sealed: string }>("SELECT * FROM providers WHERE id = 'vault'").toArray(),
    );
    expect(rows[0]?.sealed).toMatch(/^v1\./);
    expect(JSON.stringify(rows)).not.toContain(KEY);
  });

  it.each([
    ["a private address", "acme", { apiKey: KEY, baseUrl: "https://10.0.0.1/v1" }],
    ["the deployment's own address", "acme", { apiKey: KEY, baseUrl: "https://light-agent.test/v1" }],
    ["no address", "acme", { apiKey: KEY }],
    ["a name of the deployment's", "demo", { apiKey: KEY, baseUrl: BASE_URL }],
    ["a key that is no header", "acme", { apiKey: "a\nb", baseUrl: BASE_URL }],
    ["an unknown dialect", "acme", { apiKey: KEY, baseUrl: BASE_URL, dialect: "other" }],
  ])("[TENANT-43] is refused with %s", async (_, provider, body) => {
    expect(await product.call("PUT", `/v1/providers/${provider}`, body)).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_request" } },
    });
  });

  it("[TENANT-44] has a bound", () =>
    runInDurableObject(env.TENANT.getByName(product.tenant), (_, { storage }) => {
      const store = new ProviderStore(storage.sql);
      const known = store.all().length;
      const provider = {
        id: "one-more",
        baseUrl: BASE_URL,
        dialect: "chat" as const,
        compat: {},
        sealed: "v1",
      };
      expect(() => store.put(provider, known, 1)).toThrow(
        expect.objectContaining({ code: "too_many_providers" }),
      );
      expect(store.put(provider, known + 1, 1)).toMatchObject({ id: "one-more" });
      // One that is replaced is not another one.
      expect(store.put(provider, known + 1, 2)).toMatchObject({ createdAt: 2 });
    }));
});

it("[TENANT-42] the keys of a tenant that is deleted are gone at once", async () => {
  const leaving = await Product.create();
  await leaving.call("PUT", "/v1/providers/acme", { apiKey: KEY, baseUrl: BASE_URL });
  const headers = { authorization: `Bearer ${env.ROOT_KEY}` };
  expect((await leaving.fetch(`/v1/tenants/${leaving.tenant}`, { method: "DELETE", headers })).ok).toBe(true);
  const rows = await runInDurableObject(env.TENANT.getByName(leaving.tenant), (_, { storage }) =>
    storage.sql.exec("SELECT id FROM providers").toArray(),
  );
  expect(rows).toEqual([]);
});

describe("an agent's models", () => {
  it("[MODEL-41] [TENANT-40] fall back, and the tenant sees how each did", async () => {
    const [bad, good] = [freshName("bad"), freshName("good")];
    await scriptModel(bad, [{ status: 503, chunks: ["{}"] }]);
    await scriptModel(good, [chatReply({ text: ["good"] }), chatReply({ text: ["again"] })]);
    const routes = [
      { name: "first", model: `openai/${bad}` },
      { name: "second", model: `openai/${good}` },
    ];
    const session = await sessionOf({ routes });
    expect(textIn(await turn(session, "go"))).toBe("good");
    expect(textIn(await turn(session, "go", { model: "second" }))).toBe("again");
    await vi.waitFor(async () => {
      const { body } = await product.call("GET", "/v1/models");
      expect(body).toMatchObject({
        data: expect.arrayContaining([
          expect.objectContaining({ model: `openai/${bad}`, requests: 1, failures: 1, restsUntil: null }),
          expect.objectContaining({ model: `openai/${good}`, requests: 2, successes: 2, inputTokens: 20 }),
        ]),
      });
    }, PATIENCE);
  });

  it("[MODEL-33] call tools through a codec", async () => {
    const model = freshName("codec");
    const call = '{"type":"tool_calls","calls":[{"name":"tree","input":{"_intent":"look"}}]}';
    await scriptModel(model, [
      chatReply({ text: ["Sure! ", call.slice(0, 9), call.slice(9)] }),
      chatReply({ text: ["{broken"] }),
      chatReply({ text: ['{"type":"final",', '"text":"It is empty."}'] }),
    ]);
    const session = await sessionOf({ model: `openai/${model}`, codec: "json", tools: ["tree"] });
    const events = await turn(session, "What is there?");
    expect(events.map(({ type }) => type)).toContain("tool_result");
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ name: "tree", isError: false });
    expect(textIn(events)).toBe("Sure!It is empty.");
    // The call that repaired counts.
    expect(events.at(-1)).toMatchObject({
      type: "agent_stop",
      reason: "stop",
      usage: { input: 30, output: 15 },
    });
    const [first] = await modelRequests(model);
    expect(first?.body).not.toHaveProperty("tools");
  });

  it("[MODEL-40] answer in the form of the agent's output schema", async () => {
    const model = freshName("output");
    await scriptModel(model, [chatReply({ text: ["no"] }), chatReply({ text: ['```{"city":"Rome"}```'] })]);
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const session = await sessionOf({ model: `openai/${model}`, output: { schema } });
    const events = await turn(session, "Where?");
    expect(events.find(({ type }) => type === "output")).toMatchObject({
      text: '{"city":"Rome"}',
      structured: true,
    });
    const [first] = await modelRequests(model);
    expect(first?.body).toMatchObject({ response_format: { type: "json_schema" } });
  });

  it.each([
    [
      "two routes of one name",
      {
        routes: [
          { name: "a", model: "demo" },
          { name: "a", model: "openai/m" },
        ],
      },
    ],
    ["a route to no model", { routes: [{ name: "a", model: "nothing" }] }],
    ["an output schema that cannot be used", { output: { schema: { type: "string" } } }],
    ["an unknown codec", { codec: "xml" }],
  ])("[MODEL-45] [MODEL-39] no agent has %s", async (_, definition) => {
    const refused = { status: 400, body: { error: { code: "invalid_request" } } };
    expect(await product.call("POST", "/v1/agents", { id: freshName("agent"), ...definition })).toMatchObject(
      refused,
    );
  });
});

describe("the pace of a tenant's model calls", () => {
  it("[TENANT-45] is one for all sessions, by an object of its own", async () => {
    const headers = { authorization: `Bearer ${env.ROOT_KEY}`, "content-type": "application/json" };
    const paced = await Product.create();
    const body = JSON.stringify({ limits: { modelCallsPerMinute: 1 } });
    const patch = await paced.fetch(`/v1/tenants/${paced.tenant}`, { method: "PATCH", headers, body });
    expect(patch.status).toBe(200);
    const model = freshName("paced");
    await scriptModel(model, [chatReply({ text: ["one"] }), chatReply({ text: ["two"] })]);
    await paced.call("POST", "/v1/agents", { id: "a", model: `openai/${model}`, tools: [] });
    for (const id of ["first", "second"]) {
      await paced.call("POST", "/v1/sessions", { id, agent: "a" });
      await paced.call("POST", `/v1/sessions/${id}/prompt`, { text: "go" });
      if (id === "first") {
        await vi.waitFor(async () => {
          const state = await paced.call<{ status: string }>("GET", "/v1/sessions/first");
          expect(state.body.status).toBe("idle");
        }, PATIENCE);
      }
    }
    const stop = await paced.call("POST", "/v1/sessions/second/interrupt", {});
    expect(stop.body).toMatchObject({ interrupted: true });
    await vi.waitFor(async () => {
      const page = await paced.call<{ events: DurableEvent[] }>("GET", "/v1/sessions/second/events");
      expect(page.body.events.at(-1)).toMatchObject({ type: "agent_stop", reason: "aborted" });
    }, PATIENCE);
    expect(await modelRequests(model)).toHaveLength(1);
  });
});
