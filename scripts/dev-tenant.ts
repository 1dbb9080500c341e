import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** What signing in takes. */
export interface DevTenantOptions {
  /** Where the server answers, without a trailing slash. */
  readonly url: string;
  readonly rootKey: string;
  /** The file that keeps the key between two starts. */
  readonly keyFile: string;
  readonly fetch: typeof fetch;
}

const TENANT = "dev";

/**
 * An admin key of the tenant `dev`: the kept one while it works, else the first key of the tenant when it is new,
 * else another one that root makes for it.
 * @throws {Error} When the server refuses, with what it answered.
 */
export async function devTenantKey(options: DevTenantOptions): Promise<string> {
  const kept = keptKey(options.keyFile);
  if (kept !== undefined && (await works(options, kept))) return kept;
  const created = await post(options, "/v1/tenants", { id: TENANT });
  const response =
    created.status === 409
      ? await post(options, `/v1/tenants/${TENANT}/keys`, { name: "npm start", role: "admin" })
      : created;
  const body: unknown = await response.json();
  if (response.status !== 201 || !hasApiKey(body)) {
    throw new Error(`The tenant "${TENANT}" could not be made: ${response.status} ${JSON.stringify(body)}`);
  }
  mkdirSync(dirname(options.keyFile), { recursive: true });
  writeFileSync(options.keyFile, `${JSON.stringify({ tenant: TENANT, apiKey: body.apiKey })}\n`, {
    mode: 0o600,
  });
  return body.apiKey;
}

function keptKey(file: string): string | undefined {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
    return hasApiKey(kept) ? kept.apiKey : undefined;
  } catch {
    // No file, or one that is damaged: another key is made.
    return undefined;
  }
}

async function works({ url, fetch }: DevTenantOptions, key: string): Promise<boolean> {
  const response = await fetch(`${url}/v1/sessions?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  await response.body?.cancel();
  return response.ok;
}

function post({ url, rootKey, fetch }: DevTenantOptions, path: string, body: object): Promise<Response> {
  return fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${rootKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

function hasApiKey(body: unknown): body is { apiKey: string } {
  return typeof body === "object" && body !== null && "apiKey" in body && typeof body.apiKey === "string";
}
