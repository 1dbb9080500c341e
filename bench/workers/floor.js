import { DurableObject } from "cloudflare:workers";
import { billed, tellingBilled } from "./billed.js";

/**
 * The least that a Durable Object can do for a conversation: server-sent events taken apart by hand, one `ws.send`
 * per delta, one row per message. No log, no reconnect, no queue, no recovery.
 */
class Bare extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, body TEXT)");
  }

  fetch() {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  #tell(frame) {
    const text = JSON.stringify(frame);
    for (const socket of this.ctx.getWebSockets()) socket.send(text);
  }

  async webSocketMessage(_socket, message) {
    const { model, text } = JSON.parse(message);
    this.#keep({ role: "user", content: text });
    for (;;) {
      const reply = await this.#call(model);
      this.#keep(reply);
      if (reply.tool_calls === undefined) break;
      this.#tell({ type: "calls", calls: reply.tool_calls });
      await Promise.all(reply.tool_calls.map((call) => this.#run(call)));
    }
    this.#tell({ type: "done" });
  }

  async #run({ id }) {
    const result = { role: "tool", tool_call_id: id, content: await instant() };
    this.#keep(result);
    this.#tell({ type: "result", id, content: result.content });
  }

  #keep(message) {
    this.ctx.storage.sql.exec("INSERT INTO messages (body) VALUES (?)", JSON.stringify(message));
  }

  async #call(model) {
    const stored = this.ctx.storage.sql.exec("SELECT body FROM messages ORDER BY id").toArray();
    const messages = stored.map(({ body }) => JSON.parse(body));
    const response = await fetch(`${this.env.MODEL_URL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, messages, stream: true }),
    });
    let content = "";
    const calls = [];
    for await (const { delta } of choices(response.body)) {
      if (delta.content) {
        content += delta.content;
        this.#tell({ d: delta.content });
      }
      for (const { index, id, type, function: called } of delta.tool_calls ?? []) {
        calls[index] ??= { id, type, function: { name: called.name, arguments: "" } };
        calls[index].function.arguments += called.arguments;
      }
    }
    return { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  }
}

async function instant() {
  return "ok";
}

/** The choices of a stream of chat completion chunks. */
async function* choices(body) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
      yield* JSON.parse(line.slice(6)).choices;
    }
  }
}

export class Floor extends billed(Bare) {}

const worker = {
  fetch(request, env) {
    return env.FLOOR.getByName(new URL(request.url).pathname.slice(1)).fetch(request);
  },
};

export default tellingBilled(worker);
