import type { Clock } from "../runtime/protocol/time.ts";

/** The part of a Durable Object's storage that alarms need. */
export type AlarmStorage = Pick<DurableObjectStorage, "getAlarm" | "setAlarm" | "deleteAlarm">;

/** The platform fires an alarm within a minute: one that is later than that is taken for lost. */
const LOST_AFTER_MS = 60_000;

/**
 * The one alarm of an object. It is only moved earlier, or set anew from what is due when it has fired: so it can be
 * asked for on every sign of life without a write each time.
 */
export class Alarms {
  readonly #storage: AlarmStorage;
  readonly #clock: Clock;
  /** When it is due, in ms since the epoch; null for none; undefined before it was read. */
  #due: number | null | undefined;

  constructor(storage: AlarmStorage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** Reads what is stored, once, before anything else is asked. */
  async read(): Promise<void> {
    if (this.#due === undefined) this.#due = await this.#storage.getAlarm();
  }

  /** Makes sure of an alarm at the latest then. Writes only when none is due that early, or the one that was is lost. */
  wakeBy(at: number): void {
    const due = this.#due ?? Number.POSITIVE_INFINITY;
    if (due <= at && due > this.#clock() - LOST_AFTER_MS) return;
    this.#due = at;
    void this.#storage.setAlarm(at);
  }

  /** The alarm has fired: it is gone until somebody asks again. */
  fired(): void {
    this.#due = null;
  }

  /** Nothing is due any more. Writes only when something was. */
  clear(): void {
    if (this.#due === null) return;
    this.#due = null;
    void this.#storage.deleteAlarm();
  }
}
