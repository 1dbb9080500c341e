import type { FetchLike } from "../../../src/runtime/model/guarded-fetch.ts";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import type {
  ModelDelta,
  ModelReply,
  ModelRequest,
  ModelStream,
} from "../../../src/runtime/model/model-provider.ts";
import { textContent } from "../../../src/runtime/protocol/content.ts";

/** A request with one question and no tools. */
export const ASK: ModelRequest = {
  system: "Be brief.",
  messages: [{ role: "user", content: textContent("Hello?") }],
  tools: [],
};

/** All that a stream gave, and how it ended. */
export interface Streamed {
  readonly deltas: ModelDelta[];
  readonly alive: number;
  readonly reply: ModelReply | null;
  readonly error: ModelError | null;
}

/** Reads a stream to its end. A failure that is no ModelError fails the test. */
export async function readStream(stream: ModelStream): Promise<Streamed> {
  const deltas: ModelDelta[] = [];
  let alive = 0;
  let reply: ModelReply | null = null;
  try {
    for await (const item of stream) {
      if (item.type === "delta") deltas.push(item);
      else if (item.type === "alive") alive++;
      else reply = item.reply;
    }
  } catch (caught) {
    if (!(caught instanceof ModelError)) throw caught;
    return { deltas, alive, reply, error: caught };
  }
  return { deltas, alive, reply, error: null };
}

/** A fetch whose answer is an event stream that comes in these pieces, each read by itself. */
export function fetchOf(pieces: readonly (string | Uint8Array)[]): FetchLike {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) {
        controller.enqueue(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
      }
      controller.close();
    },
  });
  const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
  return () => Promise.resolve(response);
}

/** The joined deltas of one kind. */
export function shownText(deltas: readonly ModelDelta[], kind: ModelDelta["kind"]): string {
  return deltas
    .filter((delta) => delta.kind === kind)
    .map((delta) => delta.text)
    .join("");
}
