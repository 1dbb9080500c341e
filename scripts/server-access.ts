import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where a server is, and a key of a tenant there. */
export interface ServerAccess {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string;
}

/** Options of `parseArgs` that say which server is meant. */
export const ACCESS_OPTIONS = { url: { type: "string" }, key: { type: "string" } } as const;

/**
 * The server that is meant: what the command line says, else the environment, else the one that `npm start` runs here,
 * with the key that it has made.
 * @throws Error that says what is missing
 */
export function serverAccess(
  given: { readonly url?: string | undefined; readonly key?: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): ServerAccess {
  const url = given.url ?? environment["LIGHT_AGENT_URL"] ?? "http://localhost:8787";
  const key = given.key ?? environment["LIGHT_AGENT_KEY"] ?? keptKey();
  if (key === undefined) {
    throw new Error("No key: give --key or LIGHT_AGENT_KEY, or run `npm start` here once, which makes one.");
  }
  return { url: url.replace(/\/+$/, ""), key };
}

/** The key that `npm start` keeps. */
function keptKey(): string | undefined {
  try {
    const kept = JSON.parse(readFileSync(join(".wrangler", "dev-key.json"), "utf8")) as { apiKey?: unknown };
    return typeof kept.apiKey === "string" ? kept.apiKey : undefined;
  } catch {
    return undefined;
  }
}

/** A request with the key. @throws Error with what the server answers, when that is none of the `expected` statuses */
export async function request(
  { url, key }: ServerAccess,
  path: string,
  { expected = [200], ...init }: RequestInit & { expected?: readonly number[]; duplex?: "half" } = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  const response = await fetch(url + path, { ...init, headers }).catch((cause: unknown) => {
    throw new Error(`${url} does not answer. Is the server running?`, { cause });
  });
  if (expected.includes(response.status)) return response;
  throw new Error(`${init.method ?? "GET"} ${path}: ${response.status} ${messageOf(await response.text())}`);
}

function messageOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: string; message?: string } };
    return error ? `${error.code}: ${error.message}` : body;
  } catch {
    return body.slice(0, 500);
  }
}
