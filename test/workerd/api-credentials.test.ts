import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { Credentials } from "../../src/api/credentials.ts";
import type { Environment } from "../../src/api/environment.ts";
import { signToken } from "../../src/api/session-token.ts";
import { ORIGIN, codeOf, send, sendAs, sendAsRoot } from "./api-client.ts";
import { Product, freshName } from "./product.ts";

let product: Product;
beforeAll(async () => {
  product = await Product.create();
  await product.call("POST", "/v1/agents", { id: "demo", name: "D", model: "demo" });
  for (const id of ["s", "other"]) await product.call("POST", "/v1/sessions", { id, agent: "demo" });
});

async function newKey(role: string): Promise<{ id: string; apiKey: string }> {
  const { body } = await product.call<{ id: string; apiKey: string }>("POST", "/v1/keys", {
    name: "k",
    role,
  });
  return body;
}

async function newToken(body: Record<string, unknown>, session = "s"): Promise<string> {
  const answer = await product.call<{ token: string }>("POST", `/v1/sessions/${session}/tokens`, body);
  expect(answer.status).toBe(200);
  return answer.body.token;
}

/** How often the tenant's object was asked, through a credential check with its own clock. */
function countingCredentials(now: () => number) {
  let asked = 0;
  const count = (): number => (asked += 1);
  const environment = {
    ...(env as unknown as Environment),
    TENANT: {
      getByName(name: string) {
        const stub = (env as unknown as Environment).TENANT.getByName(name);
        const unknown = { ok: false, error: { code: "not_found", message: "" } };
        return {
          // Asked very often, so not really.
          verifyKey: (id: string, hash: string) => (
            count(),
            name === "nobody" ? unknown : stub.verifyKey(id, hash)
          ),
          keyStanding: (id: string) => (count(), stub.keyStanding(id)),
        };
      },
    },
  } as unknown as Environment;
  const credentials = new Credentials(now);
  const check = (credential: string): Promise<unknown> => {
    const request = new Request(ORIGIN, { headers: { authorization: `Bearer ${credential}` } });
    return credentials.authenticate(request, environment).catch((caught: { code: string }) => caught.code);
  };
  return { check, asked: () => asked, credentials };
}

