import { HttpAgent } from "@ag-ui/client";
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import type { UIMessage } from "ai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ModelServer } from "./model-server.ts";
import { ProductProcess } from "./product-process.ts";

const WAIT = { timeout: 60_000, interval: 20 };
const CALL = { name: "write_file", args: { path: "a.txt", content: "a", _intent: "to write" } };
/** Pieces that take a while: somebody can come, go or stop meanwhile. */
const slowly = (text: string) => ({ text: text.split(/(?<= )/), delayMs: 25 });
const LONG = Array.from({ length: 60 }, (_, index) => `word${index} `).join("");

let model: ModelServer;
let product: ProductProcess;

beforeAll(async () => {
  model = await ModelServer.start(({ messages }, index) => {
    const said = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
    if (messages.at(-1)?.role === "tool") return slowly("Written.");
    if (said.includes("write")) return { thought: ["I will ", "write."], text: ["Let me."], calls: [CALL] };
    if (said.includes("stumble"))
      return index % 2 === 0 ? { ...slowly("This will not stay "), cut: true } : slowly(LONG);
    return slowly(LONG);
  });
  product = new ProductProcess({
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "fake",
  });
  await product.start();
});

afterAll(async () => {
  await product.stop();
  await model.stop();
});

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${product.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${product.key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
}

async function newSession(): Promise<string> {
  const { id } = await call<{ id: string }>("POST", "/v1/sessions", {});
  return id;
}

/** `useChat` over the network, on the process that runs at the moment. */
function chatOf(session: string, messages: UIMessage[] = []): Chat<UIMessage> {
  const api = `${product.url}/v1/sessions/${session}/ai-sdk`;
  const headers = { authorization: `Bearer ${product.key}` };
  return new Chat<UIMessage>({
    id: session,
    messages,
    transport: new DefaultChatTransport({ api, headers }),
  });
}

const textOf = ({ messages }: Chat<UIMessage>): string =>
  messages
    .flatMap(({ role, parts }) => (role === "assistant" ? parts : []))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");

const shownBy = ({ messages }: HttpAgent): string => JSON.stringify(messages.at(-1)?.content ?? "");

const historyOf = async (session: string): Promise<UIMessage[]> =>
  (await call<{ data: UIMessage[] }>("GET", `/v1/sessions/${session}/ai-sdk/messages`)).data;

it("[AISDK-1] [AISDK-2] over the network: thoughts, a call, its result; and text of an attempt that broke is taken back", async () => {
  const session = await newSession();
  const chat = chatOf(session);
  await chat.sendMessage({ text: "write" });
  expect(chat.error).toBeUndefined();
  expect(chat.messages.at(-1)?.parts.map(({ type }) => type)).toEqual([
    "step-start",
    "reasoning",
    "text",
    "tool-write_file",
    "step-start",
    "text",
  ]);
  const seen = new Set<string>();
  const watch = setInterval(() => seen.add(textOf(chat)), 5);
  await chat.sendMessage({ text: "stumble" });
  clearInterval(watch);
  expect([...seen].some((text) => text.includes("This will not"))).toBe(true);
  expect(textOf(chat)).not.toContain("This will not");
  expect(textOf(chat)).toContain(LONG);
  expect(await historyOf(session)).toEqual(JSON.parse(JSON.stringify(chat.messages)));
});

it("[AISDK-6] [AGUI-5] a process that dies in the midst of a turn: clients that come back are shown all of it", async () => {
  const session = await newSession();
  const chat = chatOf(session);
  const sent = chat.sendMessage({ text: "tell" });
  await expect.poll(() => textOf(chat), WAIT).toContain("word3 ");
  await product.kill();
  await sent;
  expect(chat.status).toBe("error");
  await product.start();
  const again = chatOf(session, JSON.parse(JSON.stringify(chat.messages)) as UIMessage[]);
  await again.resumeStream();
  expect(again.error).toBeUndefined();
  expect(textOf(again)).toBe(LONG);
  expect(await historyOf(session)).toEqual(JSON.parse(JSON.stringify(again.messages)));
  const agent = new HttpAgent({
    url: `${product.url}/v1/ag-ui`,
    threadId: session,
    headers: { authorization: `Bearer ${product.key}` },
  });
  await agent.runAgent();
  expect(agent.messages).toMatchObject([
    { role: "user", content: "tell" },
    { role: "assistant", content: LONG },
  ]);
});

it("[AGUI-1] over the network: a run that its client gives up goes on, and the next one shows all of it", async () => {
  const threadId = crypto.randomUUID();
  const headers = { authorization: `Bearer ${product.key}` };
  const first = new HttpAgent({ url: `${product.url}/v1/ag-ui`, threadId, headers });
  first.addMessage({ id: "message-1", role: "user", content: "tell" });
  const given = first.runAgent().catch(() => undefined);
  await expect.poll(() => shownBy(first), WAIT).toContain("word3 ");
  first.abortRun();
  await given;
  const partial = shownBy(first);
  expect(partial.length).toBeLessThan(LONG.length);
  await first.runAgent();
  expect(first.messages).toMatchObject([
    { role: "user", content: "tell" },
    { role: "assistant", content: LONG },
  ]);
  expect(await call("GET", `/v1/sessions/${threadId}`)).toMatchObject({ turn: 1 });
});
