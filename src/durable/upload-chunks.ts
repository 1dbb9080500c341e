import { LightAgentError } from "../runtime/protocol/errors.ts";

/**
 * The chunks of a request's body, checked as they come: never more bytes than `maxBytes` or than announced. What is
 * left when its reader stops early is read away.
 * @param length What the sender announced as the length; null when nothing
 * @throws file_too_large, invalid_request
 */
export async function* uploadChunks(
  body: ReadableStream<Uint8Array> | null,
  { length, maxBytes }: { length: number | null; maxBytes: number },
): AsyncGenerator<Uint8Array, undefined, undefined> {
  const reader = body?.getReader();
  let size = 0;
  let isEnded = false;
  try {
    if (length !== null && length > maxBytes) throw tooLarge(maxBytes);
    for (;;) {
      const chunk = reader && (await readChunk(reader));
      isEnded = !chunk;
      if (!chunk) break;
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      if (length !== null && size > length) throw notAsAnnounced();
      if (chunk.length > 0) yield chunk;
    }
    if (length !== null && size < length) throw notAsAnnounced();
  } finally {
    if (reader && !isEnded) await readAway(reader, 2 * maxBytes);
  }
}

/**
 * Reads what is left of a body, up to so many bytes; beyond them the sender is told to stop. A sender that is cut off
 * in the middle may never see why. Never throws.
 */
export async function readAway(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  bytes: number,
): Promise<void> {
  try {
    for (let left = bytes; left > 0;) {
      const { value } = await reader.read();
      if (value === undefined) return;
      left -= value.length;
    }
    await reader.cancel();
  } catch {
    // The sender has gone.
  }
}

/** One array of some chunks that are `size` bytes together. */
export function concatenate(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return (await reader.read()).value;
  } catch (cause) {
    throw new LightAgentError("invalid_request", "The body broke off.", undefined, { cause });
  }
}

function tooLarge(maxBytes: number): LightAgentError {
  return new LightAgentError("file_too_large", `A file may have ${maxBytes} bytes.`, { maxBytes });
}

function notAsAnnounced(): LightAgentError {
  return new LightAgentError("invalid_request", "The body is not as long as its Content-Length says.");
}
