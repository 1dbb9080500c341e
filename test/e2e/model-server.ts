import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

/** What the fake model answers one request with. */
export interface FakeReply {
  /** An HTTP status in the place of a reply. */
  readonly status?: number;
  readonly thought?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[];
  /** Pause before each delta, in ms. */
  readonly delayMs?: number;
  /** Never ends. */
  readonly hang?: boolean;
  /** Breaks the connection in the place of the end. */
  readonly cut?: boolean;
  /** Tokens that it says it has used. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

/** An OpenAI-compatible server whose answers a test chooses. */
export class ModelServer {
  /** The requests so far. */
  readonly requests: ChatRequest[] = [];
  readonly #server: Server;
  readonly #answer: (request: ChatRequest, index: number) => FakeReply;

  private constructor(answer: (request: ChatRequest, index: number) => FakeReply) {
    this.#answer = answer;
    this.#server = createServer((request, response) => {
      // A client that is killed breaks its request off.
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(answer: (request: ChatRequest, index: number) => FakeReply): Promise<ModelServer> {
    const model = new ModelServer(answer);
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  get baseUrl(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}/v1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request)) as ChatRequest;
    this.requests.push(body);
    const reply = this.#answer(body, this.requests.length - 1);
    if (reply.status !== undefined) {
      response.writeHead(reply.status, { "content-type": "application/json" }).end("{}");
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const delta of deltasOf(reply)) {
      if (reply.delayMs !== undefined) await delay(reply.delayMs);
      if (response.destroyed) return;
      response.write(chunk([{ index: 0, delta, finish_reason: null }]));
    }
    if (reply.hang) return;
    if (reply.cut) return void response.destroy();
    const finish = (reply.calls ?? []).length > 0 ? "tool_calls" : "stop";
    response.write(chunk([{ index: 0, delta: {}, finish_reason: finish }]));
    if (reply.usage) response.write(chunk([], reply.usage));
    response.end("data: [DONE]\n\n");
  }
}

function deltasOf({ thought = [], text = [], calls = [] }: FakeReply): unknown[] {
  const asked = calls.map(({ name, args }, index) => ({
    tool_calls: [
      { index, id: `c${index}`, type: "function", function: { name, arguments: JSON.stringify(args) } },
    ],
  }));
  const thoughts = thought.map((piece) => ({ reasoning_content: piece }));
  return [...thoughts, ...text.map((content) => ({ content })), ...asked];
}

function chunk(choices: readonly unknown[], usage?: FakeReply["usage"]): string {
  const body = { id: "x", object: "chat.completion.chunk", created: 1, model: "fake", choices, usage };
  return `data: ${JSON.stringify(body)}\n\n`;
}
