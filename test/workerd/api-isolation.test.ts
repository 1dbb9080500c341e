import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Route } from "../../src/api/route.ts";
import type { MemoryApi } from "../../src/durable/memory-api.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { Product } from "./product.ts";

/** How a tenant asks for a route, and what it gets when the ids are another tenant's. */
interface Attempt {
  /** As JSON. */
  readonly body?: unknown;
  /** As it stands. */
  readonly content?: string;
  readonly headers?: Record<string, string>;
  /** Status for ids that only the other tenant has; null for a route that names none. */
  readonly foreign: number | null;
  /** Status for ids that both tenants have, or for a route that names none. */
  readonly same: number;
}

/** Ids that only the victim has, and ids that both tenants have. */
const FOREIGN: Record<string, string> = {
  session: "a-session",
  chat: "a-chat",
  workspace: "a-workspace",
  agent: "a-agent",
  key: "a-key",
  provider: "a-provider",
  skill: "a-skill",
  memory: "a-memory",
  promptId: "a-prompt",
  ref: "a-ref",
  approval: "a-approval",
  input: "a-input",
  tenant: "a-tenant",
};
const SAME = "same";

const RUN = { threadId: "t", runId: "r", messages: [], tools: [], context: [] };
const SOCKET = { upgrade: "websocket" };

