import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { Product, TestSession, freshName } from "./product.ts";
import { chatReply } from "./model-replies.ts";
import type { Reply } from "./model-replies.ts";
import { modelRequests, scriptModel } from "./scripted-model.ts";

/** Generous: a first call loads the model's SDK. */
const WAIT = { timeout: 15_000 };

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

interface Rig {
  readonly session: TestSession;
  readonly agent: string;
}

/** A definition whose name stands in every system prompt. */
function named(model: string, name: string, more: object = {}): object {
  return { model: `openai/${model}`, prompts: [{ name: "who", content: `You are ${name}.` }], ...more };
}

/** A session that follows an agent, whose first version is called one. */
async function following(replies: readonly Reply[], body: object = { followAgent: true }): Promise<Rig> {
  const [model, agent, id] = [freshName("model"), freshName("agent"), freshName("session")];
  await scriptModel(model, replies.map(chatReply));
  await product.call("POST", "/v1/agents", { id: agent, ...named(model, "one") });
  expect((await product.call("POST", "/v1/sessions", { id, agent, ...body })).status).toBe(201);
  return { session: new TestSession(product, id, model), agent };
}

async function change({ session, agent }: Rig, name: string, more: object = {}): Promise<void> {
  const { status } = await product.call("PUT", `/v1/agents/${agent}`, named(session.model, name, more));
  expect(status).toBe(200);
}

/** Who the agent was in each model call so far. */
async function names({ model }: TestSession): Promise<string[]> {
  return (await modelRequests(model)).map(({ body }) => {
    const [system] = (body as { messages: { content: string }[] }).messages;
    return /You are (\w+)\./.exec(system?.content ?? "")?.[1] ?? "nobody";
  });
}

async function stateOf({ path }: TestSession): Promise<Record<string, unknown>> {
  return (await product.call(`GET`, path)).body;
}

async function listed({ id }: TestSession): Promise<Record<string, unknown> | undefined> {
  const { body } = await product.call<{ data: Record<string, unknown>[] }>("GET", "/v1/sessions?limit=200");
  return body.data.find((session) => session["id"] === id);
}

describe("a session that follows its agent", () => {
  it("[API-33] has the newest version at each turn's beginning, with its prompts, tools, models and policy", async () => {
    const rig = await following([
      { text: ["1"] },
      { calls: [{ name: "write_file", args: { path: "a", content: "a" } }] },
      { text: ["2"] },
    ]);
    const { session } = rig;
    await session.prompt("go");
    await session.ended(1);
    expect(await stateOf(session)).toMatchObject({ agentVersion: 1, followAgent: true });

    const second = { tools: ["write_file"], policy: { deny: ["write_file"] }, windowTokens: 50_000 };
    await change(rig, "two", { ...second, routes: [{ name: "main", model: `openai/${session.model}` }] });
    expect((await session.prompt({ text: "again", model: "main" })).status).toBe(202);
    const log = await session.ended(2);
    expect(await names(session)).toEqual(["one", "two", "two"]);
    const tools = (await modelRequests(session.model)).map(
      ({ body }) => (body as { tools: unknown[] }).tools.length,
    );
    expect(tools).toEqual([expect.any(Number), 1, 1]);
    expect(tools[0]).toBeGreaterThan(1);
    expect(log.find(({ type }) => type === "tool_result")).toMatchObject({ isError: true });
    expect(await stateOf(session)).toMatchObject({ agentVersion: 2, contextWindow: 50_000 });
    await expect.poll(() => listed(session), WAIT).toMatchObject({ agentVersion: 2 });
  });

  it("[API-33] keeps the version of a turn that runs, through a crash, and has the next one after it", async () => {
    const rig = await following([
      { text: ["1"] },
      { text: ["lost"], ending: "hang" },
      { text: ["whole"] },
      { text: ["3"] },
    ]);
    const { session } = rig;
    await session.prompt("go");
    await session.ended(1);
    await change(rig, "two");
    await session.prompt("hang");
    await expect.poll(() => names(session), WAIT).toEqual(["one", "two"]);
    await change(rig, "three");
    await session.prompt("wait");
    await abortAllDurableObjects();
    await session.ended(3);
    expect(await names(session)).toEqual(["one", "two", "two", "three"]);
    expect(await stateOf(session)).toMatchObject({ agentVersion: 3 });
  });

  it("[API-33] remembers its version when it was evicted between turns, and is told of later ones only", async () => {
    const rig = await following([{ text: ["1"] }, { text: ["2"] }, { text: ["3"] }]);
    const { session } = rig;
    await session.prompt("go");
    await session.ended(1);
    await change(rig, "two");
    await session.prompt("go");
    await session.ended(2);
    await evictDurableObject(session.stub);
    expect(await stateOf(session)).toMatchObject({ agentVersion: 2 });
    await session.prompt("go");
    await session.ended(3);
    expect(await names(session)).toEqual(["one", "two", "two"]);
  });

  it("[API-33] stops and begins to follow when it is told to, and its forks do as it does", async () => {
    const rig = await following([{ text: ["1"] }, { text: ["2"] }, { text: ["3"] }], {});
    const { session } = rig;
    await change(rig, "two");
    await session.prompt("go");
    await session.ended(1);
    expect(await names(session)).toEqual(["one"]);
    expect(await stateOf(session)).not.toHaveProperty("followAgent");

    const followed = await product.call("PATCH", session.path, { followAgent: true });
    expect(followed.body).toMatchObject({ followAgent: true, agentVersion: 1 });
    const id = freshName("fork");
    const fork = await product.call("POST", `${session.path}/fork`, { id });
    expect(fork.body).toMatchObject({ followAgent: true, agentVersion: 1 });
    const forked = new TestSession(product, id, session.model);
    await forked.prompt("go");
    await forked.ended(2);
    expect(await names(session)).toEqual(["one", "two"]);

    await product.call("PATCH", session.path, { followAgent: false });
    await session.prompt("go");
    await session.ended(2);
    expect(await names(session)).toEqual(["one", "two", "one"]);
    expect((await product.call("PATCH", session.path, { followAgent: "yes" })).status).toBe(400);
  });
});
