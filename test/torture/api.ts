import { setTimeout as delay } from "node:timers/promises";
import type { ProductProcess } from "../e2e/product-process.ts";

/** A definite answer of the product. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  /** How often it was asked, this time included. */
  readonly attempts: number;
}

export interface CallOptions {
  /** Sent as JSON; a string as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One attempt takes at most so long: a dead connection is not always noticed. */
const ATTEMPT_MS = 10_000;
const PAUSE_MS = 100;

/**
 * The REST API for clients that lose their server again and again: a call that brings no definite answer (no
 * connection, a broken one, a 5xx) is made again until one comes.
 */
export class Api {
  readonly #product: ProductProcess;
  readonly #gaveUp: AbortController = new AbortController();
  /** Answers 5xx that the product itself made: whatever dies, it should not answer so. */
  readonly failures: string[] = [];
  /** Attempts that brought no definite answer. */
  lost = 0;

  constructor(product: ProductProcess) {
    this.#product = product;
  }

  get product(): ProductProcess {
    return this.#product;
  }

  /** Ends all calls; those without an answer get none. */
  giveUp(): void {
    this.#gaveUp.abort();
  }

  /** A call, repeated until it is answered; null when that was given up. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Reply | null> {
    for (let attempts = 1; !this.#gaveUp.signal.aborted; attempts++) {
      const answer = await this.#attempt(method, path, options);
      if (answer) return { ...answer, attempts };
      this.lost += 1;
      await delay(PAUSE_MS);
    }
    return null;
  }

  /** A `GET` of something that must be there. @throws Error when the answer is another one, or given up */
  async get<T>(path: string): Promise<T> {
    const reply = await this.call("GET", path);
    if (reply?.status !== 200)
      throw new Error(`GET ${path}: ${reply?.status} ${JSON.stringify(reply?.body)}`);
    return reply.body as T;
  }

  /** What an answer says, for people; of none, what came instead. */
  told(reply: Reply | null): string {
    return reply
      ? `${reply.status} ${JSON.stringify(reply.body)}`
      : `no answer; ${this.failures.at(-1) ?? "no server"}`;
  }

  async #attempt(
    method: string,
    path: string,
    options: CallOptions,
  ): Promise<Omit<Reply, "attempts"> | null> {
    const signal = AbortSignal.any([AbortSignal.timeout(ATTEMPT_MS), this.#gaveUp.signal]);
    const { body, headers = {} } = options;
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    try {
      const response = await this.#product.fetch(path, {
        method,
        signal,
        headers: { "content-type": "application/json", ...headers },
        ...sent,
      });
      const text = await response.text();
      // 401: a stale address can be another server's by now.
      if (response.status === 401) return null;
      if (response.status >= 500) {
        if (isOwnError(text)) this.failures.push(`${method} ${path}: ${response.status} ${text}`);
        return null;
      }
      return { status: response.status, body: parsed(text) };
    } catch {
      return null;
    }
  }
}

/** Whether the product made an error's body; the development server's own errors have other forms. */
function isOwnError(text: string): boolean {
  const body = parsed(text);
  return typeof body === "object" && body !== null && "error" in body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
