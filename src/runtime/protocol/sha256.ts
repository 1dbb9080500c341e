const encoder = new TextEncoder();

/** Lower-case hex SHA-256 of some bytes, or of a text as UTF-8. */
export async function sha256Hex(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return toHex(await crypto.subtle.digest("SHA-256", bytes));
}

/** Bytes as lower-case hex. */
export function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