/** Every route, by method and path. A route that is not here fails the test: say here how tenants try to meet in it. */
const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  "GET /healthz": { foreign: null, same: 200 },
  "GET /openapi.json": { foreign: null, same: 200 },
  "GET /docs": { foreign: null, same: 200 },
  "POST /v1/tenants": { body: { id: "mine" }, foreign: null, same: 403 },
  "GET /v1/tenants": { foreign: null, same: 403 },
  "GET /v1/tenants/:tenant": { foreign: 403, same: 403 },
  "PATCH /v1/tenants/:tenant": { body: { name: "taken over" }, foreign: 403, same: 403 },
  "DELETE /v1/tenants/:tenant": { foreign: 403, same: 403 },
  "POST /v1/tenants/:tenant/keys": { body: { name: "k", role: "admin" }, foreign: 403, same: 403 },
  "POST /v1/keys": { body: { name: "k", role: "viewer" }, foreign: null, same: 201 },
  "GET /v1/keys": { foreign: null, same: 200 },
  "DELETE /v1/keys/:key": { foreign: 404, same: 404 },
  "PUT /v1/providers/:provider": {
    body: { apiKey: "sk", baseUrl: "https://models.acme.dev/v1" },
    foreign: null,
    same: 200,
  },
  "GET /v1/providers": { foreign: null, same: 200 },
  "DELETE /v1/providers/:provider": { foreign: 404, same: 204 },
  "GET /v1/models": { foreign: null, same: 200 },
  "PUT /v1/skills/:skill": {
    body: { content: "---\nname: same\ndescription: mine too\n---\n" },
    foreign: null,
    same: 200,
  },
  "GET /v1/skills": { foreign: null, same: 200 },
  "GET /v1/skills/:skill": { foreign: 404, same: 200 },
  "DELETE /v1/skills/:skill": { foreign: 404, same: 204 },
  "GET /v1/sessions/:session/skills": { foreign: 404, same: 200 },
  "POST /v1/agents": { body: { id: "mine", name: "M" }, foreign: null, same: 201 },
  "GET /v1/agents": { foreign: null, same: 200 },
  "GET /v1/agents/:agent": { foreign: 404, same: 200 },
  "PUT /v1/agents/:agent": { body: { name: "changed" }, foreign: 404, same: 200 },
  "GET /v1/agents/:agent/versions": { foreign: 404, same: 200 },
  "GET /v1/agents/:agent/memories": { foreign: 404, same: 200 },
  "DELETE /v1/agents/:agent/memories/:memory": { foreign: 404, same: 404 },
  "DELETE /v1/agents/:agent/memories": { foreign: 404, same: 202 },
  "DELETE /v1/memories": { foreign: null, same: 202 },
  "POST /v1/sessions": { body: { id: "mine" }, foreign: null, same: 201 },
  "GET /v1/sessions": { foreign: null, same: 200 },
  "GET /v1/sessions/:session": { foreign: 404, same: 200 },
  "PATCH /v1/sessions/:session": { body: { title: "changed" }, foreign: 404, same: 200 },
  "DELETE /v1/sessions/:session": { foreign: 404, same: 202 },
  "POST /v1/sessions/:session/prompt": { body: { text: "hi" }, foreign: 404, same: 202 },
  "POST /v1/sessions/:session/interrupt": { body: {}, foreign: 404, same: 200 },
  "GET /v1/sessions/:session/queue": { foreign: 404, same: 200 },
  "DELETE /v1/sessions/:session/queue/:promptId": { foreign: 404, same: 404 },
  "GET /v1/sessions/:session/requests": { foreign: 404, same: 200 },
  "POST /v1/sessions/:session/approvals/:approval": { body: { decision: "allow" }, foreign: 404, same: 404 },
  "POST /v1/sessions/:session/inputs/:input": { body: { text: "yes" }, foreign: 404, same: 404 },
  "GET /v1/sessions/:session/checkpoints": { foreign: 404, same: 200 },
  "POST /v1/sessions/:session/restore": { body: { toSeq: 999_999 }, foreign: 404, same: 400 },
  "POST /v1/sessions/:session/fork": { body: { id: "my-fork" }, foreign: 404, same: 201 },
  "GET /v1/sessions/:session/events": { foreign: 404, same: 200 },
  "GET /v1/sessions/:session/ws": { headers: SOCKET, foreign: 404, same: 101 },
  "GET /v1/sessions/:session/messages": { foreign: 404, same: 200 },
  "GET /v1/sessions/:session/trace": { foreign: 404, same: 200 },
  "POST /v1/sessions/:session/compact": { body: {}, foreign: 404, same: 200 },
  "GET /v1/sessions/:session/artifacts/:ref": { foreign: 404, same: 404 },
  "POST /v1/sessions/:session/tokens": { body: { scopes: ["read"] }, foreign: 404, same: 200 },
  "POST /v1/chat": { body: { text: "hi" }, foreign: null, same: 200 },
  "POST /v1/sessions/:session/ai-sdk": {
    body: { messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "hi" }] }] },
    foreign: 404,
    same: 200,
  },
  "GET /v1/sessions/:session/ai-sdk/:chat/stream": { foreign: 404, same: 204 },
  "GET /v1/sessions/:session/ai-sdk/messages": { foreign: 404, same: 200 },
  "POST /v1/ag-ui": { body: { ...RUN, threadId: SAME }, foreign: null, same: 200 },
  "POST /v1/sessions/:session/ag-ui": { body: RUN, foreign: 404, same: 200 },
  "POST /v1/workspaces": { body: { id: "mine-too" }, foreign: null, same: 201 },
  "GET /v1/workspaces": { foreign: null, same: 200 },
  "GET /v1/workspaces/:workspace": { foreign: 404, same: 200 },
  "DELETE /v1/workspaces/:workspace": { foreign: 404, same: 202 },
  "GET /v1/workspaces/:workspace/files/*": { foreign: 404, same: 200 },
  "PUT /v1/workspaces/:workspace/files/*": { content: "changed", foreign: 404, same: 200 },
  "DELETE /v1/workspaces/:workspace/files/*": { foreign: 404, same: 200 },
  "GET /v1/workspaces/:workspace/archive": { foreign: 404, same: 200 },
  "PUT /v1/workspaces/:workspace/archive": { content: "no archive", foreign: 404, same: 400 },
  "POST /v1/workspaces/:workspace/search": {
    body: { kind: "grep", pattern: "victim" },
    foreign: 404,
    same: 200,
  },
  "POST /v1/workspaces/:workspace/delete": { body: { paths: ["none"] }, foreign: 404, same: 404 },
  "GET /v1/workspaces/:workspace/diff": { foreign: 404, same: 200 },
  "GET /v1/workspaces/:workspace/versions": { foreign: 404, same: 200 },
  "POST /v1/workspaces/:workspace/restore": { body: { version: 1 }, foreign: 404, same: 200 },
  "GET /v1/usage": { foreign: null, same: 200 },
  "GET /v1/audit": { foreign: null, same: 200 },
};

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** The route's path with ids in it. */
function pathOf(route: Route, idOf: (name: string) => string): string {
  return route.path.replaceAll(/:(\w+)/g, (_, name: string) => idOf(name)).replace(/\*$/, "a.txt");
}

