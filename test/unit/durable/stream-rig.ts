import { Broadcast } from "../../../src/durable/broadcast.ts";
import { EventStream } from "../../../src/durable/event-stream.ts";
import type { EventStreamQuery } from "../../../src/durable/event-stream.ts";
import type { Caller } from "../../../src/durable/session-api.ts";
import { LogStore } from "../../../src/durable/log-store.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import type { ServerFrame } from "../../../src/runtime/protocol/frames.ts";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import type { Limits } from "../../../src/runtime/protocol/limits.ts";
import type { LiveEvent } from "../../../src/runtime/protocol/live-events.ts";
import { FakeTime, settled } from "../support/fake-time.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";
import { sessionSql } from "./memory-sql.ts";

/** A session's log and what is told of it, without the session: a test says what happens. */
export class StreamRig {
  readonly time = new FakeTime();
  readonly limits: Limits;
  readonly log: LogStore;
  readonly broadcast: Broadcast;
  readonly events: DurableEvent[] = [];
  readonly deletion = new AbortController();
  caller: Caller = { tenant: "t", keyId: "k", principal: { kind: "key", id: "k" }, scopes: ["read"] };
  /** What is known of the caller's key. */
  stands: () => Promise<boolean> = async () => true;
  #shown = 0;

  constructor(limits: Partial<Limits> = {}) {
    this.limits = { ...DEFAULT_LIMITS, deltaWindowMs: 0, ...limits };
    this.log = new LogStore(sessionSql(), this.limits.logRowBytes);
    this.broadcast = new Broadcast(this.time, this.limits.deltaWindowMs, this.time.clock);
  }

  /** The `seq` of the last event. */
  readonly head = (): number => this.events.length;

  /** One commit: stored, then told. */
  commit(...lines: readonly Line[]): void {
    const events = logOf(...lines).map((event) => ({ ...event, seq: event.seq + this.head() }));
    this.log.append(events);
    this.events.push(...events);
    this.#shown = 0;
    this.broadcast.publish({ events, live: [] });
  }

  /** More of the text that streams in a step of turn 1. */
  async show(step: number, text: string): Promise<void> {
    const offset = this.#shown;
    this.#shown += text.length;
    this.tell({ type: "text_delta", turn: 1, step, attempt: 1, block: 0, offset, text });
    await this.time.pass(this.limits.deltaWindowMs);
  }

  tell(event: LiveEvent): void {
    this.broadcast.publish({ events: [], live: [event] });
  }

  stream(query: Partial<EventStreamQuery> = {}): StreamReader {
    const { log, broadcast, limits, time, head } = this;
    const whole = { after: 0, format: "ndjson", types: null, until: null, ...query } as const;
    const { clock } = time;
    const { caller, stands } = this;
    const options = { log, broadcast, limits, timers: time, clock, caller, stands, head };
    return new StreamReader(new EventStream(whole, { ...options, deleted: this.deletion.signal }).body());
  }
}

/** Somebody who reads a stream when a test says so. */
export class StreamReader {
  text = "";
  /** Lengths of the pieces in which it came. */
  readonly pieces: number[] = [];
  ended = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #pending: Promise<{ done: boolean; value?: Uint8Array | undefined }> | null = null;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** Takes up to so many pieces, as many as there are without anything further happening. */
  async read(pieces = Number.POSITIVE_INFINITY): Promise<void> {
    for (let taken = 0; taken < pieces && !this.ended; taken += 1) {
      this.#pending ??= this.#reader.read();
      const next = await Promise.race([this.#pending, settled().then(() => null)]);
      if (next === null) return;
      this.#pending = null;
      this.ended = next.done;
      if (!next.value) continue;
      this.pieces.push(next.value.length);
      this.text += this.#decoder.decode(next.value, { stream: true });
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }

  /** What came, as NDJSON. */
  get frames(): (ServerFrame | AgentEvent)[] {
    const lines = this.text.split("\n").filter((line) => line !== "");
    return lines.map((line) => JSON.parse(line) as ServerFrame | AgentEvent);
  }
}
