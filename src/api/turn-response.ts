import type { SessionApi } from "../durable/session-api.ts";
import { durablePayloads } from "../runtime/protocol/durable-events.ts";
import type { LiveType } from "../runtime/protocol/live-events.ts";
import type { Fetches } from "./environment.ts";
import { streamEvents } from "./event-stream.ts";
import type { TenantContext } from "./route.ts";
import { followTurn, startFollowing } from "./turn-changes.ts";
import type { StreamFrame, TurnQuery } from "./turn-changes.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** The live events that {@link followTurn} needs, beside every durable one. */
const LIVE: readonly LiveType[] = ["text_delta", "thought_delta", "attempt_reset", "model_call_start"];
const TYPES = [...Object.keys(durablePayloads), ...LIVE];

const KEEP_ALIVE = ": keep-alive\n\n";

/**
 * One turn of a session as server-sent events of another protocol, from the log and live. It ends with the turn, or
 * when only a person can move the turn; `opening` is what it begins with. A reader who hangs up changes nothing about
 * the turn.
 */
export async function streamTurn(
  context: TenantContext,
  session: SessionApi & Fetches,
  query: TurnQuery,
  writer: TurnWriter,
  opening: readonly unknown[] = [],
): Promise<Response> {
  const events = await streamEvents(context, session, { format: "ndjson", after: query.after, types: TYPES });
  if (!events.ok || events.body === null) return events;
  const body = events.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(translator(query, writer, opening))
    .pipeThrough(new TextEncoderStream());
  return asServerSentEvents(body, writer);
}

/** A stream that is over as soon as it begins. */
export function serverSentEvents(objects: readonly unknown[], writer: TurnWriter): Response {
  return asServerSentEvents(toServerSentEvents(objects) + writer.closing, writer);
}

function asServerSentEvents(body: string | ReadableStream, { headers }: TurnWriter): Response {
  const type = "text/event-stream; charset=utf-8";
  return new Response(body, { headers: { "content-type": type, "cache-control": "no-store", ...headers } });
}

/** Lines of a session's event stream in, server-sent events out. */
function translator(
  query: TurnQuery,
  writer: TurnWriter,
  opening: readonly unknown[],
): TransformStream<string, string> {
  let progress = startFollowing(query);
  let rest = "";

  function translate(line: string): string {
    if (line === "") return KEEP_ALIVE;
    // The Session object wrote it, so it is what it says.
    const followed = followTurn(progress, JSON.parse(line) as StreamFrame);
    progress = followed.progress;
    return toServerSentEvents(followed.changes.flatMap((change) => writer.write(change)));
  }

  return new TransformStream<string, string>({
    start(controller) {
      if (opening.length > 0) controller.enqueue(toServerSentEvents(opening));
    },
    transform(text, controller) {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      let written = "";
      for (const line of lines) {
        written += translate(line);
        if (!progress.ended) continue;
        controller.enqueue(written + writer.closing);
        return controller.terminate();
      }
      if (written !== "") controller.enqueue(written);
    },
    flush(controller) {
      if (!progress.ended) controller.enqueue(toServerSentEvents(writer.lost()) + writer.closing);
    },
  });
}

function toServerSentEvents(objects: readonly unknown[]): string {
  return objects.map((object) => `data: ${JSON.stringify(object)}\n\n`).join("");
}