/** The body as text, whatever its type says. */
async function textOf(response: Response): Promise<string> {
  return new TextDecoder().decode(await response.arrayBuffer());
}

/** Everything of the victim's that a tenant can see of itself. */
async function pictureOf(victim: Product): Promise<string> {
  const parts: unknown[] = [];
  const skills = ["a-skill", SAME].map((id) => `/v1/skills/${id}`);
  const lists = [
    "/v1/keys",
    "/v1/skills",
    "/v1/agents",
    "/v1/sessions",
    "/v1/workspaces",
    "/v1/usage",
    "/v1/audit",
  ];
  const sessions = ["a-session", SAME].flatMap((id) =>
    ["", "/events", "/messages", "/trace", "/queue", "/checkpoints"].map(
      (rest) => `/v1/sessions/${id}${rest}`,
    ),
  );
  const agents = ["a-agent", SAME].flatMap((id) =>
    ["/versions", "/memories"].map((rest) => `/v1/agents/${id}${rest}`),
  );
  const workspaces = ["a-workspace", SAME].flatMap((id) =>
    ["", "/versions", "/files/", "/files/a.txt"].map((rest) => `/v1/workspaces/${id}${rest}`),
  );
  for (const path of [...lists, ...skills, ...sessions, ...agents, ...workspaces]) {
    const response = await victim.fetch(path);
    parts.push([path, response.status, await textOf(response)]);
  }
  return JSON.stringify(parts);
}

const PATIENCE = { timeout: 20_000, interval: 20 };
const MARK = "only-the-victim-knows-this";

async function furnish(tenant: Product, mark: string): Promise<void> {
  for (const id of [SAME, ...(mark === MARK ? ["a-skill"] : [])]) {
    await tenant.call("PUT", `/v1/skills/${id}`, {
      content: `---\nname: ${id}\ndescription: ${mark}\n---\n`,
    });
  }
  for (const id of [SAME, ...(mark === MARK ? ["a-agent"] : [])]) {
    await tenant.call("POST", "/v1/agents", {
      id,
      name: mark,
      model: "demo",
      skills: [SAME],
      prompts: [{ name: "p", content: mark }],
    });
    // Of the key itself, which no two tenants share, and of a user whom both have.
    for (const owner of [`key:${tenant.key.split(".")[1]}`, "user:ann"]) {
      const memory = env.MEMORY.getByName(`${tenant.tenant}:${id}:${owner}`) as unknown as MemoryApi;
      const origin = { session: id, seq: 1 };
      const own = mark === MARK ? "a-memory" : "mine";
      expect(await memory.upsert({ id: own, kind: "semantic", content: mark, origin }, 10)).toMatchObject({
        ok: true,
      });
    }
  }
  for (const id of [SAME, ...(mark === MARK ? ["a-workspace"] : [])]) {
    await tenant.call("POST", "/v1/workspaces", { id, name: mark });
    await tenant.fetch(`/v1/workspaces/${id}/files/a.txt`, { method: "PUT", body: mark });
  }
  for (const id of [SAME, ...(mark === MARK ? ["a-session"] : [])]) {
    await tenant.call("POST", "/v1/sessions", { id, agent: SAME, title: mark, metadata: { mark } });
    await tenant.call("POST", `/v1/sessions/${id}/prompt`, { text: mark, promptId: "a-prompt" });
    await vi.waitFor(async () => {
      const { body } = await tenant.call<{ status: string; head: number }>("GET", `/v1/sessions/${id}`);
      expect(body).toMatchObject({ status: "idle", head: expect.any(Number) });
    }, PATIENCE);
  }
}

