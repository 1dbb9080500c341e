import { LightAgentError } from "../runtime/protocol/errors.ts";
import { parseJson } from "../runtime/protocol/json.ts";

/**
 * The JSON body of a request; an empty body is `{}`.
 * @param limit In bytes; nothing beyond it is read
 * @throws too_large, unsupported_media_type, invalid_json, invalid_request
 */
export async function readJson(request: Request, limit: number): Promise<unknown> {
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return {};
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new LightAgentError("unsupported_media_type", "Send JSON with `content-type: application/json`.");
  }
  return parseJson(decode(bytes));
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const tooLarge = new LightAgentError("too_large", `The body may have ${limit} bytes.`, { limit });
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop by an exception cancels the stream, so the rest is never read.
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > limit) throw tooLarge;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new LightAgentError("invalid_json", "JSON is encoded as UTF-8.");
  }
}
