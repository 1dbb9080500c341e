import { createHash } from "node:crypto";
import type { Bucket } from "../../../src/durable/object-storage.ts";

/** As much of R2 as artifacts need: objects in memory, hashes compared, spans read. */
export class FakeBucket {
  readonly objects = new Map<string, Uint8Array>();
  /** What every operation fails with. */
  failure: Error | null = null;

  get bucket(): Bucket {
    const put = async (key: string, bytes: Uint8Array, { sha256 }: { sha256: string }): Promise<object> => {
      this.#check();
      if (createHash("sha256").update(bytes).digest("hex") !== sha256) throw new Error("wrong hash");
      this.objects.set(key, bytes.slice());
      return {};
    };
    const get = async (
      key: string,
      options?: { range: { offset: number; length: number } },
    ): Promise<object | null> => {
      this.#check();
      const whole = this.objects.get(key);
      if (!whole) return null;
      const { offset, length } = options?.range ?? { offset: 0, length: whole.length };
      return { body: new Blob([whole.slice(offset, offset + length)]).stream() };
    };
    return { put, get } as unknown as Bucket;
  }

  #check(): void {
    if (this.failure) throw this.failure;
  }
}
