/**
 * All that the Worker under test finds outside: one handler that runs in Node, to which workerd sends every `fetch`.
 * The host model.test, which a tenant may also name as models.acme.dev, is a model with an OpenAI-compatible API; any other host is answered with 599, so that no test
 * reaches the network. Each model name has a script of its own, so that tests do not meet:
 *
 * - `PUT http://model.test/scripts/<model>` with a list of {@link ScriptedReply} begins a script;
 * - `POST http://model.test/v1/chat/completions` takes the next reply of the model that the body names;
 * - `GET http://model.test/scripts/<model>` gives the list of {@link RecordedRequest}.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

/** One answer of the scripted model, sent as it stands. */
export interface ScriptedReply {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, one write to the socket each. */
  readonly chunks: readonly string[];
  /** Pause before each chunk, in ms; none by default. */
  readonly delayMs?: number;
  /** What follows the last chunk: the end (default), silence, or a broken connection. */
  readonly ending?: "close" | "hang" | "break";
}

/** One request that the scripted model has had. */
export interface RecordedRequest {
  readonly body: unknown;
  readonly authorization: string | undefined;
  /** Whether the caller hung up before the answer's end. */
  aborted: boolean;
}

interface Script {
  readonly replies: ScriptedReply[];
  readonly requests: RecordedRequest[];
}

const scripts = new Map<string, Script>();

/** Answers one outgoing request of workerd. */
export async function outsideWorld(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { hostname, pathname } = new URL(request.url ?? "/", `http://${request.headers.host}`);
  const model = /^\/scripts\/(.+)$/.exec(pathname)?.[1];
  if (hostname !== "model.test" && hostname !== "models.acme.dev") {
    send(response, 599, { error: { code: "no_such_host", message: hostname } });
  } else if (model !== undefined && request.method === "PUT") {
    scripts.set(model, { replies: (await json(request)) as ScriptedReply[], requests: [] });
    send(response, 200, {});
  } else if (model !== undefined) {
    send(response, 200, scripts.get(model)?.requests ?? []);
  } else if (pathname === "/v1/chat/completions") {
    await complete(request, response);
  } else {
    send(response, 404, { error: { code: "not_found", message: pathname } });
  }
}

async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await json(request)) as { model: string };
  const script = scripts.get(body.model);
  const reply = script?.replies.shift();
  const record = { body, authorization: request.headers.authorization, aborted: false };
  script?.requests.push(record);
  if (reply === undefined) {
    return send(response, 404, {
      error: { code: "model_not_found", message: `No reply of ${body.model} is left.` },
    });
  }
  response.on("close", () => {
    record.aborted = !response.writableEnded && reply.ending !== "break";
  });
  response.writeHead(reply.status ?? 200, { "content-type": "text/event-stream", ...reply.headers });
  for (const chunk of reply.chunks) {
    if (reply.delayMs !== undefined) await delay(reply.delayMs);
    response.write(chunk);
  }
  // Closed below HTTP: what was written arrives, the end of the body does not.
  if (reply.ending === "break") response.socket?.end();
  else if (reply.ending !== "hang") response.end();
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
