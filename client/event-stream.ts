import type { AgentEvent } from "../src/runtime/protocol/events.ts";
import type { ServerFrame } from "../src/runtime/protocol/frames.ts";
import { unreachable } from "./rest-error.ts";

/** What a stream consists of: events, and between what was missed and what comes one `live` object. */
export type StreamItem = AgentEvent | Extract<ServerFrame, { type: "live" }>;

const CUT_OFF = "The stream was cut off.";

/**
 * The events of one answer, to be read once, at the reader's pace. Leaving the loop hangs up. It ends when the server
 * ends it, and throws `unavailable` when the connection is lost: go on after the last `seq` that came.
 */
export class EventStream implements AsyncIterable<StreamItem> {
  readonly #response: Response;
  readonly #signal: AbortSignal | undefined;

  constructor(response: Response, signal?: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
  }

  /** The session that `chat` has prompted; null for other streams. */
  get session(): string | null {
    return this.#response.headers.get("x-session-id");
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamItem, void, undefined> {
    for await (const line of this.#lines()) {
      // Empty ones keep the connection alive.
      if (line !== "") yield parse(line);
    }
  }

  /** Text without a line's end is the beginning of one that was cut off. */
  async *#lines(): AsyncGenerator<string, void, undefined> {
    const reader = this.#response.body?.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for (;;) {
        const read = await reader?.read().catch((caught: unknown) => {
          this.#signal?.throwIfAborted();
          throw unreachable(CUT_OFF, caught);
        });
        if (!read || read.done) break;
        const lines = (rest + decoder.decode(read.value, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        yield* lines;
      }
      if (rest !== "") throw unreachable(CUT_OFF, undefined);
    } finally {
      await reader?.cancel().catch(() => undefined);
    }
  }
}

function parse(line: string): StreamItem {
  try {
    return JSON.parse(line) as StreamItem;
  } catch (caught) {
    throw unreachable("The stream holds something that is no event.", caught);
  }
}
