import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { SessionFold } from "../runtime/protocol/session-fold.ts";
import { NO_USAGE } from "../runtime/protocol/usage.ts";
import { LogStore } from "./log-store.ts";
import type { LogRow } from "./log-store.ts";
import type { MigrationStorage } from "./migrations.ts";
import { PromptStore } from "./prompt-store.ts";
import type { StoredPrompt } from "./prompt-store.ts";
import { TurnStore } from "./turn-store.ts";
import type { TurnRow } from "./turn-store.ts";

/** A point between two turns: the last event and the last turn before it; 0 for none. */
export interface PastPoint {
  readonly seq: number;
  readonly turn: number;
}

/** A part of a session's past, as rows. */
export interface PastPage {
  readonly log: readonly LogRow[];
  /** What is remembered of the prompts that those rows say were dropped. */
  readonly dropped: readonly StoredPrompt[];
  readonly turns: readonly TurnRow[];
  /** Nothing follows. */
  readonly last: boolean;
}

/** The rows of a page, in UTF-16 units: an RPC is bounded, and a fork that dies loses one page. */
const PAGE_CHARS = 512 * 1024;

/**
 * What a session has stored of its past, for another session to take over: the log, the turns, and the ids of dropped
 * prompts, which must not come a second time. Works on the storage alone: no session need be open.
 */
export class SessionPast {
  readonly #storage: MigrationStorage;
  readonly #log: LogStore;
  readonly #turns: TurnStore;
  readonly #prompts: PromptStore;

  constructor(storage: MigrationStorage) {
    this.#storage = storage;
    this.#log = new LogStore(storage.sql, Number.POSITIVE_INFINITY);
    this.#turns = new TurnStore(storage.sql);
    this.#prompts = new PromptStore(storage.sql);
  }

  /** How far it reaches. Reads 2 rows. */
  head(): PastPoint {
    return { seq: this.#log.head(), turn: this.#turns.head() };
  }

  /** What comes after one point up to another, as far as it has room in a page: one row at least. */
  page(after: PastPoint, through: PastPoint): PastPage {
    const room = new Room(PAGE_CHARS);
    const log = room.fill(this.#log.rows(after.seq, through.seq), ({ body }) => body.length);
    const turns = room.fill(
      this.#turns.rows(after.turn, through.turn),
      (row) => row.fold.length + row.prompts.length,
    );
    return { log, dropped: this.#droppedIn(log), turns, last: !room.full };
  }

  /** Adds a page, and does what belongs to it, in one transaction. What was used before is not this session's usage. */
  add({ log, dropped, turns }: PastPage, and: () => void): void {
    this.#storage.transactionSync(() => {
      for (const row of log) this.#log.put(row);
      for (const prompt of dropped) this.#prompts.insertDropped(prompt);
      for (const row of turns) {
        const fold: SessionFold = { ...(JSON.parse(row.fold) as SessionFold), usage: NO_USAGE };
        this.#turns.put({ ...row, fold: JSON.stringify(fold), usage: "[]" });
      }
      and();
    });
  }

  /** Forgets all of it. */
  clear(): void {
    this.#storage.transactionSync(() => {
      this.#log.clear();
      this.#turns.clear();
      this.#prompts.clear();
    });
  }

  #droppedIn(log: readonly LogRow[]): StoredPrompt[] {
    return log.flatMap(({ body }) => {
      if (!body.includes("prompt_dropped")) return [];
      const events = JSON.parse(body) as DurableEvent[];
      return events.flatMap((event) => {
        const stored = event.type === "prompt_dropped" ? this.#prompts.find(event.promptId) : undefined;
        return stored ? [stored] : [];
      });
    });
  }
}

/** The room in a page. */
class Room {
  #left: number;
  #empty = true;
  full = false;

  constructor(size: number) {
    this.#left = size;
  }

  /** Takes rows as long as there is room; once it is full, none. */
  fill<Row>(rows: Iterable<Row>, sizeOf: (row: Row) => number): Row[] {
    const taken: Row[] = [];
    for (const row of rows) {
      this.#left -= sizeOf(row);
      if (this.full || (this.#left < 0 && !this.#empty)) {
        this.full = true;
        break;
      }
      this.#empty = false;
      taken.push(row);
    }
    return taken;
  }
}
