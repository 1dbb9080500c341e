import type { Clock } from "../runtime/protocol/time.ts";
import type { ObjectStorage } from "./object-storage.ts";

/** Between two looks for objects: an upload that was under way at the end may have come after the first. */
const LOOK_AGAIN_MS = 30_000;

/** After a failure of R2. */
const RETRY_MS = 60_000;

/** Empties a condemned workspace, by the alarm: R2 first, then the object's own storage. Any step may run twice. */
export class WorkspaceRemoval {
  readonly #storage: Pick<DurableObjectStorage, "deleteAll" | "setAlarm">;
  readonly #objects: ObjectStorage;
  readonly #clock: Clock;

  constructor(
    storage: Pick<DurableObjectStorage, "deleteAll" | "setAlarm">,
    objects: ObjectStorage,
    clock: Clock,
  ) {
    this.#storage = storage;
    this.#objects = objects;
    this.#clock = clock;
  }

  async begin(): Promise<void> {
    await this.#storage.setAlarm(this.#clock());
  }

  /** One page of objects; the storage when a look finds none. Never throws: the platform gives up after six tries. */
  async step(): Promise<void> {
    let removed: number;
    try {
      removed = await this.#objects.removeSome();
    } catch {
      await this.#storage.setAlarm(this.#clock() + RETRY_MS);
      return;
    }
    if (removed === 0) await this.#storage.deleteAll();
    else await this.#storage.setAlarm(this.#clock() + (removed < PAGE ? LOOK_AGAIN_MS : 0));
  }
}

/** Objects that R2 lists at once. */
const PAGE = 1_000;
