import { systemTimers } from "../src/runtime/protocol/time.ts";
import type { Timers } from "../src/runtime/protocol/time.ts";

/** What is used of a WebSocket: that of browsers, of Node and of Workers have it all. */
export interface WebSocketLike {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number }) => void): void;
}

/** Opens a WebSocket; `new WebSocket(url, protocols)` does. */
export type OpenWebSocket = (url: string, protocols: string[]) => WebSocketLike;

export interface SocketHandlers {
  opened(): void;
  message(text: string): void;
  /** Called once, unless the owner closed it. `code` is null when the connection was given up as dead. */
  lost(code: number | null): void;
}

/** How long opening may take; after how much silence a ping is sent, and how long its answer may take. */
const OPEN_MS = 10_000;
const SILENCE_MS = 25_000;
const ANSWER_MS = 10_000;

/**
 * One WebSocket from its opening to its loss. A connection that died without a word, as mobile networks do it, is
 * found by `ping`, which the server answers with `pong` without waking the session.
 */
export class SocketConnection {
  readonly #handlers: SocketHandlers;
  readonly #timers: Timers;
  readonly #socket: WebSocketLike;
  #over = false;
  #heard = false;
  #cancelTimer: () => void;

  /** @throws SyntaxError when the address or a subprotocol is not usable */
  constructor(
    url: string,
    protocols: string[],
    handlers: SocketHandlers,
    open: OpenWebSocket = (...args) => new WebSocket(...args),
    timers: Timers = systemTimers,
  ) {
    this.#handlers = handlers;
    this.#timers = timers;
    this.#socket = open(url, protocols);
    this.#cancelTimer = timers.after(OPEN_MS, () => this.#giveUp());
    this.#socket.addEventListener("open", () => this.#opened());
    this.#socket.addEventListener("message", ({ data }) => this.#message(data));
    this.#socket.addEventListener("close", ({ code }) => this.#lose(code));
  }

  send(text: string): void {
    if (!this.#over) this.#socket.send(text);
  }

  /** Ends it without a call of `lost`. */
  close(): void {
    this.#finish();
    this.#socket.close(1000);
  }

  #opened(): void {
    if (this.#over) return;
    this.#watch();
    this.#handlers.opened();
  }

  #message(data: unknown): void {
    if (this.#over) return;
    this.#heard = true;
    if (typeof data === "string" && data !== "pong") this.#handlers.message(data);
  }

  #watch(): void {
    this.#heard = false;
    this.#after(SILENCE_MS, () => {
      if (this.#heard) return this.#watch();
      this.#socket.send("ping");
      this.#after(ANSWER_MS, () => (this.#heard ? this.#watch() : this.#giveUp()));
    });
  }

  #after(ms: number, run: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#timers.after(ms, run);
  }

  /** A dead connection may take minutes to close: it counts as lost from now on. */
  #giveUp(): void {
    this.#lose(null);
    this.#socket.close();
  }

  #lose(code: number | null): void {
    if (this.#over) return;
    this.#finish();
    this.#handlers.lost(code);
  }

  #finish(): void {
    this.#over = true;
    this.#cancelTimer();
  }
}
