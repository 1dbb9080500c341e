import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Clock, Timers } from "../runtime/protocol/time.ts";
import { hears } from "./broadcast.ts";
import type { Broadcast, Follower, Told } from "./broadcast.ts";
import { CredentialWatch } from "./credential-watch.ts";
import type { LogStore } from "./log-store.ts";
import type { Caller } from "./session-api.ts";

export interface EventStreamQuery {
  readonly after: number;
  readonly format: "sse" | "ndjson";
  /** Only events of these types, durable and live; the default without it. */
  readonly types: ReadonlySet<string> | null;
  /** A prompt whose outcome ends the stream. */
  readonly until: string | null;
}

export interface EventStreamOptions {
  readonly log: LogStore;
  readonly broadcast: Broadcast;
  readonly limits: Limits;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly caller: Caller;
  /** Whether the key of the caller still stands. @throws when nobody can tell */
  readonly stands: (caller: Caller) => Promise<boolean>;
  readonly head: () => number;
  /** Aborts when the session is deleted: the stream ends after what it has. */
  readonly deleted: AbortSignal;
}

const encoder = new TextEncoder();

/**
 * The log as an HTTP stream, pulled at the reader's pace: what was missed, one `live` object, then everything as it
 * happens. A reader that falls behind leaves the live set and catches up from the log; a further `live` object then
 * says where the open blocks stand. It ends with the credential that it was asked for with.
 */
export class EventStream implements Follower {
  readonly #query: EventStreamQuery;
  readonly #options: EventStreamOptions;
  readonly #credential: CredentialWatch;
  /** The last durable event that the reader got, or has waiting in `#chunks`. */
  #cursor: number;
  #live = false;
  #ended = false;
  #chunks: string[] = [];
  #size = 0;
  #wake: () => void = () => undefined;
  #stopKeepAlive: () => void = () => undefined;
  readonly #end = (): void => {
    const { broadcast, deleted } = this.#options;
    this.#ended = true;
    broadcast.leave(this);
    deleted.removeEventListener("abort", this.#end);
    this.#stopKeepAlive();
    this.#wake();
  };

  constructor(query: EventStreamQuery, options: EventStreamOptions) {
    this.#query = query;
    this.#options = options;
    this.#cursor = query.after;
    const { clock, caller, stands, limits } = options;
    const watched = { caller, checkedAt: clock(), recheckMs: limits.recheckMs, clock, stands };
    this.#credential = new CredentialWatch({ ...watched, over: this.#end });
  }

  body(): ReadableStream<Uint8Array> {
    this.#keepAlive();
    this.#options.deleted.addEventListener("abort", this.#end);
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const text = await this.#next();
        if (text === null) controller.close();
        else controller.enqueue(encoder.encode(text));
      },
      cancel: this.#end,
    });
  }

  tell({ events, live }: Told): void {
    if (!this.#credential.holds()) return;
    const { types } = this.#query;
    if (events) for (const event of events.list) this.#pushEvent(event);
    if (live && hears(types, live.type)) this.#push(this.#format(live.type, live.json, null));
    if (this.#size > this.#options.limits.syncBytes) this.#fallBehind();
  }

  /** The next text for the reader; null at the end. */
  async #next(): Promise<string | null> {
    for (;;) {
      if (this.#chunks.length > 0) return this.#take();
      if (this.#ended) return null;
      if (!this.#live) this.#catchUp();
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #take(): string {
    const text = this.#chunks.join("");
    this.#chunks = [];
    this.#size = 0;
    return text;
  }

  /** One page of the log, or, at the head, the step into the live set, in one synchronous block. */
  #catchUp(): void {
    const { log, limits, broadcast, head } = this.#options;
    if (this.#cursor < head()) {
      const page = log.page(this.#cursor, limits.replayPageBytes);
      // The log's text was written by LogStore, so it is what it says.
      for (const event of JSON.parse(page.json) as DurableEvent[]) this.#pushEvent(event);
      this.#cursor = page.lastSeq;
      return;
    }
    const live = { type: "live", head: this.#cursor, partial: broadcast.partial };
    this.#push(this.#format("live", JSON.stringify(live), null));
    this.#live = true;
    broadcast.join(this);
  }

  #pushEvent(event: DurableEvent): void {
    if (this.#ended || event.seq <= this.#cursor) return;
    this.#cursor = event.seq;
    const { types, until } = this.#query;
    if (!types || types.has(event.type))
      this.#push(this.#format(event.type, JSON.stringify(event), event.seq));
    const outcome =
      (event.type === "agent_stop" && until !== null && event.promptIds.includes(until)) ||
      (event.type === "prompt_dropped" && event.promptId === until);
    if (outcome) this.#end();
  }

  #format(type: string, json: string, seq: number | null): string {
    if (this.#query.format === "ndjson") return `${json}\n`;
    const id = seq === null ? "" : `id: ${seq}\n`;
    return `event: ${type}\n${id}data: ${json}\n\n`;
  }

  #push(text: string): void {
    if (this.#ended) return;
    this.#chunks.push(text);
    this.#size += text.length;
    this.#wake();
  }

  #fallBehind(): void {
    this.#live = false;
    this.#options.broadcast.leave(this);
  }

  #keepAlive(): void {
    const { timers, limits } = this.#options;
    this.#stopKeepAlive = timers.after(limits.keepAliveMs, () => {
      if (this.#ended || !this.#credential.holds()) return;
      if (this.#chunks.length === 0) this.#push(this.#query.format === "sse" ? ": keep-alive\n\n" : "\n");
      this.#keepAlive();
    });
  }
}
