import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { NewId } from "../runtime/protocol/ids.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import type { BlobStore, StoredBlob } from "./blob-store.ts";
import type { ContentHolds } from "./content-holds.ts";
import type { ContentCache } from "./content-cache.ts";
import type { ObjectSink } from "./object-sink.ts";
import type { ByteRange, ObjectStorage } from "./object-storage.ts";
import type { StorageAllowance } from "./storage-allowance.ts";
import { concatenate, uploadChunks } from "./upload-chunks.ts";

/** A content that lies in R2. `written`: by this caller, who removes it again if no change comes to name it. */
export interface StoredContent {
  readonly blob: StoredBlob;
  readonly written: boolean;
  /** The content itself, where it is in memory. */
  readonly bytes?: Uint8Array;
  /** What the sweep passes over until the content is let go of: its hash, and the object that was written. */
  readonly held: readonly string[];
  /** Gives up the room for what was on its way. */
  readonly release: () => void;
}

/** A body up to here is gathered and hashed first, so that a content which is there already is not written again. */
const GATHERED_BYTES = 1024 * 1024;

/** Uploads without a Content-Length that run at once: each holds one part in memory. */
const UNSIZED_UPLOADS = 8;

/** Moves contents between callers and R2, by their hashes. Knows nothing of paths. */
export class FileContents {
  readonly #blobs: BlobStore;
  readonly #objects: ObjectStorage;
  readonly #cache: ContentCache;
  readonly #newId: NewId;
  readonly #holds: ContentHolds;
  readonly #allowance: StorageAllowance;
  #unsizedUploads = 0;

  constructor(parts: {
    blobs: BlobStore;
    objects: ObjectStorage;
    cache: ContentCache;
    newId: NewId;
    holds: ContentHolds;
    allowance: StorageAllowance;
  }) {
    this.#allowance = parts.allowance;
    this.#holds = parts.holds;
    this.#blobs = parts.blobs;
    this.#objects = parts.objects;
    this.#cache = parts.cache;
    this.#newId = parts.newId;
  }

  /** Puts bytes into R2 unless they are there. The caller lets go of the content. @throws storage_full, unavailable */
  async store(bytes: Uint8Array, sha256: string): Promise<StoredContent> {
    return this.#holding(async (hold, reserve) => {
      // Held before it is looked for, so that no sweep comes between.
      hold(sha256);
      const known = this.#blobs.find(sha256);
      if (known) return { blob: known, written: false, bytes };
      await reserve(bytes.length);
      const blob = { sha256, size: bytes.length, object: hold(this.#newId()) };
      await this.#objects.put(blob.object, bytes, sha256);
      this.#cache.set(blob.object, bytes);
      return { blob, written: true, bytes };
    });
  }

  /** What becomes of the contents is decided: nothing is passed over for their sake any more. */
  letGo(contents: readonly StoredContent[]): void {
    for (const { held, release } of contents) {
      for (const key of held) this.#holds.drop(key);
      release();
    }
  }

