import { LightAgentError } from "../runtime/protocol/errors.ts";
import { multipartSink, sizedSink } from "./object-sink.ts";
import type { ObjectSink } from "./object-sink.ts";

/** The part of R2 that is used; tests put a failing one in its place. */
export type Bucket = Pick<R2Bucket, "put" | "get" | "delete" | "list" | "createMultipartUpload">;

/** A span of an object, in bytes. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * Objects in R2 under one prefix, by ids that are used once: an object is written whole or not at all, and never
 * changes. Every failure of R2 is an `unavailable`.
 */
export class ObjectStorage {
  readonly #bucket: Bucket;
  readonly #prefix: string;

  /** @param prefix Ends with `/`: `w1` would hold the keys of `w10` too. */
  constructor(bucket: Bucket, prefix: string) {
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  /** Writes an object. R2 compares the content with the hash. One class A operation. */
  async put(id: string, bytes: Uint8Array, sha256: string): Promise<void> {
    await available(async () => this.#bucket.put(this.#prefix + id, bytes, { sha256 }));
  }

  /** Writes an object of a known size as its bytes come, without holding them. One class A operation. */
  putSized(id: string, size: number): ObjectSink {
    return sizedSink(async (body) => available(async () => this.#bucket.put(this.#prefix + id, body)), size);
  }

  /** Writes an object of unknown size in parts; holds one part. A class A operation per part, and two. */
  async putParts(id: string): Promise<ObjectSink> {
    const upload = await available(async () => this.#bucket.createMultipartUpload(this.#prefix + id));
    return multipartSink({
      uploadPart: async (number, bytes) => available(async () => upload.uploadPart(number, bytes)),
      complete: async (parts) => available(async () => upload.complete(parts)),
      abort: async () => upload.abort(),
    });
  }

  /** The bytes of an object or of a span of it. One class B operation. */
  async read(id: string, range?: ByteRange): Promise<Uint8Array> {
    return available(async () => {
      const object = await this.#get(id, range);
      return new Uint8Array(await object.arrayBuffer());
    });
  }

  /** The same as a stream, which the caller reads to the end or cancels. */
  async stream(id: string, range?: ByteRange): Promise<ReadableStream<Uint8Array>> {
    const object = await available(async () => this.#get(id, range));
    return object.body;
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await available(async () => this.#bucket.delete(ids.map((id) => this.#prefix + id)));
  }

  /** Removes up to a thousand objects. Answers how many there were: 0 when nothing is left. */
  async removeSome(): Promise<number> {
    return available(async () => {
      const page = await this.#bucket.list({ prefix: this.#prefix });
      const keys = page.objects.map((object) => object.key);
      if (keys.length > 0) await this.#bucket.delete(keys);
      return keys.length;
    });
  }

  /** All objects, with when they were written (ms since the epoch). A class A operation per thousand. */
  async *all(): AsyncGenerator<{ readonly id: string; readonly writtenAt: number }> {
    let cursor: string | undefined;
    do {
      const page = await available(async () =>
        this.#bucket.list({ prefix: this.#prefix, ...(cursor === undefined ? {} : { cursor }) }),
      );
      for (const { key, uploaded } of page.objects) {
        yield { id: key.slice(this.#prefix.length), writtenAt: uploaded.getTime() };
      }
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
  }

  async #get(id: string, range?: ByteRange): Promise<R2ObjectBody> {
    const object = await this.#bucket.get(this.#prefix + id, range ? { range } : undefined);
    if (object === null) throw new Error("The object is missing.");
    return object;
  }
}

async function available<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (cause) {
    throw new LightAgentError("unavailable", "The file storage does not answer.", undefined, { cause });
  }
}
