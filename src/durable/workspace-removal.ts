import type { Clock } from "../runtime/protocol/time.ts";
import type { Alarms } from "./alarms.ts";
import type { ObjectStorage } from "./object-storage.ts";

/** Between two looks for objects: an upload that was under way at the end may have come after the first. */
const LOOK_AGAIN_MS = 30_000;

/** After a failure of R2. */
const RETRY_MS = 60_000;

/** Empties a condemned workspace, by the alarm: R2 first, then the object's own storage. Any step may run twice. */
export class WorkspaceRemoval {
  readonly #storage: Pick<DurableObjectStorage, "deleteAll">;
  readonly #objects: ObjectStorage;
  readonly #alarms: Alarms;
  readonly #clock: Clock;

  constructor(
    storage: Pick<DurableObjectStorage, "deleteAll">,
    objects: ObjectStorage,
    alarms: Alarms,
    clock: Clock,
  ) {
    this.#storage = storage;
    this.#objects = objects;
    this.#alarms = alarms;
    this.#clock = clock;
  }

  async begin(): Promise<void> {
    await this.#again(0);
  }

  /** One page of objects; the storage when a look finds none. Never throws: the platform gives up after six tries. */
  async step(): Promise<void> {
    this.#alarms.fired();
    let removed: number;
    try {
      removed = await this.#objects.removeSome();
    } catch {
      return this.#again(RETRY_MS);
    }
    if (removed === 0) await this.#storage.deleteAll();
    else await this.#again(removed < PAGE ? LOOK_AGAIN_MS : 0);
  }

  async #again(inMs: number): Promise<void> {
    await this.#alarms.read();
    this.#alarms.wakeBy(this.#clock() + inMs);
  }
}

/** Objects that R2 lists at once. */
const PAGE = 1_000;
