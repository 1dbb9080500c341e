import type { Bucket } from "../../src/durable/object-storage.ts";
import type { WorkspaceSurroundings } from "../../src/durable/workspace-parts.ts";

/** Says at every step whether it goes well; throws where it does not. */
export type Step = () => void;

/** R2 that takes a step before each call takes effect, and with `after` another before its answer arrives. */
export function steppingBucket(bucket: R2Bucket, step: Step, after: Step = () => {}): Bucket {
  const around = async <T>(run: () => Promise<T>): Promise<T> => {
    step();
    const result = await run();
    after();
    return result;
  };
  // Only the calls that the product makes, so the overloads of R2's own type are not all there.
  const stepping = {
    put: async (...args: Parameters<R2Bucket["put"]>) => around(async () => bucket.put(...args)),
    get: async (...args: Parameters<R2Bucket["get"]>) => around(async () => bucket.get(...args)),
    delete: async (...args: Parameters<R2Bucket["delete"]>) => around(async () => bucket.delete(...args)),
    list: async (...args: Parameters<R2Bucket["list"]>) => around(async () => bucket.list(...args)),
    createMultipartUpload: async (key: string) =>
      around(async () => {
        const upload = await bucket.createMultipartUpload(key);
        return {
          key: upload.key,
          uploadId: upload.uploadId,
          uploadPart: async (...args: Parameters<R2MultipartUpload["uploadPart"]>) =>
            around(async () => upload.uploadPart(...args)),
          complete: async (parts: R2UploadedPart[]) => around(async () => upload.complete(parts)),
          abort: async () => around(async () => upload.abort()),
        };
      }),
  };
  return stepping as unknown as Bucket;
}

/**
 * Storage that takes a step before each statement that writes, and before and after each transaction. Who dies at a
 * read leaves what one leaves who dies at the next write.
 */
export function steppingStorage(
  storage: DurableObjectStorage,
  step: Step,
  boundary: Step = step,
): WorkspaceSurroundings["storage"] {
  const sql = {
    exec(...args: Parameters<SqlStorage["exec"]>) {
      if (!args[0].startsWith("SELECT")) step();
      return storage.sql.exec(...args);
    },
  };
  return {
    sql: sql as unknown as SqlStorage,
    transactionSync<T>(run: () => T): T {
      boundary();
      const result = storage.transactionSync(run);
      boundary();
      return result;
    },
    async deleteAll() {
      step();
      await storage.deleteAll();
    },
  };
}

/** A process that dies at its k-th step: from then on it does nothing more. */
export class Dying {
  readonly #at: number;
  #steps = 0;

  constructor(at: number) {
    this.#at = at;
  }

  get isDead(): boolean {
    return this.#steps >= this.#at;
  }

  readonly step: Step = () => {
    this.#steps += 1;
    if (this.isDead) throw new Error("The process is dead.");
  };
}

/** Something that fails once, at its k-th call, and then works again. */
export class FailingOnce {
  readonly #at: number;
  #calls = 0;

  constructor(at: number) {
    this.#at = at;
  }

  get hasFailed(): boolean {
    return this.#calls >= this.#at;
  }

  readonly step: Step = () => {
    this.#calls += 1;
    if (this.#calls === this.#at) throw new Error("R2 has failed.");
  };
}

/** R2 that holds back every put of bytes until it is released. */
export class HeldPuts {
  /** Resolves when the first put has come. */
  readonly arrival: Promise<void>;
  readonly #arrived: () => void;
  readonly #gate: Promise<void>;
  readonly release: () => void;

  constructor() {
    const arrival = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    this.arrival = arrival.promise;
    this.#arrived = arrival.resolve;
    this.#gate = gate.promise;
    this.release = gate.resolve;
  }

  readonly wrap = (bucket: R2Bucket): Bucket => {
    const put = async (key: string, bytes: Uint8Array): Promise<R2Object | null> => {
      this.#arrived();
      await this.#gate;
      return bucket.put(key, bytes);
    };
    return { ...steppingBucket(bucket, () => {}), put } as unknown as Bucket;
  };
}
