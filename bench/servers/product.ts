import { randomBytes, randomUUID } from "node:crypto";
import { Conversation } from "../conversation.ts";
import type { Dialect } from "../conversation.ts";
import { startWorker } from "../worker-process.ts";
import type { Billed } from "../worker-process.ts";
import type { BenchServer } from "./server.ts";

const dialect: Dialect = {
  prompt: async (model) => JSON.stringify({ id: "p", type: "prompt", text: "go", model: `openai/${model}` }),
  ends: (frame) => frame.startsWith('{"type":"events"') && frame.includes('"type":"agent_stop"'),
  reply: (frame) => {
    if (!frame.startsWith('{"type":"sync"')) return null;
    const { n } = JSON.parse(frame) as { n: number };
    return JSON.stringify({ type: "synced", n });
  },
  deltaText(frame) {
    const { type, text } = JSON.parse(frame) as { type: string; text?: string };
    return type === "text_delta" ? (text ?? null) : null;
  },
  missedText(frame) {
    if (!frame.startsWith('{"type":"live"')) return this.deltaText(frame);
    const { partial } = JSON.parse(frame) as { partial: readonly { text: string }[] };
    return partial.map(({ text }) => text).join("");
  },
};

/** The product: its own bundle, a tenant, an agent and sessions made over HTTP, as a back end makes them. */
export async function startProduct(modelUrl: string): Promise<BenchServer> {
  const rootKey = randomBytes(32).toString("base64url");
  const worker = await startWorker("wrangler.toml", "bench/workers/product.js", {
    ROOT_KEY: rootKey,
    SIGNING_KEY: randomBytes(32).toString("base64url"),
    ENCRYPTION_KEY: randomBytes(32).toString("base64url"),
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: modelUrl,
  });
  const tenant = "bench";
  const { apiKey } = await create<{ apiKey: string }>(worker.url, rootKey, "tenants", { id: tenant });
  const agents = new Set<string>();
  return {
    name: "product",
    processId: worker.processId,
    async open(tool) {
      if (!agents.has(tool)) await create(worker.url, apiKey, "agents", { id: tool, tools: [tool] });
      agents.add(tool);
      const session = randomUUID();
      const { workspace } = await create<{ workspace: string }>(worker.url, apiKey, "sessions", {
        id: session,
        agent: tool,
      });
      const url = `${worker.url}/v1/sessions/${session}/ws?after=0`;
      const join = (): Promise<Conversation> =>
        Conversation.open(url, dialect, ["light-agent.v1", `token.${apiKey}`]);
      return {
        conversation: await join(),
        join,
        dialect,
        billed: () => worker.billed("SESSION", `${tenant}:${session}`),
        billedElsewhere: async () =>
          sum(
            await worker.billed("TENANT", tenant),
            await worker.billed("WORKSPACE", `${tenant}:${workspace}`),
          ),
      };
    },
    stop: () => worker.stop(),
  };
}

async function create<T>(url: string, key: string, resource: string, body: object): Promise<T> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${url}/v1/${resource}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST /v1/${resource}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

function sum(a: Billed, b: Billed): Billed {
  return {
    rows: a.rows + b.rows,
    statements: a.statements + b.statements,
    alarms: a.alarms + b.alarms,
    keyValue: a.keyValue + b.keyValue,
  };
}
