const encoder = new TextEncoder();

/** Lower-case hex SHA-256 of a text. */
export async function sha256Hex(text: string): Promise<string> {
  return hex(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
}

/** HMAC-SHA256 of a text under a secret, lower-case hex. */
export async function hmacHex(secret: string, text: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
}

/** Whether two hex digests of one kind are equal, in a time that does not tell where they differ. */
export function equalDigests(left: string, right: string): boolean {
  return crypto.subtle.timingSafeEqual(encoder.encode(left), encoder.encode(right));
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
