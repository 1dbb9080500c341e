import type { Alarms } from "./alarms.ts";
import type { MetaStore } from "./meta-store.ts";
import type { ObjectStorage } from "./object-storage.ts";
import type { Claim } from "./session-forks.ts";
import type { SessionPast } from "./session-past.ts";
import { META } from "./session-settings.ts";
import type { Condemned } from "./session-settings.ts";

/** After the first look for objects comes another: one may have been on its way when the session was deleted. */
const LOOK_AGAIN_MS = 30_000;

/** When something does not answer, or a fork is being made. */
const RETRY_MS = 60_000;

/** Between two questions whether forks still show the artifacts. */
const HELD_MS = 24 * 60 * 60_000;

export interface RemovalParts {
  readonly storage: Pick<DurableObjectStorage, "deleteAll">;
  readonly meta: MetaStore;
  readonly alarms: Alarms;
  readonly past: SessionPast;
  /** What the session has put into R2. */
  readonly objects: () => ObjectStorage;
  /** What its forks need of it. */
  readonly claim: () => Promise<Claim>;
  /** Tells its workspace that nothing is kept for it any more. @throws when the workspace does not answer */
  readonly leave: () => Promise<void>;
}

/**
 * Ends a session for good. It is condemned in one write with the alarm that erases it: R2 by pages, then its storage.
 * What forks show stays until they are gone; the log does not. Any step may run twice.
 */
export class SessionRemoval {
  readonly #parts: RemovalParts;

  constructor(parts: RemovalParts) {
    this.#parts = parts;
  }

  /** Whether the session is deleted. Reads 1 row. */
  get isCondemned(): boolean {
    return this.#mark() !== undefined;
  }

  /** The caller has read the alarm. */
  condemn(): void {
    const { meta, alarms } = this.#parts;
    const now = Date.now();
    meta.set(META.condemned, { at: now, held: false } satisfies Condemned);
    alarms.wakeBy(now);
  }

  /** Sees to it that the erasure goes on: its alarm may have been lost. */
  async arm(): Promise<void> {
    const { alarms } = this.#parts;
    await alarms.read();
    alarms.wakeBy(Date.now() + (this.#mark()?.held ? HELD_MS : RETRY_MS));
  }

  /** One step, for the alarm. @throws what does not answer; the next alarm is set then */
  async step(): Promise<void> {
    const { storage, meta, alarms, past, objects, claim, leave } = this.#parts;
    const mark = this.#mark();
    if (!mark) return;
    // Before the work, so that an eviction in the middle of it is followed by another try.
    alarms.wakeBy(Date.now() + RETRY_MS);
    const claimed = await claim();
    if (claimed === "past") return;
    if (claimed === "artifacts") {
      past.clear();
      meta.set(META.condemned, { ...mark, held: true } satisfies Condemned);
      return this.#again(HELD_MS);
    }
    await leave();
    while ((await objects().removeSome()) > 0);
    const settled = mark.at + LOOK_AGAIN_MS - Date.now();
    if (settled > 0) return this.#again(settled);
    await storage.deleteAll();
    alarms.clear();
  }

  #again(inMs: number): void {
    const { alarms } = this.#parts;
    alarms.clear();
    alarms.wakeBy(Date.now() + inMs);
  }

  #mark(): Condemned | undefined {
    return this.#parts.meta.get<Condemned>(META.condemned);
  }
}
