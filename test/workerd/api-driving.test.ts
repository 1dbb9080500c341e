import { beforeAll, describe, expect, it } from "vitest";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { AgentEvent } from "../../src/runtime/protocol/events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import { checkStream } from "../../src/runtime/protocol/stream-grammar.ts";
import { codeOf } from "./api-client.ts";
import { chatReply } from "./model-replies.ts";
import { Product, freshName } from "./product.ts";
import { scriptModel } from "./scripted-model.ts";

type Body = Record<string, unknown>;
interface List<T = Body> {
  data: T[];
  next: string | null;
}

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const json = { "content-type": "application/json", ...headers };
  return product.fetch(path, { method: "POST", body: JSON.stringify(body), headers: json });
}

/** All lines of an NDJSON answer that has ended, without keep-alives. */
async function linesOf(response: Response): Promise<AgentEvent[]> {
  const text = await response.text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AgentEvent);
}

function durableOf(events: readonly AgentEvent[]): DurableEvent[] {
  return events.filter((event): event is DurableEvent => "seq" in event);
}

describe("prompts", () => {
  it("[API-26] a prompt is answered with its place, and an Idempotency-Key is its id", async () => {
    const session = await product.session([{ text: ["one"], ending: "hang" }, { text: ["two"] }]);
    const first = await post(`${session.path}/prompt`, { text: "a" }, { "idempotency-key": "p-1" });
    expect([first.status, await first.json()]).toMatchObject([
      202,
      { promptId: "p-1", status: "running", position: 0 },
    ]);
    const again = await post(
      `${session.path}/prompt`,
      { text: "a", promptId: "p-1" },
      { "idempotency-key": "p-1" },
    );
    expect(again.status).toBe(202);
    expect(
      await codeOf(await post(`${session.path}/prompt`, { text: "b" }, { "idempotency-key": "p-1" })),
    ).toBe("idempotency_mismatch");
    expect((await session.prompt({ text: "b", promptId: "p-2" })).body).toMatchObject({
      status: "queued",
      position: 1,
    });
    const queue = await product.call<List>("GET", `${session.path}/queue`);
    expect(queue.body).toMatchObject({
      data: [{ promptId: "p-2", mode: "queue", preview: "b" }],
      next: null,
    });
    expect((await product.call("DELETE", `${session.path}/queue/p-2`)).status).toBe(204);
    expect((await product.call("DELETE", `${session.path}/queue/p-2`)).status).toBe(404);
    expect((await product.call("POST", `${session.path}/interrupt`, { reason: "enough" })).body).toEqual({
      interrupted: true,
      turn: 1,
    });
    const log = await session.ended();
    expect(log.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["prompt_dropped", "interrupt", "agent_stop"]),
    );
    expect((await product.call("POST", `${session.path}/interrupt`, {})).body).toMatchObject({
      interrupted: false,
    });
  });

  it("[API-26] refuses a prompt without or with both of text and content, or with two ids", async () => {
    const session = await product.session([]);
    const content = [{ type: "text", text: "a" }];
    const refused = [
      {},
      { text: "" },
      { text: "a", content },
      { content: [] },
      { text: "a", mode: "shout" },
      { text: "a", promptId: "a/b" },
    ];
    for (const body of refused) expect((await session.prompt(body)).status).toBe(400);
    const headers = { "idempotency-key": "p-1" };
    expect((await post(`${session.path}/prompt`, { text: "a", promptId: "p-2" }, headers)).status).toBe(400);
    expect((await post(`${session.path}/prompt`, { text: "a" }, { "idempotency-key": "a.b" })).status).toBe(
      400,
    );
    expect((await session.prompt({ text: "x".repeat(300_000) })).body).toMatchObject({
      error: { code: "prompt_too_large" },
    });
    expect(await session.log()).toEqual([]);
  });
});

