import type { AgentEvent } from "../../src/runtime/protocol/events.ts";
import type { Principal } from "../../src/runtime/protocol/principal.ts";
import { EMPTY_VIEW, applyFrame } from "../../src/runtime/protocol/session-view.ts";
import type { SessionView } from "../../src/runtime/protocol/session-view.ts";
import { checkStream } from "../../src/runtime/protocol/stream-grammar.ts";
import type { Frame } from "./oracle.ts";
import { ShownText } from "./shown-text.ts";
import { SimulatedSocket } from "./socket.ts";
import type { World } from "./world.ts";

/** Somebody who follows the session, and comes back with a cursor whenever the socket breaks. */
export class Client {
  readonly by: Principal;
  readonly #world: World;
  socket: SimulatedSocket | null = null;
  view: SessionView = EMPTY_VIEW;
  #shown = new ShownText();
  /** What this socket has brought, as one subscriber's stream. */
  #stream: AgentEvent[] = [];
  #sockets = 0;
  /** Attempts that have been seen to begin, over all sockets. */
  readonly #attempts = new Set<string>();

  constructor(world: World, name: string) {
    this.#world = world;
    this.by = { kind: "user", id: name };
  }

  connect(): void {
    if (this.socket) return;
    const { scheduler, dice, tally } = this.#world;
    this.#sockets += 1;
    const queue: Frame[] = [];
    const socket = new SimulatedSocket(`${this.by.id}-${this.#sockets}`, this.view.head, {
      by: this.by,
      frame: (frame) => {
        queue.push(frame);
        scheduler.afterOutside(dice.between(0, 3), `frame for ${this.by.id}`, () => {
          const next = queue.shift();
          if (next && this.socket === socket) this.#receive(next);
        });
      },
      closed: (code) => {
        // What is still on its way is lost.
        queue.length = 0;
        tally.count(`socket closed: ${code}`);
        if (this.socket === socket) this.#left();
      },
    });
    this.socket = socket;
    this.#stream = [];
    // A new connection shows what its `live` frame says.
    tally.count("connections");
    scheduler.afterOutside(dice.between(0, 5), `${this.by.id} connects`, () => {
      if (this.socket !== socket) return;
      void this.#world.platform.connect(socket).then((reply) => {
        if (reply === "lost" || !reply.ok) socket.close(1006);
      });
    });
  }

  disconnect(): void {
    const { socket } = this;
    if (!socket) return;
    this.#left();
    this.#world.platform.disconnect(socket);
  }

  #left(): void {
    this.socket = null;
    this.#checkStream();
  }

  #receive(frame: Frame): void {
    const { oracle, scheduler, dice } = this.#world;
    this.view = applyFrame(this.view, frame);
    this.#shown.apply(frame);
    this.#record(frame);
    if (frame.type === "model_call_start") this.#checkAttempt(`${frame.turn}/${frame.step}/${frame.attempt}`);
    if (this.view.gap) this.#world.violate("view", `${this.by.id} misses something after ${this.view.head}`);
    const seen = new Map(this.view.blocks.map(({ block, text }) => [block, text]));
    const told = this.#shown.blocks;
    const same = seen.size === told.size && [...told].every(([block, text]) => seen.get(block) === text);
    if (!same) this.#world.violate("view", `${this.by.id} sees ${show(seen)} and was told ${show(told)}`);
    for (const { kind, text } of this.view.blocks) if (kind !== "tool_args") oracle.text.shown(text);
    if (frame.type !== "sync" || dice.chance(0.1)) return;
    const { socket } = this;
    const text = JSON.stringify({ type: "synced", n: frame.n });
    scheduler.afterOutside(dice.between(0, 30), "synced", () => {
      if (socket) this.#world.platform.message(socket, text);
    });
  }

  #checkAttempt(place: string): void {
    if (this.#attempts.has(place)) this.#world.violate("attempt", `attempt ${place} begins twice`);
    this.#attempts.add(place);
  }

  /** The frames as one stream of events; what a connection begins with is as if it had just been shown. */
  #record(frame: Frame): void {
    switch (frame.type) {
      case "events":
        this.#stream.push(...frame.events);
        return;
      case "live":
        for (const { kind, ...place } of frame.partial) {
          const delta = { ...place, offset: 0 };
          if (kind === "text") this.#stream.push({ type: "text_delta", ...delta });
          if (kind === "thought") this.#stream.push({ type: "thought_delta", ...delta });
        }
        return;
      case "hello":
      case "ack":
      case "nack":
      case "sync":
        return;
      default:
        this.#stream.push(frame);
    }
  }

  #checkStream(): void {
    for (const { at, message } of checkStream(this.#stream)) {
      this.#world.violate("stream-grammar", `${this.by.id} at ${at}: ${message}`);
    }
  }

  /** The world is at rest and the client connected: it must hold what lies in storage, and nothing half. */
  settle(): void {
    const { texts } = this.#world.oracle.mirror;
    if (!this.socket) this.#world.violate("view", `${this.by.id} is not connected at rest`);
    const held = this.view.events.map((event) => JSON.stringify(event));
    const same = held.length === texts.length && held.every((text, index) => text === texts[index]);
    if (!same) this.#world.violate("view", `${this.by.id} holds ${held.length} events of ${texts.length}`);
    if (this.view.blocks.length > 0)
      this.#world.violate("view", `${this.by.id} still sees text that nobody accounts for`);
    this.#checkStream();
  }
}

function show(blocks: ReadonlyMap<number, string>): string {
  return JSON.stringify([...blocks]);
}