  /**
   * The same for a body that streams in, of which at most a part is in memory. `length` is what the sender announced.
   * @throws file_too_large also when the length lied; invalid_request when the body is not as long as announced or
   *   breaks off; storage_full; unavailable
   */
  async receive(
    body: ReadableStream<Uint8Array> | null,
    { length, maxBytes }: { length: number | null; maxBytes: number },
  ): Promise<StoredContent> {
    const chunks = uploadChunks(body, { length, maxBytes });
    try {
      const gathered: Uint8Array[] = [];
      let size = 0;
      while (size <= GATHERED_BYTES) {
        const next = await chunks.next();
        if (next.done) return await this.#storeGathered(concatenate(gathered, size));
        gathered.push(next.value);
        size += next.value.length;
      }
      return await (length === null
        ? this.#receiveUnsized(gathered, chunks, maxBytes)
        : this.#receiveInto(length, gathered, chunks, length));
    } finally {
      // Also lets go of the sender where something here has failed.
      await chunks.return(undefined);
    }
  }

  /** Bytes of a content. A small one is read whole and kept for the next reader. @throws unavailable */
  async read(sha256: string, range: ByteRange): Promise<Uint8Array> {
    const { object, size } = this.#blob(sha256);
    const length = Math.max(0, Math.min(range.length, size - range.offset));
    if (length === 0) return new Uint8Array(0);
    const whole = this.#cache.get(object);
    if (whole) return whole.slice(range.offset, range.offset + length);
    if (!this.#cache.takes(size)) return this.#objects.read(object, { offset: range.offset, length });
    const bytes = await this.#objects.read(object);
    this.#cache.set(object, bytes);
    return bytes.slice(range.offset, range.offset + length);
  }

  /** A content, or a span of it that lies inside, as a stream. @throws unavailable */
  async stream(sha256: string, range?: ByteRange): Promise<ReadableStream<Uint8Array>> {
    return this.#objects.stream(this.#blob(sha256).object, range);
  }

  /** Removes objects that nothing names. What cannot be removed now is left to the sweep. */
  async discard(blobs: readonly StoredBlob[]): Promise<void> {
    await this.#objects.remove(blobs.map((blob) => blob.object)).catch(() => {});
  }

  async #storeGathered(bytes: Uint8Array<ArrayBuffer>): Promise<StoredContent> {
    return this.store(bytes, await sha256Hex(bytes));
  }

  async #receiveUnsized(
    gathered: Uint8Array[],
    chunks: AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<StoredContent> {
    if (this.#unsizedUploads >= UNSIZED_UPLOADS) {
      const message = "Too many uploads without a Content-Length run on this workspace.";
      throw new LightAgentError("unavailable", message);
    }
    this.#unsizedUploads += 1;
    try {
      return await this.#receiveInto(null, gathered, chunks, maxBytes);
    } finally {
      this.#unsizedUploads -= 1;
    }
  }

  async #receiveInto(
    length: number | null,
    gathered: Uint8Array[],
    chunks: AsyncIterable<Uint8Array>,
    mostBytes: number,
  ): Promise<StoredContent> {
    return this.#holding(async (hold, reserve) => {
      await reserve(mostBytes);
      const object = hold(this.#newId());
      const sink =
        length === null ? await this.#objects.putParts(object) : this.#objects.putSized(object, length);
      const { sha256, size } = await hashInto(sink, gathered, chunks);
      const blob = { sha256: hold(sha256), size, object };
      const known = this.#blobs.find(sha256);
      if (!known) return { blob, written: true };
      await this.discard([blob]);
      return { blob: known, written: false };
    });
  }

  /** Gathers what a content holds; what fails holds nothing. */
  async #holding(
    store: (
      hold: (key: string) => string,
      reserve: (bytes: number) => Promise<void>,
    ) => Promise<Omit<StoredContent, "held" | "release">>,
  ): Promise<StoredContent> {
    const held: string[] = [];
    const hold = (key: string): string => {
      this.#holds.take(key);
      held.push(key);
      return key;
    };
    let release = (): void => undefined;
    const reserve = async (bytes: number): Promise<void> => {
      release = await this.#allowance.reserve(bytes);
    };
    try {
      return { ...(await store(hold, reserve)), held, release: () => release() };
    } catch (caught) {
      release();
      for (const key of held) this.#holds.drop(key);
      throw caught;
    }
  }

  #blob(sha256: string): StoredBlob {
    const blob = this.#blobs.find(sha256);
    if (!blob) throw new Error("The manifest names a content that the workspace does not hold.");
    return blob;
  }
}

async function hashInto(
  sink: ObjectSink,
  gathered: Uint8Array[],
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ sha256: string; size: number }> {
  const digest = new crypto.DigestStream("SHA-256");
  const hasher = digest.getWriter();
  let size = 0;
  const take = async (chunk: Uint8Array): Promise<void> => {
    size += chunk.length;
    await hasher.write(chunk);
    await sink.write(chunk);
  };
  try {
    for (const chunk of gathered) await take(chunk);
    gathered.length = 0;
    for await (const chunk of chunks) await take(chunk);
    await hasher.close();
    await sink.close();
    return { sha256: hex(await digest.digest), size };
  } catch (caught) {
    digest.digest.catch(() => {});
    await Promise.all([sink.abort(), hasher.abort(caught).catch(() => {})]);
    throw caught;
  }
}

function hex(hash: ArrayBuffer): string {
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
