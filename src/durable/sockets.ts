import type { Connection } from "partyserver";
import { traceOf } from "../runtime/protocol/error-trace.ts";
import { LightAgentError, toErrorBody } from "../runtime/protocol/errors.ts";
import { CLOSE } from "../runtime/protocol/websocket.ts";
import type { ClientFrame, SessionState } from "../runtime/protocol/frames.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import type { Broadcast } from "./broadcast.ts";
import type { LogStore } from "./log-store.ts";
import type { Caller } from "./session-api.ts";
import { readFrame } from "./read-frame.ts";
import { SocketFollower } from "./socket-follower.ts";
import type { SocketState } from "./socket-follower.ts";

/** A frame that asks for something; the others are about the socket itself. */
export type CommandFrame = Extract<
  ClientFrame,
  { type: "prompt" | "interrupt" | "unqueue" | "approve" | "answer" | "restore" | "compact" }
>;

export interface SocketsOptions {
  readonly log: LogStore;
  readonly broadcast: Broadcast;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly head: () => number;
  readonly state: () => SessionState;
  /** Carries a command out, in the name of the socket's caller. Throws what is refused. */
  readonly command: (frame: CommandFrame, caller: Caller) => Promise<unknown>;
  /** Whether the key behind a socket still stands. @throws when nobody can tell */
  readonly stands: (caller: Caller) => Promise<boolean>;
}

/** The WebSockets of one session. What must survive hibernation is in each socket's attachment. */
export class Sockets {
  readonly #options: SocketsOptions;
  readonly #followers = new Map<string, SocketFollower>();

  constructor(options: SocketsOptions) {
    this.#options = options;
  }

  /** @throws LightAgentError `too_many_sockets` when no further one may be opened */
  makeRoom(): void {
    const { socketsPerSession } = this.#options.limits;
    if (this.#followers.size < socketsPerSession) return;
    throw new LightAgentError("too_many_sockets", `The session has ${socketsPerSession} sockets already.`);
  }

  /** A socket that has just been accepted: hello, what it missed, then live. */
  open(connection: Connection, caller: Caller, after: number): void {
    const state: SocketState = { caller, types: null, cursor: after, checkedAt: this.#options.clock() };
    const follower = this.#follow(connection, state);
    follower.send({ type: "hello", protocol: 1, state: this.#options.state() });
    follower.pump();
  }

  /** Sockets that outlived the object's memory go on where their attachment says. */
  adopt(connections: Iterable<Connection>): void {
    for (const connection of connections) {
      if (this.#followers.has(connection.id)) continue;
      const state = connection.state as SocketState | null;
      if (!state) connection.close(CLOSE.protocolError, "unknown");
      else this.#follow(connection, state).pump();
    }
  }

  #follow(connection: Connection, state: SocketState): SocketFollower {
    const { log, broadcast, limits, clock, head, stands } = this.#options;
    const follower = new SocketFollower(connection, state, { log, broadcast, limits, clock, head, stands });
    this.#followers.set(connection.id, follower);
    return follower;
  }

  close(connection: Connection): void {
    this.#followers.get(connection.id)?.leave();
    this.#followers.delete(connection.id);
  }

  closeAll(code: number, reason: string): void {
    for (const follower of this.#followers.values()) follower.close(code, reason);
    this.#followers.clear();
  }

  /** Answers one message. A bad one is answered with a nack, and the socket stays open. */
  async message(connection: Connection, message: string | ArrayBuffer | ArrayBufferView): Promise<void> {
    const follower = this.#followers.get(connection.id);
    if (!follower || !follower.isAllowed()) return;
    const read = readFrame(message, this.#options.limits.frameBytes);
    if ("error" in read) return follower.send({ type: "nack", id: read.id, error: read.error });
    const { frame } = read;
    if (frame.type === "synced") return follower.synced(frame.n);
    const { id } = frame;
    try {
      follower.send({ type: "ack", id, result: await this.#answer(frame, follower) });
    } catch (caught) {
      const error = toErrorBody(caught);
      if (error.code === "internal") console.error("A socket command failed.", traceOf(caught));
      follower.send({ type: "nack", id, error });
    }
  }

  async #answer(
    frame: CommandFrame | Extract<ClientFrame, { type: "subscribe" }>,
    follower: SocketFollower,
  ): Promise<unknown> {
    if (frame.type !== "subscribe") return this.#options.command(frame, follower.caller);
    follower.subscribe(frame.types, frame.verbose ?? false);
    return {};
  }
}
