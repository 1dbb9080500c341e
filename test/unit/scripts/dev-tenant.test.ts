import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { devTenantKey } from "../../../scripts/dev-tenant.ts";

const ROOT = "root";
let folder: string;
let keyFile: string;
/** What the server holds: the keys of the tenant, and how often one was made. */
let valid: Set<string>;
let made: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dev-tenant-"));
  keyFile = join(folder, "state/dev-key.json");
  valid = new Set();
  made = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A server with the three routes that are called. */
function serve(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { method, url, headers } = new Request(input, init);
  const credential = headers.get("authorization")?.slice("Bearer ".length) ?? "";
  const route = `${method} ${new URL(url).pathname}`;
  if (route === "GET /v1/sessions") return answer(valid.has(credential) ? 200 : 401);
  if (credential !== ROOT) return answer(401);
  if (route === "POST /v1/tenants" && made > 0) return answer(409);
  made += 1;
  valid.add(`key-${made}`);
  return answer(201, { apiKey: `key-${made}` });
}

function answer(status: number, body: object = {}): Promise<Response> {
  return Promise.resolve(Response.json(body, { status }));
}

function key(rootKey = ROOT): Promise<string> {
  return devTenantKey({ url: "http://server", rootKey, keyFile, fetch: serve });
}

it("[START-5] a new tenant's first key is kept for its owner's eyes", async () => {
  expect(await key()).toBe("key-1");
  expect(JSON.parse(readFileSync(keyFile, "utf8"))).toEqual({ tenant: "dev", apiKey: "key-1" });
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
});

it("[START-6] a kept key that works is used again, and no other is made", async () => {
  expect([await key(), await key(), made]).toEqual(["key-1", "key-1", 1]);
});

it.each([
  ["lost", () => rmSync(keyFile)],
  ["damaged", () => writeFileSync(keyFile, '{"apiKey')],
  ["of another form", () => writeFileSync(keyFile, '{"apiKey":7}')],
  ["revoked", () => valid.clear()],
])("[START-6] a key that is %s is replaced", async (_, happens) => {
  await key();
  happens();
  expect([await key(), await key()]).toEqual(["key-2", "key-2"]);
});

it("[START-6] state that was wiped gives a new tenant", async () => {
  await key();
  valid.clear();
  made = 0;
  expect(await key()).toBe("key-1");
});

it("[START-9] a refusal is told with the server's answer, and nothing is kept", async () => {
  await expect(key("wrong")).rejects.toThrow('The tenant "dev" could not be made: 401 {}');
  expect(() => readFileSync(keyFile)).toThrow("ENOENT");
});