describe("events", () => {
  it("[API-27] come as a page, as SSE and as NDJSON: the same log from a cursor on", async () => {
    const session = await product.session([{ text: ["Hel", "lo"] }]);
    await session.prompt("hi");
    const log = await session.ended();
    const page = await product.call<{ events: unknown[]; head: number; next: number | null; logId: string }>(
      "GET",
      `${session.path}/events?after=1&limit=2`,
    );
    expect(page.body).toMatchObject({ events: log.slice(1, 3), head: log.length, next: 3 });
    const typed = await product.call<{ events: unknown[] }>(
      "GET",
      `${session.path}/events?types=input,output`,
    );
    expect(typed.body.events).toEqual(log.filter(({ type }) => type === "input" || type === "output"));

    const read = async (headers: Record<string, string>, until: string): Promise<string> => {
      const response = await product.fetch(`${session.path}/events?after=1`, { headers });
      expect(response.status).toBe(200);
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes(until)) text += (await reader?.read())?.value ?? "";
      await reader?.cancel();
      return text;
    };
    const sse = await read({ accept: "text/event-stream" }, "event: live");
    const events = [...sse.matchAll(/^data: (.*)$/gm)].map(
      ([, data = ""]) => JSON.parse(data) as DurableEvent,
    );
    expect(durableOf(events)).toEqual(log.slice(1));
    expect(sse).toContain(`id: ${log.length}\n`);
    const resumed = await read(
      { accept: "text/event-stream", "last-event-id": String(log.length - 1) },
      "event: live",
    );
    expect([...resumed.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id)).toEqual([String(log.length)]);
    const lines = await read({ accept: "application/x-ndjson" }, '"type":"live"');
    expect(
      lines
        .split("\n")
        .slice(0, log.length - 1)
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(log.slice(1));
  });

  it("[API-27] a cursor beyond the head is 416 in every form, a bad Last-Event-ID 400", async () => {
    const session = await product.session([]);
    const requests: Record<string, string>[] = [
      {},
      { accept: "text/event-stream" },
      { accept: "application/x-ndjson" },
      { upgrade: "websocket" },
    ];
    for (const headers of requests) {
      const path = headers["upgrade"] ? `${session.path}/ws` : `${session.path}/events`;
      const response = await product.fetch(`${path}?after=1`, { headers });
      expect([response.status, await codeOf(response)]).toEqual([416, "cursor_ahead"]);
    }
    const headers = { accept: "text/event-stream", "last-event-id": "abc" };
    expect(await codeOf(await product.fetch(`${session.path}/events`, { headers }))).toBe("invalid_cursor");
  });

  it("[API-28] the conversation is the log, folded", async () => {
    const session = await product.session([{ text: ["Hello."] }]);
    await session.prompt("hi");
    await session.ended();
    const { body } = await product.call<List>("GET", `${session.path}/messages`);
    expect(body).toEqual({
      data: [
        { role: "user", content: [{ type: "text", text: "hi" }] },
        { role: "assistant", blocks: [{ kind: "text", text: "Hello." }], calls: [] },
      ],
      next: null,
    });
  });
});

describe("chat", () => {
  async function chatAgent(...texts: string[]): Promise<string> {
    const model = freshName(`${product.tenant}-chat`);
    await scriptModel(
      model,
      texts.map((text) => chatReply({ text: [text] })),
    );
    const id = freshName("agent");
    await product.call("POST", "/v1/agents", { id, name: "C", model: `openai/${model}` });
    return id;
  }

  it("[API-29] makes a session, streams the turn until its end, and says which session it was", async () => {
    const agent = await chatAgent("Alpha.", "Beta.");
    const response = await post("/v1/chat", { agent, text: "hi" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/x-ndjson");
    const session = response.headers.get("x-session-id") ?? "";
    const events = await linesOf(response);
    const log = durableOf(events);
    expect(log[0]).toMatchObject({ seq: 1, type: "input" });
    expect(log.at(-1)).toMatchObject({ type: "agent_stop", reason: "stop" });
    expect(checkLog(log)).toEqual([]);
    expect(checkStream(events.filter(({ type }) => (type as string) !== "live"))).toEqual([]);

    const next = await post("/v1/chat", { session, text: "more" }, { accept: "text/event-stream" });
    expect(next.headers.get("content-type")).toContain("text/event-stream");
    expect(next.headers.get("x-session-id")).toBe(session);
    const text = await next.text();
    expect(text).toContain("event: agent_stop");
    expect(text).toContain("Beta.");
    expect(text).not.toContain("Alpha.");
  });

  it("[API-29] is one prompt, however often it comes with its Idempotency-Key", async () => {
    const agent = await chatAgent("only");
    const chat = (): Promise<Response> =>
      post("/v1/chat", { agent, text: "hi" }, { "idempotency-key": freshKey });
    const freshKey = freshName("chat");
    const first = await chat();
    const log = durableOf(await linesOf(first));
    const second = await chat();
    expect(second.headers.get("x-session-id")).toBe(first.headers.get("x-session-id"));
    expect(durableOf(await linesOf(second))).toEqual(log);
  });

  it("[API-29] refuses an unknown session or agent, and an agent for a session that has its own", async () => {
    expect((await post("/v1/chat", { session: "unknown", text: "hi" })).status).toBe(404);
    expect((await post("/v1/chat", { agent: "unknown", text: "hi" })).status).toBe(404);
    expect((await post("/v1/chat", { session: "s", agent: "default", text: "hi" })).status).toBe(400);
    expect((await post("/v1/chat", { text: "" })).status).toBe(400);
  });
});
