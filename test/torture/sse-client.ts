import { setTimeout as delay } from "node:timers/promises";
import type { ProductProcess } from "../e2e/product-process.ts";
import type { Follower, Frame } from "./follower.ts";
import type { Random } from "./random.ts";

/** A reader of server-sent events that comes back as a browser does, with `Last-Event-ID`. */
export class SseClient {
  readonly follower: Follower;
  readonly #product: ProductProcess;
  readonly #session: string;
  readonly #random: Random;
  #abort = new AbortController();
  #drops = true;
  #stopped = false;

  constructor(product: ProductProcess, session: string, follower: Follower, random: Random) {
    this.#product = product;
    this.#session = session;
    this.follower = follower;
    this.#random = random;
  }

  /** Reads again and again until it is stopped. */
  async run(): Promise<void> {
    while (!this.#stopped) {
      this.#abort = new AbortController();
      await this.#connection(this.#abort.signal).catch(() => undefined);
      if (!this.#stopped) await delay(this.#random.int(50, 400));
    }
  }

  /** From now on it stays connected. */
  stay(): void {
    this.#drops = false;
  }

  stop(): void {
    this.#stopped = true;
    this.#abort.abort();
  }

  async #connection(signal: AbortSignal): Promise<void> {
    const after = this.follower.connect(this.#random);
    const headers = { accept: "text/event-stream", "last-event-id": String(after) };
    const response = await this.#product.fetch(`/v1/sessions/${this.#session}/events`, { headers, signal });
    if (!response.ok || !response.body) return response.body?.cancel();
    let left = this.#random.int(5, 300);
    let text = "";
    for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
      const events = (text + bytes).split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) this.follower.take(JSON.parse(data) as Frame);
        if (--left <= 0 && this.#drops) return this.#abort.abort();
      }
    }
  }
}
