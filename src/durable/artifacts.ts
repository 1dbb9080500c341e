import type { KeptResult } from "../runtime/loop/call-runner.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import type { ToolResult } from "../runtime/tool/tool.ts";
import { byteRangeOf } from "./byte-range.ts";
import type { ByteRange, ObjectStorage } from "./object-storage.ts";

/** How much of a string that is too long stays in the log, as parts of what a string may have: its beginning, its end. */
const HEAD_PART = 1 / 2;
const TAIL_PART = 1 / 8;

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
      await this.#objects.put(callId, bytes, await sha256Hex(result.content));
    } catch {
      return { ...result, content: this.#bothEnds(bytes, "the whole could not be kept") };
    }
    const content = this.#bothEnds(bytes, `the whole is artifact ${callId}`);
    return { ...result, content, artifact: { ref: callId, size: bytes.length, mediaType: MEDIA_TYPE } };
  }

  /** Both ends as text, in bytes: units of UTF-16 can take three bytes each, and the ends would then overlap. */
  #bothEnds(bytes: Uint8Array, where: string): string {
    const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
    const head = characterAt(bytes, Math.floor(this.#inlineBytes * HEAD_PART));
    const tail = characterAt(bytes, bytes.length - Math.floor(this.#inlineBytes * TAIL_PART));
    const [first, last] = [bytes.subarray(0, head), bytes.subarray(tail)];
    return `${decoder.decode(first)}\n[… ${tail - head} bytes left out; ${where} …]\n${decoder.decode(last)}`;
  }

  /** A part of an artifact; fewer bytes at its end. @throws LightAgentError `unavailable` */
  async read(
    { ref, size }: { ref: string; size: number },
    { offset, length }: ByteRange,
  ): Promise<Uint8Array> {
    if (offset >= size) return new Uint8Array();
    return this.#objects.read(ref, { offset, length: Math.min(length, size - offset) });
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

/** The first byte of a character at or before a place in UTF-8, so that a cut there splits none. */
function characterAt(bytes: Uint8Array, place: number): number {
  let start = place;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
