import type { Connection } from "partyserver";
import { CLOSE } from "../runtime/protocol/websocket.ts";
import type { ServerFrame } from "../runtime/protocol/frames.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import { hears } from "./broadcast.ts";
import type { Broadcast, Follower, Told } from "./broadcast.ts";
import { CredentialWatch } from "./credential-watch.ts";
import type { LogStore } from "./log-store.ts";
import type { Caller } from "./session-api.ts";
import { tryToSend } from "./try-to-send.ts";

/** What a socket's attachment holds. */
export interface SocketState {
  readonly caller: Caller;
  /** Live types that it asked for; null for the default, `"all"` for every one. */
  readonly types: readonly string[] | "all" | null;
  /** While it replays: the last `seq` sent. Null once it is live: then it has everything. */
  readonly cursor: number | null;
  /** When its key was last known to stand, in ms since the epoch. */
  readonly checkedAt: number;
}

export interface SocketFollowerOptions {
  readonly log: LogStore;
  readonly broadcast: Broadcast;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly head: () => number;
  /** @throws when nobody can tell */
  readonly stands: (caller: Caller) => Promise<boolean>;
}

/**
 * One socket: replays the log by pages from its cursor, joins the live set in the same synchronous block in which it
 * reached the head, and is held to the client's pace by `sync` and `synced`.
 */
export class SocketFollower implements Follower {
  readonly #connection: Connection;
  readonly #options: SocketFollowerOptions;
  #state: SocketState;
  #types: ReadonlySet<string> | "all" | null;
  /** UTF-16 units sent so far, at the last `sync`, and at the last `sync` that was answered. */
  #sent = 0;
  #sentAtSync = 0;
  #sentAtSynced = 0;
  #syncs = 0;
  readonly #unanswered = new Map<number, number>();
  readonly #credential: CredentialWatch;

  constructor(connection: Connection, state: SocketState, options: SocketFollowerOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#state = state;
    this.#types = typesOf(state);
    this.#keep(state);
    const { clock, limits, stands } = options;
    this.#credential = new CredentialWatch({
      ...state,
      recheckMs: limits.recheckMs,
      clock,
      stands,
      stood: (checkedAt) => this.#keep({ ...this.#state, checkedAt }),
      over: (reason) => this.close(CLOSE.credential, reason),
    });
  }

  get caller(): Caller {
    return this.#state.caller;
  }

  subscribe(types: readonly string[] | undefined, verbose: boolean): void {
    const state = { ...this.#state, types: verbose ? ("all" as const) : (types ?? null) };
    this.#types = typesOf(state);
    this.#keep(state);
  }

  /** Sends what is missing as far as the client keeps pace, and goes live at the head. */
  pump(): void {
    const { log, broadcast, limits, head } = this.#options;
    let { cursor } = this.#state;
    if (cursor === null) return broadcast.join(this);
    while (cursor < head()) {
      if (this.#sent - this.#sentAtSynced >= limits.replayPauseBytes)
        return this.#keep({ ...this.#state, cursor });
      const page = log.page(cursor, limits.replayPageBytes);
      this.#sendText(`{"type":"events","events":${page.json}}`);
      cursor = page.lastSeq;
    }
    this.send({ type: "live", head: cursor, partial: broadcast.partial });
    this.#keep({ ...this.#state, cursor: null });
    broadcast.join(this);
  }

  tell({ events, live }: Told): void {
    if (!this.isAllowed()) return;
    if (events) this.#sendText(`{"type":"events","events":${events.json}}`);
    if (live && (this.#types === "all" || hears(this.#types, live.type))) this.#sendText(live.json);
    if (this.#sent - this.#sentAtSynced >= this.#options.limits.socketCloseBytes) {
      this.close(CLOSE.tooSlow, "too slow");
    }
  }

  send(frame: ServerFrame): void {
    this.#sendText(JSON.stringify(frame));
  }

  /** The client has read everything up to a `sync`. */
  synced(n: number): void {
    const sent = this.#unanswered.get(n);
    if (sent === undefined) return;
    for (const known of this.#unanswered.keys()) if (known <= n) this.#unanswered.delete(known);
    this.#sentAtSynced = sent;
    this.pump();
  }

  /** Whether the credential still holds; closes the socket when it is over. */
  isAllowed(): boolean {
    return this.#credential.holds();
  }

  leave(): void {
    this.#options.broadcast.leave(this);
  }

  close(code: number, reason: string): void {
    this.leave();
    this.#connection.close(code, reason);
  }

  #sendText(text: string): void {
    if (!tryToSend(this.#connection, text)) return this.leave();
    this.#sent += text.length;
    if (this.#sent - this.#sentAtSync < this.#options.limits.syncBytes) return;
    this.#sentAtSync = this.#sent;
    this.#syncs += 1;
    this.#unanswered.set(this.#syncs, this.#sent);
    if (!tryToSend(this.#connection, JSON.stringify({ type: "sync", n: this.#syncs }))) this.leave();
  }

  #keep(state: SocketState): void {
    this.#state = state;
    this.#connection.setState(state);
  }
}

function typesOf({ types }: SocketState): ReadonlySet<string> | "all" | null {
  return types === null || types === "all" ? types : new Set(types);
}