describe("credentials", () => {
  it.each([
    ["none", undefined],
    ["no bearer", "Basic abc"],
    ["an empty one", "Bearer "],
    ["a wrong root key", "Bearer root-key-of-the-testz"],
    ["half a key", "Bearer la_tenant-1.k"],
    ["a key of an unknown tenant", `Bearer la_nobody.k.${"s".repeat(43)}`],
    ["a key of the directory", `Bearer la_!root.k.${"s".repeat(43)}`],
    ["a key with a path for a tenant", `Bearer la_a/b.k.${"s".repeat(43)}`],
    ["three dotted parts", "Bearer a.b.c"],
  ])("[TENANT-1] %s is 401", async (_, authorization) => {
    const response = await send(
      "/v1/sessions",
      authorization === undefined ? {} : { headers: { authorization } },
    );
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await codeOf(response)).toBe("unauthorized");
  });

  it("[TENANT-1] a key with another secret, or another tenant's name, is 401", async () => {
    const [tenant = "", id = "", secret = ""] = product.key.replace(/^la_/, "").split(".");
    const flipped = (secret.startsWith("a") ? "b" : "a") + secret.slice(1);
    expect((await sendAs(`la_${tenant}.${id}.${flipped}`, "GET", "/v1/sessions")).status).toBe(401);
    const other = await Product.create();
    expect((await sendAs(`la_${other.tenant}.${id}.${secret}`, "GET", "/v1/sessions")).status).toBe(401);
  });

  it("[TENANT-2] of a key only a hash is stored", async () => {
    const secret = product.key.split(".").at(-1) ?? "";
    const stored = await runInDurableObject(env.TENANT.getByName(product.tenant), (_, { storage }) =>
      JSON.stringify(storage.sql.exec("SELECT * FROM keys").toArray()),
    );
    expect(stored).toContain('"role":"admin"');
    expect(stored).not.toContain(secret);
    const listed = JSON.stringify((await product.call("GET", "/v1/keys")).body);
    expect(listed).not.toContain(secret);
    expect(listed).not.toContain("hash");
  });

  it("[TENANT-3] roles: a viewer reads, a member also drives, an admin also manages, root does neither", async () => {
    const credentials = {
      viewer: (await newKey("viewer")).apiKey,
      member: (await newKey("member")).apiKey,
      admin: (await newKey("admin")).apiKey,
      root: env.ROOT_KEY,
    };
    const calls: [method: string, path: string, body: unknown, allowed: (keyof typeof credentials)[]][] = [
      ["GET", "/v1/sessions/s", undefined, ["viewer", "member", "admin"]],
      ["GET", "/v1/agents", undefined, ["viewer", "member", "admin"]],
      ["POST", "/v1/sessions/s/interrupt", {}, ["member", "admin"]],
      ["PATCH", "/v1/sessions/s", { title: "t" }, ["member", "admin"]],
      ["GET", "/v1/keys", undefined, ["admin"]],
      ["GET", "/v1/usage", undefined, ["admin"]],
      ["GET", "/v1/audit", undefined, ["admin"]],
      ["PUT", "/v1/agents/default", { name: "d" }, ["admin"]],
      ["GET", "/v1/tenants", undefined, ["root"]],
    ];
    for (const [method, path, body, allowed] of calls) {
      for (const [name, credential] of Object.entries(credentials)) {
        const response = await sendAs(credential, method, path, body);
        const expected = allowed.some((role) => role === name) ? 200 : 403;
        expect([name, method, path, response.status]).toEqual([name, method, path, expected]);
        await response.body?.cancel();
      }
    }
  });

  it("[TENANT-4] a verified key is trusted for a minute, and a refused one is not asked for again at once", async () => {
    let now = 1_000_000;
    const { check, asked } = countingCredentials(() => now);
    await check(product.key);
    now += 59_999;
    expect(await check(product.key)).toMatchObject({ kind: "key", role: "admin" });
    expect(asked()).toBe(1);
    now += 1;
    await check(product.key);
    expect(asked()).toBe(2);
    const wrong = `la_${product.tenant}.k.${"s".repeat(43)}`;
    expect([await check(wrong), await check(wrong)]).toEqual(["unauthorized", "unauthorized"]);
    expect(asked()).toBe(3);
    for (let index = 0; index < 1_100; index += 1) {
      await check(`la_nobody.k.${String(index).padStart(43, "x")}`);
    }
    await check(wrong);
    expect(asked()).toBe(3 + 1_100 + 1);
  });

  it("[TENANT-5] a revoked key is out, and with it the tokens that it issued", async () => {
    const { id, apiKey } = await newKey("member");
    const issued = await sendAs(apiKey, "POST", "/v1/sessions/s/tokens", { scopes: ["read"] });
    const { token } = await issued.json<{ token: string }>();
    expect((await sendAs(token, "GET", "/v1/sessions/s")).status).toBe(200);
    expect((await product.call("DELETE", `/v1/keys/${id}`)).status).toBe(204);
    expect((await sendAs(apiKey, "GET", "/v1/sessions")).status).toBe(401);
    expect((await sendAs(token, "GET", "/v1/sessions/s")).status).toBe(401);
    // Another isolate finds out when its minute is over.
    let now = Date.now();
    const elsewhere = countingCredentials(() => now);
    expect(await elsewhere.check(apiKey)).toBe("unauthorized");
    expect((await product.call("DELETE", `/v1/keys/${id}`)).status).toBe(404);
  });

  it("[TENANT-6] a back end names its end user in x-user-id, a token in sub", async () => {
    const prompt = (credential: string, headers: Record<string, string>): Promise<Response> =>
      sendAs(credential, "POST", "/v1/sessions/s/prompt", { text: "hello", mode: "queue" }, headers);
    const token = await newToken({ scopes: ["prompt"], sub: "zoë" });
    expect((await prompt(product.key, { "x-user-id": "user-7" })).status).toBe(202);
    expect((await prompt(token, { "x-user-id": "mallory" })).status).toBe(202);
    expect((await prompt(product.key, {})).status).toBe(202);
    const by = async (): Promise<unknown[]> => {
      const { body } = await product.call<{ events: { type: string; by?: unknown }[] }>(
        "GET",
        "/v1/sessions/s/events?types=input",
      );
      return body.events.map((event) => event.by);
    };
    await expect.poll(async () => (await by()).length, { timeout: 10_000 }).toBe(3);
    const keyId = product.key.split(".")[1];
    expect(await by()).toEqual([
      { kind: "user", id: "user-7" },
      { kind: "user", id: "zoë" },
      { kind: "key", id: keyId },
    ]);
    expect(await codeOf(await prompt(product.key, { "x-user-id": "a b" }))).toBe("invalid_request");
  });
});

