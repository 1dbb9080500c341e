import type { Disk, Row } from "./disk.ts";

/** What sees every use of the storage by one instance, and may make it fail by throwing. */
export interface StorageWatch {
  /** Before anything is read or written. */
  use(): void;
  /** Before a statement that writes. */
  write(query: string): void;
  /** What was written has become durable; `tell` lets out what waited for that. */
  committed(tell: () => void): void;
  sync(): Promise<void>;
}

/**
 * The storage of a Durable Object as one instance sees it, on node:sqlite; only what the product uses. As on the
 * platform, what is written between two awaits becomes durable together, alarm included, and what is told meanwhile
 * leaves the object only then.
 */
export class SimulatedStorage {
  readonly #disk: Disk;
  readonly #watch: StorageWatch;
  /** What waits for the writes that are not durable yet; null when there are none. */
  #block: { readonly told: (() => void)[]; alarm: number | null | undefined } | null = null;

  constructor(disk: Disk, watch: StorageWatch) {
    this.#disk = disk;
    this.#watch = watch;
  }

  /** The platform's interface. */
  get platform(): DurableObjectStorage {
    const moveAlarm = async (at: number | null): Promise<void> => {
      this.#begin("ALARM").alarm = at;
    };
    const storage = {
      sql: { exec: (query: string, ...bindings: unknown[]) => this.#exec(query, bindings) },
      transactionSync: <T>(closure: () => T) => this.#transaction(closure),
      sync: () => this.#watch.sync(),
      getAlarm: async () => this.#disk.alarm,
      setAlarm: (at: number) => moveAlarm(at),
      deleteAlarm: () => moveAlarm(null),
    };
    return storage as unknown as DurableObjectStorage;
  }

  /** Does something once everything that is written now is durable; never when it is lost. */
  afterWrites(run: () => void): void {
    if (this.#block) this.#block.told.push(run);
    else run();
  }

  /** The instance is over: what it wrote last is gone. */
  abandon(): void {
    if (!this.#block) return;
    this.#block = null;
    this.#disk.run("ROLLBACK");
  }

  #exec(query: string, bindings: readonly unknown[]): Cursor {
    this.#watch.use();
    if (!/^\s*SELECT/i.test(query)) this.#begin(query);
    return new Cursor(this.#disk.run(query, ...bindings));
  }

  #transaction<T>(closure: () => T): T {
    this.#begin("BEGIN");
    this.#disk.run("SAVEPOINT inner");
    try {
      const result = closure();
      this.#watch.write("COMMIT");
      this.#disk.run("RELEASE inner");
      return result;
    } catch (caught) {
      // Of an instance that has ended meanwhile everything is rolled back already.
      if (this.#block) this.#disk.run("ROLLBACK TO inner");
      throw caught;
    }
  }

  #begin(query: string): { alarm: number | null | undefined } {
    this.#watch.use();
    this.#watch.write(query);
    if (this.#block) return this.#block;
    this.#disk.run("BEGIN");
    queueMicrotask(() => this.#commit());
    this.#block = { told: [], alarm: undefined };
    return this.#block;
  }

  #commit(): void {
    const block = this.#block;
    if (!block) return;
    this.#block = null;
    this.#disk.run("COMMIT");
    if (block.alarm !== undefined) this.#disk.alarm = block.alarm;
    this.#watch.committed(() => block.told.forEach((run) => run()));
  }
}

/** The rows of one statement. Read at once, where the platform's cursor reads as it is asked. */
class Cursor implements Iterable<Row> {
  readonly #rows: readonly Row[];

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  toArray(): Row[] {
    return [...this.#rows];
  }

  one(): Row {
    const [row] = this.#rows;
    if (!row || this.#rows.length > 1) throw new Error(`Expected one row, got ${this.#rows.length}.`);
    return row;
  }

  [Symbol.iterator](): Iterator<Row> {
    return this.#rows[Symbol.iterator]();
  }
}
