import { foldConversation } from "./conversation.ts";
import type { Turn } from "./conversation.ts";
import type { RestClient } from "./rest-client.ts";

/** The turns from a point of the log up to another, and the point itself. */
export interface PastTurns {
  readonly after: number;
  readonly turns: readonly Turn[];
}

export type PastSource = Pick<RestClient, "checkpoints" | "events">;

/** Events that are asked for at once; the server may give fewer. */
const PAGE = 5_000;

/** Finds the beginnings of a session's turns from its end on, so that of a long log only the last part is fetched. */
export class TurnPages {
  readonly #rest: PastSource;
  readonly #session: string;
  readonly #turns: number;
  #cursor: string | null = null;
  #after = Number.POSITIVE_INFINITY;

  /** @param turns how many turns a page has */
  constructor(rest: PastSource, session: string, turns: number) {
    this.#rest = rest;
    this.#session = session;
    this.#turns = turns;
  }

  /**
   * The `seq` after which the next earlier page begins; 0 for the beginning of the log.
   * @throws LightAgentError
   */
  async next(): Promise<number> {
    const before = this.#after;
    // A turn that began from an earlier point, by a restore, may reach further back than the turns before it.
    while (this.#after > 0 && this.#after >= before) {
      const page = await this.#rest.checkpoints(this.#session, {
        limit: this.#turns,
        ...(this.#cursor !== null && { cursor: this.#cursor }),
      });
      this.#cursor = page.next;
      const first = page.next === null ? 0 : (page.data.at(-1)?.seq ?? 0);
      this.#after = Math.min(this.#after, first);
    }
    return this.#after;
  }

  /** The turns after `after` up to `through`; null when the log is no longer the one that `logId` names. */
  async read(after: number, through: number, logId: string): Promise<PastTurns | null> {
    let turns: readonly Turn[] = [];
    let last = after;
    while (last < through) {
      const limit = Math.min(PAGE, through - last);
      const { events, ...page } = await this.#rest.events(this.#session, { after: last, limit });
      const end = events.at(-1);
      if (page.logId !== logId || !end) return null;
      turns = foldConversation(turns, events);
      last = end.seq;
    }
    return { after, turns };
  }
}
