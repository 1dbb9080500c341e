import { Session as Product } from "../../src/durable/session.ts";
import { SessionStore } from "../../src/durable/session-store.ts";
import { createContextBuilder } from "../../src/runtime/context/context-builder.ts";
import { foldSession } from "../../src/runtime/protocol/session-fold.ts";

export { Memory, Tenant, Workspace } from "../../src/worker.ts";

const TENANT = "bench";
const BY = { kind: "system", id: "bench" };
const USAGE = { input: 1_000, output: 100, cachedInput: 0, reasoning: 0 };
const LOG_ROW_BYTES = 1_900_000;
const WORDS =
  "Nothing that anybody said matters here, but that it is about as long as such things are. ".repeat(4);

/** The product's object, which also fills its log, tells what it reads, and builds a model's input. */
export class Session extends Product {
  #cursors;
  #rowsRead = 0;

  constructor(ctx, env) {
    const exec = ctx.storage.sql.exec.bind(ctx.storage.sql);
    const cursors = [];
    const value = (...args) => {
      const cursor = exec(...args);
      cursors.push(cursor);
      return cursor;
    };
    Object.defineProperty(ctx.storage.sql, "exec", { configurable: true, value });
    super(ctx, env);
    this.#cursors = cursors;
  }

  rowsRead() {
    for (const cursor of this.#cursors.splice(0)) this.#rowsRead += cursor.rowsRead;
    return this.#rowsRead;
  }

  #store() {
    const store = new SessionStore(String(this.ctx.id.name), this.ctx.storage, LOG_ROW_BYTES);
    return { store, snapshot: store.load() };
  }

  /** Turns of four events each, as a session writes them; at the end a summary of all but the last, if asked for. */
  fill(turns, summarised) {
    const { store, snapshot } = this.#store();
    let seq = snapshot.base.head;
    let { turn } = snapshot.base;
    const commit = (bodies, more) => {
      const events = bodies.map((body) => ({ seq: (seq += 1), at: 1, turn, ...body }));
      store.append({ events, ...more });
    };
    for (let at = 0; at < turns; at += 1) {
      turn += 1;
      const promptId = `p${turn}`;
      const content = [{ type: "text", text: WORDS }];
      const prompt = { promptId, mode: "queue", content, by: BY, source: "user", at: 1, digest: "" };
      const input = { type: "input", step: 0, promptId, content, source: "user", by: BY };
      commit([input], { opens: { ...prompt, receipt: {} } });
      const trace = { model: "m", attempt: 1, usage: USAGE, finishReason: "stop", startedAt: 1, endedAt: 1 };
      const stop = { reason: "stop", cause: "model", promptIds: [promptId], usage: USAGE };
      commit([
        { type: "output", step: 1, attempt: 1, block: 0, text: WORDS },
        { type: "agent_trace", step: 1, ...trace },
        { type: "agent_stop", step: 1, ...stop },
      ]);
    }
    if (!summarised) return;
    const span = { fromSeq: 1, throughSeq: seq - 4, before: 1_000, after: 100 };
    commit([{ type: "agent_summary", step: 1, text: WORDS, kind: "manual", ...span }]);
  }

  /** How many messages a model would be sent. */
  context() {
    const { store, snapshot } = this.#store();
    const { summarisedThrough } = foldSession(snapshot.events, snapshot.base);
    const events = [...store.read(summarisedThrough)];
    return createContextBuilder([]).build(events, 200_000).messages.length;
  }

  evict() {
    this.ctx.abort("evicted");
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const id = searchParams.get("session");
    const session = env.SESSION.getByName(`${TENANT}:${id}`);
    const { turns, summarised } = await request.json();
    switch (pathname) {
      case "/create": {
        const about = { agent: "a", agentVersion: 1, definition: {}, workspace: id, title: "", metadata: {} };
        return Response.json(await session.create({ tenant: TENANT, id, ...about, limits: {}, by: BY }));
      }
      case "/fill":
        return Response.json((await session.fill(turns, summarised)) ?? null);
      case "/open":
        return Response.json(await session.state());
      case "/context":
        return Response.json(await session.context());
      case "/evict":
        return Response.json(await session.evict().catch(() => null));
      default:
        return Response.json(await session.rowsRead());
    }
  },
};
