import type { BlobStore } from "./blob-store.ts";
import type { WorkspaceRecord } from "./workspace-record.ts";

/**
 * Asks the tenant to let this workspace hold so many bytes in all, and some more where it `grows`; a smaller number gives the
 * rest back.
 * @returns what it may hold now
 * @throws LightAgentError `storage_full`, `unavailable`
 */
export type AskForStorage = (bytes: number, grows: boolean) => Promise<number>;

/**
 * Keeps what a workspace stores within what its tenant grants it. Counted are all contents that it holds, old versions'
 * too, each once, and those on their way to R2. What it stores is the sum of its blobs, so no death makes it wrong; a
 * grant that the workspace does not know of after one is the tenant's until it asks again.
 */
export class StorageAllowance {
  readonly #record: WorkspaceRecord;
  readonly #blobs: BlobStore;
  readonly #ask: AskForStorage;
  /** Bytes on their way. */
  #pending = 0;
  /** No fewer bytes than are stored and on their way; null while nobody has looked. */
  #atMost: number | null = null;
  /** The last question to the tenant: one at a time, since each answer is all that the workspace may hold. */
  #asking: Promise<unknown> = Promise.resolve();

  constructor(record: WorkspaceRecord, blobs: BlobStore, ask: AskForStorage) {
    this.#record = record;
    this.#blobs = blobs;
    this.#ask = ask;
  }

  /**
   * Makes room for a content on its way. Reads 1 row mostly, and all blobs when the grant seems to be used up.
   * @returns what has to be called once the content is stored, or has come to nothing
   * @throws LightAgentError `storage_full`, `unavailable`
   */
  async reserve(bytes: number): Promise<() => void> {
    this.#pending += bytes;
    if (this.#atMost !== null) this.#atMost += bytes;
    let open = true;
    const release = (): void => {
      if (open) this.#pending -= bytes;
      open = false;
    };
    try {
      if (!this.#fits()) await this.#inTurn(() => this.#grow());
      return release;
    } catch (caught) {
      release();
      throw caught;
    }
  }

  /** Contents have gone: what the workspace needs no more is given back. Reads all blobs. Never rejects. */
  async giveBack(): Promise<void> {
    await this.#inTurn(async () => {
      const needed = this.#count();
      if (this.#record.granted() <= needed) return;
      // Before the tenant gives it to another: who needs more meanwhile has to ask.
      this.#record.grant(needed);
      this.#record.grant(await this.#ask(needed, false));
    }).catch(() => undefined);
  }

  #fits(): boolean {
    return this.#atMost !== null && this.#atMost <= this.#record.granted();
  }

  async #grow(): Promise<void> {
    const needed = this.#count();
    if (needed > this.#record.granted()) this.#record.grant(await this.#ask(needed, true));
  }

  #count(): number {
    this.#atMost = this.#blobs.bytes() + this.#pending;
    return this.#atMost;
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const mine = this.#asking.then(run);
    this.#asking = mine.catch(() => undefined);
    return mine;
  }
}