describe("session tokens", () => {
  it("[TENANT-7] a token is good for one session, within its scopes, and nothing else", async () => {
    const read = await newToken({ scopes: ["read"] });
    const drive = await newToken({ scopes: ["prompt", "decide"] });
    const attempts: [token: string, method: string, path: string, status: number][] = [
      [read, "GET", "/v1/sessions/s", 200],
      [read, "GET", "/v1/sessions/s/events", 200],
      [read, "POST", "/v1/sessions/s/interrupt", 403],
      [drive, "POST", "/v1/sessions/s/interrupt", 200],
      [drive, "GET", "/v1/sessions/s", 403],
      [read, "GET", "/v1/sessions/other", 403],
      [read, "GET", "/v1/sessions/unknown", 403],
      [read, "GET", "/v1/sessions", 403],
      [read, "POST", "/v1/sessions/s/tokens", 403],
      [read, "PATCH", "/v1/sessions/s", 403],
      [read, "GET", "/v1/keys", 403],
      [read, "GET", "/v1/tenants", 403],
    ];
    for (const [token, method, path, status] of attempts) {
      const response = await sendAs(token, method, path, method === "GET" ? undefined : {});
      expect([method, path, response.status]).toEqual([method, path, status]);
      await response.body?.cancel();
    }
  });

  it("[TENANT-8] a token that is expired, forged, unsigned or of another purpose is 401", async () => {
    const keyId = product.key.split(".")[1] ?? "";
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      tenant: product.tenant,
      session: "s",
      key: keyId,
      scopes: ["read" as const],
      exp: now + 60,
    };
    const good = await signToken(claims, env.SIGNING_KEY);
    expect((await sendAs(good, "GET", "/v1/sessions/s")).status).toBe(200);
    const [header = "", payload = "", signature = ""] = good.split(".");
    const none = btoa('{"alg":"none"}').replaceAll("=", "");
    const bad = {
      expired: await signToken({ ...claims, exp: now - 1 }, env.SIGNING_KEY),
      "signed by another key": await signToken(claims, "another-signing-key"),
      "of a changed payload": `${header}.${btoa(JSON.stringify({ ...claims, session: "other" })).replaceAll("=", "")}.${signature}`,
      unsigned: `${none}.${payload}.`,
      "of another purpose": await new SignJWT({ ...claims })
        .setProtectedHeader({ alg: "HS256" })
        .sign(new TextEncoder().encode(env.SIGNING_KEY)),
      "of a key that never was": await signToken({ ...claims, key: "never" }, env.SIGNING_KEY),
      "of a tenant that never was": await signToken({ ...claims, tenant: "never" }, env.SIGNING_KEY),
    };
    for (const [what, token] of Object.entries(bad)) {
      expect([what, (await sendAs(token, "GET", "/v1/sessions/s")).status]).toEqual([what, 401]);
    }
  });

  it("[TENANT-9] a token lives for an hour at most", async () => {
    const before = Date.now();
    const { body } = await product.call<{ expiresAt: number }>("POST", "/v1/sessions/s/tokens", {
      scopes: ["read"],
    });
    expect(body.expiresAt).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect(body.expiresAt).toBeGreaterThan(before);
    for (const wrong of [
      { ttl: 3_601 },
      { ttl: 0 },
      { scopes: [] },
      { scopes: ["admin"] },
      { scopes: undefined },
    ]) {
      const answer = await product.call("POST", "/v1/sessions/s/tokens", { scopes: ["read"], ...wrong });
      expect(answer.status).toBe(400);
    }
    expect((await product.call("POST", "/v1/sessions/unknown/tokens", { scopes: ["read"] })).status).toBe(
      404,
    );
  });

  it("[TENANT-10] a WebSocket takes its credential from the subprotocol, and the answer selects ours", async () => {
    const connect = (protocols?: string, session = "s"): Promise<Response> => {
      const offered = protocols === undefined ? {} : { "sec-websocket-protocol": protocols };
      return send(`/v1/sessions/${session}/ws`, { headers: { upgrade: "websocket", ...offered } });
    };
    for (const credential of [product.key, await newToken({ scopes: ["read"], sub: "zoë" })]) {
      const response = await connect(`light-agent.v1, token.${credential}`);
      expect(response.status).toBe(101);
      expect(response.headers.get("sec-websocket-protocol")).toBe("light-agent.v1");
      const socket = response.webSocket;
      const first = new Promise<string>((resolve) => {
        socket?.addEventListener("message", ({ data }) => resolve(String(data)), { once: true });
      });
      socket?.accept();
      expect(JSON.parse(await first)).toMatchObject({ type: "hello", protocol: 1, state: { id: "s" } });
      socket?.close();
    }
    expect((await connect()).status).toBe(401);
    expect((await connect("light-agent.v1")).status).toBe(401);
    expect((await connect("light-agent.v1, token.nonsense")).status).toBe(401);
    expect(
      (await connect(`light-agent.v1, token.${await newToken({ scopes: ["read"] })}`, "other")).status,
    ).toBe(403);
    // Only an upgrade carries a credential there.
    const protocols = { "sec-websocket-protocol": `light-agent.v1, token.${product.key}` };
    expect((await send("/v1/sessions/s", { headers: protocols })).status).toBe(401);
    expect(await codeOf(await sendAs(product.key, "GET", "/v1/sessions/s/ws"))).toBe("invalid_request");
  });
});

