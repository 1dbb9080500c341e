import type { OpenWebSocket, WebSocketLike } from "../../../client/socket-connection.ts";
import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import type { ServerFrame, SessionState } from "../../../src/runtime/protocol/frames.ts";
import { NO_USAGE } from "../../../src/runtime/protocol/usage.ts";

type Listener = (event: { data: unknown; code: number }) => void;

/** A WebSocket without a network: the test plays the server. */
export class FakeSocket implements WebSocketLike {
  readonly url: URL;
  readonly protocols: readonly string[];
  /** What the client has sent. */
  readonly sent: string[] = [];
  /** Whether the client has closed it. */
  closed = false;
  readonly #listeners = new Map<string, Listener[]>();

  constructor(url: string, protocols: readonly string[]) {
    this.url = new URL(url);
    this.protocols = protocols;
  }

  /** The cursor that the client asked for. */
  get after(): number {
    return Number(this.url.searchParams.get("after"));
  }

  /** The frames that the client has sent, pings left out. */
  get frames(): Record<string, unknown>[] {
    return this.sent
      .filter((text) => text !== "ping")
      .map((text) => JSON.parse(text) as Record<string, unknown>);
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send(text: string): void {
    this.sent.push(text);
  }

  /** As a real one, it tells of its end later. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    queueMicrotask(() => this.drop(1000));
  }

  accept(): void {
    this.#emit("open", {});
  }

  tell(...frames: (ServerFrame | AgentEvent)[]): void {
    for (const frame of frames) this.tellText(JSON.stringify(frame));
  }

  tellText(data: unknown): void {
    this.#emit("message", { data });
  }

  /** Ends the connection from the server's side, or the network's. */
  drop(code = 1006): void {
    this.#emit("close", { code });
  }

  #emit(type: string, event: { data?: unknown; code?: number }): void {
    for (const listener of this.#listeners.get(type) ?? [])
      listener({ data: event.data, code: event.code ?? 0 });
  }
}

/** All connections that a client has opened, the last one last. */
export class FakeSockets {
  readonly opened: FakeSocket[] = [];

  readonly open: OpenWebSocket = (url, protocols) => {
    const socket = new FakeSocket(url, protocols);
    this.opened.push(socket);
    return socket;
  };

  get last(): FakeSocket {
    const last = this.opened.at(-1);
    if (!last) throw new Error("No connection has been opened.");
    return last;
  }
}

/** The state of a session as a server tells it. */
export function sessionState(fields: Partial<SessionState> = {}): SessionState {
  return {
    id: "s",
    agent: "default",
    agentVersion: 1,
    workspace: "w",
    title: "",
    metadata: {},
    status: "idle",
    turn: 0,
    step: 0,
    head: 0,
    oldest: 0,
    logId: "l",
    queued: 0,
    openRequests: 0,
    windowTokens: 0,
    contextWindow: 128_000,
    usage: NO_USAGE,
    createdAt: 0,
    updatedAt: 0,
    ...fields,
  };
}

/** The first frame of a connection. */
export function hello(fields: Partial<SessionState> = {}): ServerFrame {
  return { type: "hello", protocol: 1, state: sessionState(fields) };
}

/** What the replay of a connection ends with. */
export function live(head: number): ServerFrame {
  return { type: "live", head, partial: [] };
}
