import type { Connection } from "partyserver";
import { SocketFollower } from "../../../src/durable/socket-follower.ts";
import type { SocketState } from "../../../src/durable/socket-follower.ts";
import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import type { ServerFrame } from "../../../src/runtime/protocol/frames.ts";
import { EMPTY_VIEW, applyFrame } from "../../../src/runtime/protocol/session-view.ts";
import type { SessionView } from "../../../src/runtime/protocol/session-view.ts";
import type { StreamRig } from "./stream-rig.ts";

const CALLER = { tenant: "t", principal: { kind: "user", id: "u" }, scopes: ["read"], keyId: "k" } as const;

/** Both ends of one socket: the follower that the session keeps, and the client, who reads when a test says so. */
export class SocketClient {
  readonly follower: SocketFollower;
  /** What was sent and has not been read yet. */
  readonly unread: (ServerFrame | AgentEvent)[] = [];
  readonly read: (ServerFrame | AgentEvent)[] = [];
  view: SessionView;
  closed: number | null = null;
  /** What the attachment holds. */
  kept: SocketState | null = null;
  /** Set: the connection has broken, and sending throws. */
  broken = false;

  constructor({ log, broadcast, limits, time, head }: StreamRig, view = EMPTY_VIEW, kept?: SocketState) {
    this.view = view;
    const connection = {
      id: "one",
      send: (text: string) => {
        if (this.broken) throw new TypeError("Can't call WebSocket send() after close().");
        this.unread.push(JSON.parse(text) as ServerFrame | AgentEvent);
      },
      close: (code: number) => (this.closed = code),
      setState: (state: SocketState) => (this.kept = state),
    };
    const state = kept ?? { caller: CALLER, types: null, cursor: view.head, checkedAt: time.clock() };
    const options = { log, broadcast, limits, clock: time.clock, head, stands: async () => true };
    this.follower = new SocketFollower(connection as unknown as Connection, state, options);
  }

  /** Reads so many frames, and answers each `sync`. */
  take(frames = Number.POSITIVE_INFINITY): void {
    for (let taken = 0; taken < frames; taken += 1) {
      const frame = this.unread.shift();
      if (!frame) return;
      this.read.push(frame);
      this.view = applyFrame(this.view, frame);
      if (frame.type === "sync" && this.closed === null) this.follower.synced(frame.n);
    }
  }

  get types(): string[] {
    return this.read.map(({ type }) => type);
  }
}