describe("tenants", () => {
  it("[TENANT-11] root makes, lists, changes and deletes tenants, and gives a lost admin a new key", async () => {
    const id = freshName("made");
    const created = await sendAsRoot("POST", "/v1/tenants", { id, name: "Acme" });
    expect(created.status).toBe(201);
    const { apiKey } = await created.json<{ apiKey: string }>();
    expect(apiKey).toMatch(new RegExp(`^la_${id}\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]{43}$`));
    expect((await sendAs(apiKey, "GET", "/v1/keys")).status).toBe(200);
    expect(await codeOf(await sendAsRoot("POST", "/v1/tenants", { id, name: "Else" }))).toBe("id_taken");
    const page = await (
      await sendAsRoot("GET", "/v1/tenants?limit=200")
    ).json<{ data: { id: string; name: string }[] }>();
    expect(page.data).toContainEqual({ id, name: "Acme", createdAt: expect.any(Number) });
    expect(await (await sendAsRoot("GET", `/v1/tenants/${id}`)).json()).toMatchObject({
      id,
      limits: {},
      budget: {},
    });
    const again = await sendAsRoot("POST", `/v1/tenants/${id}/keys`, { name: "again", role: "admin" });
    expect(again.status).toBe(201);
    const { apiKey: second } = await again.json<{ apiKey: string }>();
    expect((await sendAs(second, "GET", "/v1/keys")).status).toBe(200);

    const patch = { name: "Acme 2", limits: { promptsPerMinute: 5 }, budget: { dayTokens: 7 } };
    expect(await (await sendAsRoot("PATCH", `/v1/tenants/${id}`, patch)).json()).toMatchObject({
      id,
      ...patch,
    });
    expect(
      await codeOf(await sendAsRoot("PATCH", `/v1/tenants/${id}`, { limits: { promptsPerMinute: 601 } })),
    ).toBe("invalid_request");

    expect((await sendAsRoot("DELETE", `/v1/tenants/${id}`)).status).toBe(202);
    expect((await sendAsRoot("GET", `/v1/tenants/${id}`)).status).toBe(404);
    expect((await sendAsRoot("DELETE", `/v1/tenants/${id}`)).status).toBe(404);
    expect(await codeOf(await sendAsRoot("POST", "/v1/tenants", { id, name: "Acme" }))).toBe("id_taken");
    const rest = await (await sendAsRoot("GET", "/v1/tenants?limit=200")).json<{ data: { id: string }[] }>();
    expect(rest.data.map((tenant) => tenant.id)).not.toContain(id);
    for (const path of ["/v1/tenants/unknown", "/v1/tenants/!root", "/v1/tenants/%21root"]) {
      expect((await sendAsRoot("GET", path)).status).toBe(404);
    }
    expect(await codeOf(await sendAsRoot("POST", "/v1/tenants", { id: "!root" }))).toBe("invalid_request");
  });

  it("[TENANT-12] a list is read in parts, each from the `next` of the part before", async () => {
    const ids = [freshName("page"), freshName("page"), freshName("page")];
    for (const id of ids) await sendAsRoot("POST", "/v1/tenants", { id });
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query = cursor === "" ? "limit=2" : `limit=2&cursor=${cursor}`;
      const response = await sendAsRoot("GET", `/v1/tenants?${query}`);
      const page: { data: { id: string }[]; next: string | null } = await response.json();
      expect(page.data.length).toBeLessThanOrEqual(2);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next;
    }
    expect(seen).toEqual([...new Set(seen)]);
    expect(ids.every((id) => seen.includes(id))).toBe(true);
  });

  it("[TENANT-13] a create that is repeated with its Idempotency-Key answers like the first, its key included", async () => {
    const id = freshName("twice");
    const create = (body: unknown): Promise<Response> =>
      sendAs(env.ROOT_KEY, "POST", "/v1/tenants", body, { "idempotency-key": "create-1" });
    const first = await (await create({ id, name: "A" })).json<{ apiKey: string }>();
    const second = await create({ id, name: "A" });
    expect([second.status, await second.json()]).toEqual([201, first]);
    expect((await sendAs(first.apiKey, "GET", "/v1/keys")).status).toBe(200);
    expect(await codeOf(await create({ id, name: "B" }))).toBe("idempotency_mismatch");
  });
});
