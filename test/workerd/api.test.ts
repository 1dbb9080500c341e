import { env } from "cloudflare:workers";
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { createApi } from "../../src/api/router.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { publicRoute } from "../../src/api/route.ts";
import { ERROR_CODES, LightAgentError } from "../../src/runtime/protocol/errors.ts";
import { DEFAULT_LIMITS } from "../../src/runtime/protocol/limits.ts";
import { ORIGIN, codeOf, send, sendAs } from "./api-client.ts";
import { Product } from "./product.ts";

let product: Product;
beforeAll(async () => {
  product = await Product.create();
  await product.call("POST", "/v1/sessions", { id: "s" });
});

/** An API of its own, for what the Worker's one does not do. */
function testApi(routes: typeof ROUTES, log: (line: Record<string, unknown>) => void = () => undefined) {
  return createApi({ routes, clock: Date.now, newId: () => "request-1", log });
}

describe("answers", () => {
  it("[API-1] every answer names its request", async () => {
    const answers = await Promise.all([send("/healthz"), send("/v1/nothing"), send("/v1/keys")]);
    const ids = answers.map((answer) => answer.headers.get("x-request-id"));
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain(null);
  });

  it("[API-2] an error is its code and a message, with the status of its code", async () => {
    const response = await product.fetch("/v1/sessions/unknown");
    const body = await response.json<{ error: Record<string, unknown> }>();
    expect(response.status).toBe(ERROR_CODES.not_found.status);
    expect(body).toEqual({ error: { code: "not_found", message: expect.any(String) } });
    expect(response.headers.get("content-type")).toBe("application/json");
  });

  it("[API-3] an unexpected error shows neither its message nor its stack, to the caller or in the log", async () => {
    const secret = "sk-live-SECRET";
    const lines: string[] = [];
    const failing = publicRoute({
      method: "GET",
      path: "/fails",
      summary: "Fails.",
      responses: { 200: null },
      handle() {
        throw new Error(`db failed for key ${secret}`);
      },
    });
    const api = testApi([failing], (line) => void lines.push(JSON.stringify(line)));
    const response = await api(new Request(`${ORIGIN}/fails`), env as never);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toEqual({ error: { code: "internal", message: expect.any(String) } });
    expect(text).not.toMatch(/ at |\.ts|SECRET/);
    expect(response.headers.get("x-request-id")).toBe("request-1");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("request-1");
    expect(lines[0]).not.toContain(secret);
  });

  it("[API-3] an object that does not answer for now is told apart from a fault", async () => {
    const overloaded = publicRoute({
      method: "GET",
      path: "/overloaded",
      summary: "Fails.",
      responses: { 200: null },
      handle() {
        throw Object.assign(new Error("overloaded"), { overloaded: true });
      },
    });
    const response = await testApi([overloaded])(new Request(`${ORIGIN}/overloaded`), env as never);
    expect(await codeOf(response)).toBe("unavailable");
    expect(response.headers.get("retry-after")).toBe("1");
  });

  it("[API-4] an unknown path is 404, another method 405 with the ones that there are", async () => {
    expect(await codeOf(await product.fetch("/v1/nothing"))).toBe("not_found");
    expect(await codeOf(await product.fetch("/v1/sessions/"))).toBe("not_found");
    const response = await product.fetch("/v1/keys", { method: "PUT" });
    expect(await codeOf(response)).toBe("method_not_allowed");
    expect(response.headers.get("allow")).toBe("POST, GET, HEAD");
  });

  it("[API-5] HEAD is answered like GET, without the body", async () => {
    const response = await product.fetch("/v1/sessions/s", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect((await product.fetch("/v1/sessions/unknown", { method: "HEAD" })).status).toBe(404);
    const events = await product.fetch("/v1/sessions/s/events", {
      method: "HEAD",
      headers: { accept: "text/event-stream" },
    });
    expect([events.status, await events.text()]).toEqual([200, ""]);
  });

  it("[API-6] no answer may be cached, framed or taken for another type", async () => {
    const { headers } = await product.fetch("/v1/sessions/s");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });
});

describe("bodies and queries", () => {
  const create = (body: BodyInit, type = "application/json"): Promise<Response> =>
    product.fetch("/v1/sessions", { method: "POST", body, headers: { "content-type": type } });

  it.each([
    ["unknown field", '{"colour":"red"}', "invalid_request"],
    ["wrong type", '{"title":7}', "invalid_request"],
    ["id with a slash", '{"id":"a/b"}', "invalid_request"],
    ["empty id", '{"id":""}', "invalid_request"],
    ["id of 65", `{"id":"${"a".repeat(65)}"}`, "invalid_request"],
    ["not an object", "[]", "invalid_request"],
    ["not JSON", "{", "invalid_json"],
    ["not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "invalid_json"],
    ["name twice", '{"title":"a","title":"b"}', "invalid_request"],
    ["__proto__", '{"metadata":{"__proto__":{}}}', "invalid_request"],
    ["2^53 + 1", '{"metadata":{"n":9007199254740993}}', "invalid_request"],
    ["10,000 levels", `{"metadata":{"n":${"[".repeat(10_000)}${"]".repeat(10_000)}}}`, "invalid_request"],
    ["lone surrogate in a title", '{"title":"\\ud800"}', "invalid_request"],
    ["large metadata", JSON.stringify({ metadata: { n: "x".repeat(20_000) } }), "invalid_request"],
  ])("[API-7] refuses a body with %s", async (_, body, code) => {
    const response = await create(body);
    expect(response.status).toBe(400);
    expect(await codeOf(response)).toBe(code);
  });

  it("[API-7] names what is wrong and where", async () => {
    const { body } = await product.call("POST", "/v1/sessions", { title: 7, budget: { turnTokens: 0 } });
    expect(body).toMatchObject({
      error: { details: { issues: [{ path: "title" }, { path: "budget.turnTokens" }] } },
    });
  });

  it("[API-8] keeps what JSON can say byte for byte", async () => {
    const metadata = { nul: "a\u0000b", lone: "\ud800", half: 0.1, nested: { empty: [] } };
    const { body } = await product.call("POST", "/v1/sessions", { id: "bytes", metadata });
    expect(body["metadata"]).toEqual(metadata);
    expect((await product.call("GET", "/v1/sessions/bytes")).body["metadata"]).toEqual(metadata);
  });

  it("[API-9] reads no more of a body than is allowed", async () => {
    const large = JSON.stringify({ title: "x".repeat(DEFAULT_LIMITS.bodyBytes) });
    expect(await codeOf(await create(large))).toBe("too_large");
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    const request = new Request(`${ORIGIN}/v1/sessions`, {
      method: "POST",
      body: endless,
      headers: { authorization: `Bearer ${product.key}`, "content-type": "application/json" },
    });
    const response = await testApi(ROUTES)(request, env as never);
    expect(response.status).toBe(413);
    expect(pulled).toBeLessThan(40);
  });

  it("[API-10] takes JSON as application/json only; no body is an empty object", async () => {
    expect(await codeOf(await create("{}", "text/plain"))).toBe("unsupported_media_type");
    expect(await codeOf(await create("a=b", "application/x-www-form-urlencoded"))).toBe(
      "unsupported_media_type",
    );
    expect((await create("{}", "application/json; charset=utf-8")).status).toBe(201);
    expect((await product.fetch("/v1/sessions/s/interrupt", { method: "POST" })).status).toBe(200);
  });

  it.each([
    ["/v1/sessions?colour=red", "invalid_request"],
    ["/v1/sessions?limit=0", "invalid_request"],
    ["/v1/sessions?limit=1e2", "invalid_request"],
    ["/v1/sessions?limit=1&limit=2", "invalid_request"],
    ["/v1/sessions?cursor=%00", "invalid_request"],
    ["/v1/sessions?cursor=abc", "invalid_request"],
    ["/v1/sessions/s?x=1", "invalid_request"],
    ["/v1/sessions/s/events?after=abc", "invalid_cursor"],
    ["/v1/sessions/s/events?after=-1", "invalid_cursor"],
    ["/v1/sessions/s/events?after=1.5", "invalid_cursor"],
    ["/v1/sessions/s/events?after=", "invalid_cursor"],
    ["/v1/sessions/s/events?after=99999999999999999999", "invalid_cursor"],
    ["/v1/sessions/s/events?limit=5001", "invalid_request"],
    ["/v1/sessions/s/events?types=input,nothing", "invalid_request"],
    ["/v1/sessions/s/events?_pk=victim", "invalid_request"],
  ])("[API-11] refuses the query of %s", async (path, code) => {
    const response = await product.fetch(path);
    expect(response.status).toBe(400);
    expect(await codeOf(response)).toBe(code);
  });
});

describe("ids and headers that reach nothing", () => {
  const TRICKS = [
    "a%2Fb",
    "a%2fb",
    "%61",
    "%2e%2e",
    "..%2f..%2fx",
    "a%00b",
    "a%20",
    "a:b",
    "!root",
    "a.b",
    "%C3%A9",
    "%c0%ae",
    "a%252Fb",
    "x".repeat(65),
    "x".repeat(1_100),
  ];

  it.each(TRICKS)("[API-12] %s is no id, and no object is touched", async (id) => {
    const before = await listDurableObjectIds(env.SESSION);
    for (const path of [`/v1/sessions/${id}`, `/v1/sessions/${id}/events`, `/v1/agents/${id}`]) {
      const response = await product.fetch(path);
      expect([path, response.status, await codeOf(response)]).toEqual([path, 404, "not_found"]);
    }
    const prompt = await sendAs(product.key, "POST", `/v1/sessions/${id}/prompt`, { text: "x" });
    expect(prompt.status).toBe(404);
    expect(await listDurableObjectIds(env.SESSION)).toEqual(before);
  });

  it("[TENANT-30] an id that was never created leaves no storage behind", async () => {
    const session = env.SESSION.getByName(`${product.tenant}:never`);
    const tenant = env.TENANT.getByName("never");
    const socket = await product.fetch("/v1/sessions/never/ws", { headers: { upgrade: "websocket" } });
    expect(socket.status).toBe(404);
    for (const path of ["", "/events", "/queue", "/messages", "/artifacts/x"]) {
      expect((await product.fetch(`/v1/sessions/never${path}`)).status).toBe(404);
    }
    expect((await sendAs(product.key, "POST", "/v1/sessions/never/prompt", { text: "x" })).status).toBe(404);
    const key = `la_never.k.${"s".repeat(43)}`;
    expect((await sendAs(key, "GET", "/v1/sessions")).status).toBe(401);
    // workerd itself keeps an empty database for any object that was asked.
    for (const stub of [session, tenant]) {
      const tables = await runInDurableObject(stub, (_, { storage }) =>
        storage.sql.exec("SELECT name FROM sqlite_schema").toArray(),
      );
      expect(tables).toEqual([]);
    }
  });

  it.each([
    "/parties/session/x",
    "/parties/tenant/!root",
    "/parties/workspace/a:b",
    "/parties/x/y/z",
    "/parties",
  ])("[API-14] %s is not there", async (path) => {
    for (const method of ["GET", "POST", "DELETE"]) {
      const response = await product.fetch(path, { method });
      expect(response.status).toBe(404);
    }
    expect((await product.fetch(path, { headers: { upgrade: "websocket" } })).status).toBe(404);
  });

  it("[API-15] headers that steer objects have no effect when a client sends them", async () => {
    const headers = {
      "x-partykit-room": "other:victim",
      "x-partykit-props": '{"tenant":"victim"}',
      "x-partykit-namespace": "tenant",
      "x-light-agent-caller": JSON.stringify({
        tenant: "victim",
        principal: { kind: "user", id: "eve" },
        scopes: [],
      }),
    };
    const { body } = await product.call<{ id: string }>("POST", "/v1/sessions", { id: "steered" });
    expect(body.id).toBe("steered");
    const response = await product.fetch("/v1/sessions/steered/ws", {
      headers: { ...headers, upgrade: "websocket" },
    });
    expect(response.status).toBe(101);
    const socket = response.webSocket;
    const hello = new Promise<string>((resolve) => {
      socket?.addEventListener("message", ({ data }) => resolve(String(data)), { once: true });
    });
    socket?.accept();
    expect(JSON.parse(await hello)).toMatchObject({ type: "hello", state: { id: "steered" } });
    // Its caller is still the API key, which may prompt.
    const ack = new Promise<string>((resolve) => {
      socket?.addEventListener(
        "message",
        ({ data }) => String(data).includes('"id":"1"') && resolve(String(data)),
      );
    });
    socket?.send(JSON.stringify({ id: "1", type: "interrupt" }));
    expect(JSON.parse(await ack)).toMatchObject({ type: "ack" });
    socket?.close();
  });
});

describe("browsers", () => {
  const ask = (origin: string, method = "GET", path = "/v1/sessions/s"): Promise<Response> =>
    product.fetch(path, { method, headers: { origin } });

  it("[API-16] a page of an allowed origin may read answers, another one may not", async () => {
    const allowed = await ask("https://app.example.com");
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(allowed.headers.get("access-control-expose-headers")).toContain("x-session-id");
    expect(allowed.headers.get("vary")).toContain("Origin");
    expect((await ask(ORIGIN)).headers.get("access-control-allow-origin")).toBe(ORIGIN);
    for (const origin of [
      "https://evil.example",
      "null",
      "https://app.example.com.evil.example",
      "http://app.example.com",
    ]) {
      expect((await ask(origin)).headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  it("[API-16] a preflight of an allowed origin is told the methods and headers", async () => {
    const { status, headers } = await send("/v1/sessions", {
      method: "OPTIONS",
      headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
    });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(headers.get("access-control-allow-methods")).toContain("PATCH");
    expect(headers.get("access-control-allow-headers")).toContain("idempotency-key");
  });

  it("[API-17] a WebSocket of a foreign page is refused", async () => {
    const connect = (origin?: string): Promise<Response> =>
      product.fetch("/v1/sessions/s/ws", { headers: { upgrade: "websocket", ...(origin && { origin }) } });
    for (const origin of ["https://evil.example", "null"]) {
      expect(await codeOf(await connect(origin))).toBe("origin_not_allowed");
    }
    for (const origin of [undefined, ORIGIN, "https://app.example.com"]) {
      const response = await connect(origin);
      expect(response.status).toBe(101);
      response.webSocket?.accept();
      response.webSocket?.close();
    }
  });
});

describe("configuration", () => {
  it("[API-18] without its secrets the Worker answers /healthz alone, and says what to set", async () => {
    const bare = { ...(env as unknown as Record<string, unknown>), ROOT_KEY: "", ENCRYPTION_KEY: undefined };
    const api = testApi(ROUTES);
    const ask = (path: string): Promise<Response> => api(new Request(`${ORIGIN}${path}`), bare as never);
    expect((await ask("/healthz")).status).toBe(200);
    for (const path of ["/v1/sessions", "/openapi.json", "/docs", "/", "/nothing"]) {
      const response = await ask(path);
      const { error } = await response.json<{ error: Record<string, unknown> }>();
      expect(response.status).toBe(503);
      expect(error).toMatchObject({
        code: "not_configured",
        details: { missing: ["ROOT_KEY", "ENCRYPTION_KEY"] },
      });
    }
  });

  it("[API-2] an error without a status of its own is a fault of ours", async () => {
    const confused = publicRoute({
      method: "GET",
      path: "/confused",
      summary: "Fails.",
      responses: { 200: null },
      handle() {
        throw new LightAgentError("model_timeout", "late");
      },
    });
    const response = await testApi([confused])(new Request(`${ORIGIN}/confused`), env as never);
    expect(response.status).toBe(500);
  });
});
