import type { KeptResult } from "../runtime/loop/call-runner.ts";
import { cutText } from "../runtime/protocol/content.ts";
import type { ToolResult } from "../runtime/tool/tool.ts";
import { byteRangeOf } from "./byte-range.ts";
import type { ObjectStorage } from "./object-storage.ts";

/** UTF-16 units of a long result that stay in the log: its beginning, and its end. */
const HEAD_CHARS = 32 * 1024;
const TAIL_CHARS = 8 * 1024;

const MEDIA_TYPE = "text/plain; charset=utf-8";

/** Results that are too long for the log: whole in R2, under the id of their call; the log keeps both ends. */
export class Artifacts {
  readonly #objects: ObjectStorage;
  readonly #inlineBytes: number;

  constructor(objects: ObjectStorage, inlineBytes: number) {
    this.#objects = objects;
    this.#inlineBytes = inlineBytes;
  }

  /** The result as the log keeps it. When the storage fails the ends stay and the text says that the middle is lost. */
  async keep(result: ToolResult, callId: string): Promise<KeptResult> {
    if (result.content.length * 3 <= this.#inlineBytes) return result;
    const bytes = new TextEncoder().encode(result.content);
    if (bytes.length <= this.#inlineBytes) return result;
    try {
      await this.#objects.put(callId, bytes, await sha256(bytes));
    } catch {
      return { ...result, content: bothEnds(result.content, "the whole could not be kept") };
    }
    const content = bothEnds(result.content, `the whole is artifact ${callId}`);
    return { ...result, content, artifact: { ref: callId, size: bytes.length, mediaType: MEDIA_TYPE } };
  }

  /** The bytes of an artifact that the log names, or the part that a Range header asks for. */
  async respond(
    artifact: { ref: string; size: number; mediaType: string },
    range: string | null,
  ): Promise<Response> {
    const { ref, size, mediaType } = artifact;
    const headers = new Headers({ "content-type": mediaType, "accept-ranges": "bytes" });
    const span = byteRangeOf(range, size);
    if (span === "unsatisfiable") {
      headers.set("content-range", `bytes */${size}`);
      const error = { code: "range_not_satisfiable", message: "The range lies outside the artifact." };
      return Response.json({ error }, { status: 416, headers });
    }
    if (span === "all") {
      headers.set("content-length", String(size));
      return new Response(await this.#objects.stream(ref), { headers });
    }
    const last = span.offset + span.length - 1;
    headers.set("content-range", `bytes ${span.offset}-${last}/${size}`);
    headers.set("content-length", String(span.length));
    return new Response(await this.#objects.stream(ref, span), { status: 206, headers });
  }
}

function bothEnds(text: string, where: string): string {
  const head = cutText(text, HEAD_CHARS);
  // A tail that begins with the second half of a surrogate pair begins one unit later.
  const from = text.length - TAIL_CHARS;
  const split = (text.charCodeAt(from) & 0xfc00) === 0xdc00;
  const tail = text.slice(split ? from + 1 : from);
  const omitted = text.length - head.length - tail.length;
  return `${head}\n[… ${omitted} characters left out; ${where} …]\n${tail}`;
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
