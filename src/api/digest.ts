import { toHex } from "../runtime/protocol/sha256.ts";

const encoder = new TextEncoder();

/** HMAC-SHA256 of a text under a secret, lower-case hex. */
export async function hmacHex(secret: string, text: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  return toHex(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
}

/** Whether two hex digests of one kind are equal, in a time that does not tell where they differ. */
export function equalDigests(left: string, right: string): boolean {
  return crypto.subtle.timingSafeEqual(encoder.encode(left), encoder.encode(right));
}
