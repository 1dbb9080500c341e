/** Where the bytes of one object go. Nothing is stored before `close`; after a failure call `abort`. */
export interface ObjectSink {
  /** The bytes may be used again once this has resolved. */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
  /** Never rejects. */
  abort(): Promise<void>;
}

/** R2 takes parts of at least 5 MiB, all of one size but the last. */
const PART_BYTES = 5 * 1024 * 1024;

/** Streams a known number of bytes into one put. R2 takes no stream of unknown length. */
export function sizedSink(put: (body: ReadableStream) => Promise<unknown>, size: number): ObjectSink {
  const { readable, writable } = new FixedLengthStream(size);
  const writer = writable.getWriter();
  const stored = put(readable);
  // A put that fails leaves its stream unread: without this a write would wait for ever.
  stored.catch(async (cause: unknown) => writer.abort(cause)).catch(() => {});
  return {
    write: async (bytes) => writer.write(bytes),
    async close() {
      await writer.close();
      await stored;
    },
    async abort() {
      await writer.abort(new Error("The upload was given up.")).catch(() => {});
      await stored.catch(() => {});
    },
  };
}

/** The three calls of a multipart upload. */
export interface PartUpload {
  uploadPart(number: number, bytes: Uint8Array): Promise<R2UploadedPart>;
  complete(parts: R2UploadedPart[]): Promise<unknown>;
  abort(): Promise<void>;
}

/** Gathers bytes into parts of {@link PART_BYTES}. What dies half-way, R2 removes after seven days. */
export function multipartSink(upload: PartUpload): ObjectSink {
  const part = new Uint8Array(PART_BYTES);
  let filled = 0;
  const parts: R2UploadedPart[] = [];

  async function send(): Promise<void> {
    parts.push(await upload.uploadPart(parts.length + 1, part.subarray(0, filled)));
    filled = 0;
  }

  return {
    async write(bytes) {
      let rest = bytes;
      while (rest.length > 0) {
        const taken = rest.subarray(0, PART_BYTES - filled);
        part.set(taken, filled);
        filled += taken.length;
        rest = rest.subarray(taken.length);
        if (filled === PART_BYTES) await send();
      }
    },
    async close() {
      if (filled > 0 || parts.length === 0) await send();
      await upload.complete(parts);
    },
    async abort() {
      await upload.abort().catch(() => {});
    },
  };
}
