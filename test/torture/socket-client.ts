import { setTimeout as delay } from "node:timers/promises";
import type { ProductProcess } from "../e2e/product-process.ts";
import type { Follower, Frame } from "./follower.ts";
import type { Random } from "./random.ts";

/** The answer to a frame; null when the connection ended first. */
export type FrameAnswer = Extract<Frame, { type: "ack" | "nack" }> | null;

/** A connection on which nothing comes for so long, not even the answer to a ping, counts as dropped. */
const SILENCE_MS = 5_000;
const PING_MS = 1_000;
/** A command on a connection that lives is answered in time. */
const ANSWER_MS = 20_000;

/** A client on a WebSocket that drops its connection anywhere and comes back with its cursor. */
export class SocketClient {
  readonly follower: Follower;
  readonly #product: ProductProcess;
  readonly #session: string;
  readonly #random: Random;
  readonly #pending = new Map<number, (answer: FrameAnswer) => void>();
  #socket: WebSocket | null = null;
  #ended: () => void = () => undefined;
  #frames = 0;
  #drops = true;
  #stopped = false;

  constructor(product: ProductProcess, session: string, follower: Follower, random: Random) {
    this.#product = product;
    this.#session = session;
    this.follower = follower;
    this.#random = random;
  }

  /** Connects again and again until it is stopped. */
  async run(): Promise<void> {
    while (!this.#stopped) {
      await this.#connection();
      if (!this.#stopped) await delay(this.#random.int(0, 300));
    }
  }

  /** From now on it stays connected. */
  stay(): void {
    this.#drops = false;
  }

  stop(): void {
    this.#stopped = true;
    if (this.#socket) this.#drop(this.#socket);
  }

  /** Sends a command and waits for its answer; null when there is no connection, or it ends. */
  async command(frame: Readonly<Record<string, unknown>>): Promise<FrameAnswer> {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return null;
    const id = ++this.#frames;
    const answer = new Promise<FrameAnswer>((resolve) => this.#pending.set(id, resolve));
    socket.send(JSON.stringify({ ...frame, id }));
    const timer = setTimeout(() => {
      this.follower.problems.push(`${JSON.stringify(frame)} was not answered on a connection that lives`);
      this.#drop(socket);
    }, ANSWER_MS);
    return answer.finally(() => clearTimeout(timer));
  }

  async #connection(): Promise<void> {
    const socket = this.#product.socket(this.#session, this.follower.connect(this.#random));
    this.#socket = socket;
    const ended = new Promise<void>((resolve) => (this.#ended = resolve));
    socket.addEventListener("close", () => this.#drop(socket));
    socket.addEventListener("error", () => this.#drop(socket));
    let heardAt = Date.now();
    const timer = setInterval(() => {
      if (Date.now() - heardAt > SILENCE_MS) this.#silent(socket);
      else if (socket.readyState === WebSocket.OPEN) socket.send("ping");
    }, PING_MS);
    let left = this.#random.chance(0.3) ? this.#random.int(0, 10) : this.#random.int(20, 400);
    socket.addEventListener("message", ({ data }) => {
      heardAt = Date.now();
      // What arrives behind a drop is lost to the client, as on a broken line.
      if (this.#socket !== socket || data === "pong") return;
      this.#take(socket, JSON.parse(String(data)) as Frame);
      if (--left <= 0 && this.#drops) this.#drop(socket);
    });
    await ended;
    clearInterval(timer);
  }

  #take(socket: WebSocket, frame: Frame): void {
    this.follower.take(frame);
    if (frame.type === "sync") socket.send(JSON.stringify({ type: "synced", n: frame.n }));
    if (frame.type !== "ack" && frame.type !== "nack") return;
    this.#pending.get(Number(frame.id))?.(frame);
    this.#pending.delete(Number(frame.id));
  }

  #silent(socket: WebSocket): void {
    if (this.#socket === socket) this.follower.silences += 1;
    this.#drop(socket);
  }

  #drop(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#ended();
    socket.close();
    for (const settle of this.#pending.values()) settle(null);
    this.#pending.clear();
  }
}
