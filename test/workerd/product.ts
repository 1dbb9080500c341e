import { env, exports } from "cloudflare:workers";
import type { Session } from "../../src/durable/session.ts";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { AgentEvent } from "../../src/runtime/protocol/events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import { chatReply } from "./model-replies.ts";
import type { Reply } from "./model-replies.ts";
import { scriptModel } from "./scripted-model.ts";

const ORIGIN = "https://light-agent.test";

/** Files run side by side and share the scripted model, so their names differ. */
const file = crypto.randomUUID().slice(0, 8);
let names = 0;

/** An id that no other test uses. */
export function freshName(prefix: string): string {
  names += 1;
  return `${prefix}-${file}-${names}`;
}

/** The product over HTTP, as one tenant's back end sees it. */
export class Product {
  readonly tenant: string;
  readonly key: string;

  private constructor(tenant: string, key: string) {
    this.tenant = tenant;
    this.key = key;
  }

  /** A tenant of its own, so that tests do not meet. */
  static async create(): Promise<Product> {
    const tenant = freshName("tenant");
    const headers = { authorization: `Bearer ${env.ROOT_KEY}`, "content-type": "application/json" };
    const body = JSON.stringify({ id: tenant });
    const response = await exports.default.fetch(`${ORIGIN}/v1/tenants`, { method: "POST", headers, body });
    const { apiKey } = await response.json<{ apiKey: string }>();
    return new Product(tenant, apiKey);
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${this.key}`);
    return exports.default.fetch(`${ORIGIN}${path}`, { ...init, headers });
  }

  /** A JSON call; the answer's body, whatever its status. */
  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: T }> {
    const init: RequestInit = { method };
    if (body !== undefined) {
      init.headers = { "content-type": "application/json" };
      init.body = JSON.stringify(body);
    }
    const response = await this.fetch(path, init);
    const text = await response.text();
    return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as T };
  }

  /** A session whose model answers with the replies, in order. */
  async session(replies: readonly Reply[], definition: Record<string, unknown> = {}): Promise<TestSession> {
    const model = freshName(`${this.tenant}-model`);
    await scriptModel(model, replies.map(chatReply));
    const agent = freshName("agent");
    const created = await this.call("POST", "/v1/agents", {
      id: agent,
      model: `openai/${model}`,
      ...definition,
    });
    if (created.status !== 201) throw new Error(`agent: ${JSON.stringify(created.body)}`);
    const id = freshName("session");
    const answer = await this.call("POST", "/v1/sessions", { id, agent });
    if (answer.status !== 201) throw new Error(`session: ${JSON.stringify(answer.body)}`);
    return new TestSession(this, id, model);
  }
}

/** One session, over HTTP. */
export class TestSession {
  readonly product: Product;
  readonly id: string;
  readonly model: string;

  constructor(product: Product, id: string, model: string) {
    this.product = product;
    this.id = id;
    this.model = model;
  }

  get path(): string {
    return `/v1/sessions/${this.id}`;
  }

  /** The Session object's stub. */
  get stub(): DurableObjectStub<Session> {
    const namespace = env.SESSION as DurableObjectNamespace<Session>;
    return namespace.getByName(`${this.product.tenant}:${this.id}`);
  }

  async prompt(
    body: Record<string, unknown> | string,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    return this.product.call("POST", `${this.path}/prompt`, typeof body === "string" ? { text: body } : body);
  }

  async log(): Promise<DurableEvent[]> {
    const { body } = await this.product.call<{ events: DurableEvent[] }>(
      "GET",
      `${this.path}/events?limit=5000`,
    );
    return body.events;
  }

  /** The log once so many turns have ended; generous, since a first call loads the model SDK. It has passed the grammar checker. */
  async ended(turns = 1): Promise<DurableEvent[]> {
    for (let tries = 0; tries < 2_500; tries += 1) {
      const log = await this.log();
      if (log.filter(({ type }) => type === "agent_stop").length >= turns) {
        const violations = checkLog(log);
        if (violations.length > 0) throw new Error(JSON.stringify(violations));
        return log;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`only ${JSON.stringify((await this.log()).map(({ type }) => type))}`);
  }

  /** A WebSocket from a cursor, which records everything that it gets. */
  async connect(after = 0, query = ""): Promise<TestSocket> {
    const headers = { upgrade: "websocket" };
    const response = await this.product.fetch(`${this.path}/ws?after=${after}${query}`, { headers });
    if (!response.webSocket) throw new Error(`no socket: ${response.status} ${await response.text()}`);
    return new TestSocket(response.webSocket);
  }
}

type Frame = Record<string, unknown> & { type: string };

/** A client's end of a WebSocket. */
export class TestSocket {
  readonly frames: Frame[] = [];
  readonly texts: string[] = [];
  closed: { code: number; reason: string } | null = null;
  readonly #socket: WebSocket;
  #wake: () => void = () => undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.accept();
    socket.addEventListener("message", ({ data }) => {
      const text = String(data);
      this.texts.push(text);
      if (text !== "pong") this.frames.push(JSON.parse(text) as Frame);
      this.#wake();
    });
    socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
      this.#wake();
    });
  }

  send(frame: unknown): void {
    this.#socket.send(
      typeof frame === "string" || frame instanceof ArrayBuffer ? frame : JSON.stringify(frame),
    );
  }

  close(): void {
    this.#socket.close(1000, "done");
  }

  /** The first frame that fits, once it has come. */
  async until(fits: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(fits);
      if (found) return found;
      if (this.closed) throw new Error(`closed ${JSON.stringify(this.closed)}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async untilClosed(): Promise<{ code: number; reason: string }> {
    while (!this.closed) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.closed;
  }

  /** The answer to a command with an id of its own. */
  async ask(frame: Record<string, unknown>): Promise<Frame> {
    const id = freshName("frame");
    this.send({ id, ...frame });
    return this.until((answer) => answer["id"] === id);
  }

  /** Everything that was told, durable and live, in order. */
  get events(): AgentEvent[] {
    const meta = new Set(["hello", "live", "ack", "nack", "sync"]);
    return this.frames.flatMap((frame) => {
      if (frame.type === "events") return frame["events"] as AgentEvent[];
      return meta.has(frame.type) ? [] : [frame as unknown as AgentEvent];
    });
  }

  /** Resolves once the turn's end has been told. */
  async untilStop(turn = 1): Promise<void> {
    await this.until(
      (frame) =>
        frame.type === "events" &&
        (frame["events"] as DurableEvent[]).some(
          (event) => event.type === "agent_stop" && event.turn >= turn,
        ),
    );
  }
}