describe("two tenants with the same ids", () => {
  let victim: Product;
  let intruder: Product;
  let before: string;

  beforeAll(async () => {
    victim = await Product.create();
    intruder = await Product.create();
    await furnish(victim, MARK);
    await furnish(intruder, "mine");
    FOREIGN["key"] = victim.key.split(".")[1] ?? "";
    FOREIGN["tenant"] = victim.tenant;
    // A turn's report to the tenant is the last thing that changes by itself.
    await vi.waitFor(async () => {
      const { body } = await victim.call<{ data: { head: number }[] }>("GET", "/v1/sessions");
      expect(body.data.every(({ head }) => head > 0)).toBe(true);
    }, PATIENCE);
    before = await pictureOf(victim);
    expect(before).toContain(MARK);
  });

  it("[TENANT-20] every route of the API is tried", () => {
    expect(ROUTES.map(nameOf).toSorted()).toEqual(Object.keys(ATTEMPTS).toSorted());
  });

  // What deletes comes last, what holds others last of all, so that every route meets what it names.
  const weight = ({ method, path }: Route): number => (method === "DELETE" ? 1_000 - path.length : 0);
  const ordered = ROUTES.toSorted((left, right) => weight(left) - weight(right));

  it.each(ordered.map((route) => [nameOf(route), route] as const))(
    "[TENANT-20] never meet in %s",
    async (name, route) => {
      const attempt = ATTEMPTS[name];
      if (!attempt) throw new Error("This route is not in the table.");
      const send = async (path: string): Promise<{ status: number; text: string }> => {
        const headers = {
          ...(attempt.body !== undefined && { "content-type": "application/json" }),
          ...attempt.headers,
        };
        const body = attempt.body === undefined ? (attempt.content ?? null) : JSON.stringify(attempt.body);
        const response = await intruder.fetch(path, { method: route.method, headers, body });
        if (!response.webSocket) return { status: response.status, text: await textOf(response) };
        const hello = new Promise<string>((resolve) => {
          response.webSocket?.addEventListener("message", ({ data }) => resolve(String(data)), {
            once: true,
          });
        });
        response.webSocket.accept();
        const text = await hello;
        response.webSocket.close();
        return { status: response.status, text };
      };
      if (attempt.foreign !== null) {
        const foreign = await send(pathOf(route, (id) => FOREIGN[id] ?? ""));
        expect(foreign.status).toBe(attempt.foreign);
        expect(foreign.text).not.toContain(MARK);
        if (attempt.foreign === 404) {
          // Word for word what an id gets that nobody has.
          const unknown = await send(pathOf(route, () => "nobody-has-this"));
          expect(unknown).toEqual(foreign);
        }
      }
      const same = await send(pathOf(route, () => SAME));
      expect(same.status).toBe(attempt.same);
      expect(same.text).not.toContain(MARK);
      expect(await pictureOf(victim)).toBe(before);
    },
  );

  it("[TENANT-21] an id in a body names only what is the caller's own", async () => {
    const calls: [path: string, body: unknown][] = [
      ["/v1/sessions", { agent: "a-agent" }],
      ["/v1/sessions", { workspace: "a-session" }],
      ["/v1/chat", { session: "a-session", text: "hi" }],
      ["/v1/chat", { agent: "a-agent", text: "hi" }],
      ["/v1/ag-ui?agent=a-agent", { ...RUN, threadId: "another-thread" }],
    ];
    for (const [path, body] of calls) {
      const answer = await intruder.call("POST", path, body);
      expect([path, body, answer.status]).toEqual([path, body, 404]);
    }
    for (const extra of [{ tenant: victim.tenant }, { by: { kind: "user", id: "x" } }]) {
      expect((await intruder.call("POST", "/v1/sessions", extra)).status).toBe(400);
    }
    expect(await pictureOf(victim)).toBe(before);
  });
});
