import { idSchema } from "../runtime/protocol/ids.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import { hmacHex } from "./digest.ts";

/** What an API key says: `la_<tenant>.<id>.<secret>`. */
export interface ParsedApiKey {
  readonly tenant: string;
  readonly id: string;
  /** Lower-case hex SHA-256 of the secret. */
  readonly hash: string;
}

const FORM = /^la_([^.]+)\.([^.]+)\.([A-Za-z0-9_-]{32,128})$/;
const SECRET_BYTES = 32;

/** Whether a credential claims to be an API key. */
export function looksLikeApiKey(credential: string): boolean {
  return credential.startsWith("la_");
}

/** Reads an API key; null when it does not have the form. */
export async function parseApiKey(credential: string): Promise<ParsedApiKey | null> {
  const [, tenant = "", id = "", secret = ""] = FORM.exec(credential) ?? [];
  if (!idSchema.safeParse(tenant).success || !idSchema.safeParse(id).success) return null;
  return { tenant, id, hash: await sha256Hex(secret) };
}

/** A new key's text and the hash that is stored of it. */
export interface IssuedApiKey {
  readonly apiKey: string;
  readonly hash: string;
}

/** A key with a random secret. */
export function issueApiKey(tenant: string, id: string): Promise<IssuedApiKey> {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const secret = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  return issued(tenant, id, secret);
}

/**
 * A key whose secret follows from its id and the signing key, so that a create that is repeated with the same
 * `Idempotency-Key` can show the key again without its having been stored.
 */
export async function deriveApiKey(tenant: string, id: string, signingKey: string): Promise<IssuedApiKey> {
  return issued(tenant, id, await hmacHex(signingKey, `api-key\n${tenant}\n${id}`));
}

async function issued(tenant: string, id: string, secret: string): Promise<IssuedApiKey> {
  return { apiKey: `la_${tenant}.${id}.${secret}`, hash: await sha256Hex(secret) };
}
