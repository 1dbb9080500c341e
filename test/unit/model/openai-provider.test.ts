import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createOpenAiProvider } from "../../../src/runtime/model/openai-provider.ts";
import type { OpenAiProviderOptions } from "../../../src/runtime/model/openai-provider.ts";
import type { ModelDelta } from "../../../src/runtime/model/model-provider.ts";
import { streamOf } from "../../../src/runtime/model/stream-of.ts";
import { sendStream, startModelServer } from "./model-server.ts";
import type { ModelServer } from "./model-server.ts";
import { ASK, fetchOf, readStream, shownText } from "./streamed.ts";
import type { Streamed } from "./streamed.ts";

const KEY = "sk-secret-key-of-the-test";
const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;
const text = (content: string): string =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const END = `${event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}data: [DONE]\n\n`;

let server: ModelServer | undefined;

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await server?.close();
  server = undefined;
});

/** The stream of one call on a server that answers like this. */
async function call(
  answer: (response: ServerResponse) => void,
  options: Partial<OpenAiProviderOptions> = {},
): Promise<Streamed> {
  server = await startModelServer(answer);
  const provider = createOpenAiProvider({ model: "m", apiKey: KEY, baseUrl: server.baseUrl, ...options });
  return readStream(streamOf(provider, ASK, new AbortController().signal));
}

/** Answers without an event stream. */
function send(status: number, body: string, headers: Record<string, string> = {}) {
  return (response: ServerResponse): void => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(body);
  };
}

describe("[MODEL-19] the request", () => {
  it("[MODEL-19] asks for a stream with usage, names the model and the key, and leaves out what is empty", async () => {
    const { reply } = await call((response) => sendStream(response, text("hi") + END));
    expect(reply?.blocks).toEqual([{ kind: "text", block: 0, text: "hi" }]);
    const [seen] = server?.seen ?? [];
    expect(seen?.url).toBe("/v1/chat/completions");
    expect(seen?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(seen?.body).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello?" },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("[MODEL-20] is sent once: the SDK does not retry", async () => {
    const { error } = await call(send(500, "{}"));
    expect(error?.modelCode).toBe("model_unavailable");
    expect(server?.seen).toHaveLength(1);
  });

  it("[MODEL-18] follows no redirect, since it carries a key", async () => {
    const { error } = await call((response) => {
      response.writeHead(307, { location: "/elsewhere" });
      response.end();
    });
    expect([error?.modelCode, error?.status]).toEqual(["model_rejected", 307]);
    expect(server?.seen.map((request) => request.url)).toEqual(["/v1/chat/completions"]);
  });

  it("[MODEL-16] takes no organisation from the environment", async () => {
    vi.stubEnv("OPENAI_ORG_ID", "org");
    vi.stubEnv("OPENAI_PROJECT_ID", "project");
    await call((response) => sendStream(response, text("hi") + END));
    expect(Object.keys(server?.seen[0]?.headers ?? {}).filter((name) => name.startsWith("openai-"))).toEqual(
      [],
    );
  });
});

describe("[MODEL-11] a body that is no event stream", () => {
  it.each([
    ["an HTML page", "<html><body>Bad gateway</body></html>", "malformed_stream"],
    ["nothing", "", "malformed_stream"],
    [
      "a whole reply as JSON",
      '{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}',
      "malformed_stream",
    ],
    ["a JSON error", '{"error":{"message":"slow down","code":429}}', "rate_limited"],
    [
      "a JSON error over several lines",
      '{\n "error": {\n  "code": "insufficient_quota"\n }\n}\n',
      "quota_exhausted",
    ],
  ])("[MODEL-11] %s with status 200 is an error", async (_, body, code) => {
    const { error } = await call(send(200, body));
    expect(error?.modelCode).toBe(code);
  });

  it("[MODEL-11] a status without a body is an error", async () => {
    const { error } = await call((response) => response.writeHead(204).end());
    expect(error?.modelCode).toBe("malformed_stream");
  });

  it("[MODEL-11] a stream of comments alone is an error", async () => {
    const { error } = await call((response) => sendStream(response, ": ping\n\n: ping\n\n"));
    expect(error?.modelCode).toBe("malformed_stream");
  });
});

/** The stream of one call whose body comes in these pieces. */
function callPieces(...pieces: readonly string[]): Promise<Streamed> {
  const fetch = fetchOf(pieces);
  const provider = createOpenAiProvider({ model: "m", apiKey: KEY, baseUrl: "http://model.test/v1", fetch });
  return readStream(streamOf(provider, ASK, new AbortController().signal));
}

describe("[MODEL-12] events without content", () => {
  it("[MODEL-12] are signs of life and no part of the reply", async () => {
    const hollow = [": OPENROUTER PROCESSING\n\n", "data:\n\n", "event: ping\n\n", "data: : ping\n\n"];
    const { alive, deltas, reply } = await callPieces(...hollow, text("h"), ...hollow, text("i"), END);
    expect(shownText(deltas, "text")).toBe("hi");
    expect(reply?.finishReason).toBe("stop");
    expect(alive).toBe(2 * hollow.length);
  });

  it("[MODEL-12] among text that arrives with them change nothing", async () => {
    const { deltas, reply } = await callPieces(`: ping\n\n${text("h")}data:\n\n${text("i")}: ping\n\n${END}`);
    expect(deltas.map((delta) => delta.text)).toEqual(["hi"]);
    expect(reply?.blocks[0]?.text).toBe("hi");
  });
});

describe("[MODEL-7] deltas", () => {
  const thought = event({ choices: [{ index: 0, delta: { reasoning: "hm" } }] });

  it("[MODEL-7] of one block that arrive together are one, and wait for nothing that comes later", async () => {
    const half = text("later").length / 2;
    const pieces = [
      text("a") + text("b") + thought + text("c"),
      text("d"),
      text("e") + text("later").slice(0, half),
    ];
    const { deltas } = await callPieces(...pieces, text("later").slice(half), END);
    expect(deltas.map(({ kind, text: shown }) => [kind, shown])).toEqual([
      ["text", "ab"],
      ["thought", "hm"],
      ["text", "c"],
      ["text", "d"],
      ["text", "e"],
      ["text", "later"],
    ]);
  });

  it("[MODEL-7] before an error that arrives with them are shown", async () => {
    const { deltas, error } = await callPieces(text("a") + text("b") + event({ error: { code: 502 } }));
    expect([shownText(deltas, "text"), error?.modelCode]).toEqual(["ab", "model_unavailable"]);
  });
});

describe("[MODEL-13] an error inside the stream", () => {
  it.each([
    [
      "an error event",
      `event: error\ndata: {"message":"overloaded","type":"overloaded_error"}\n\n`,
      "model_unavailable",
    ],
    ["an error beside choices", event({ error: { code: 429, message: "x" }, choices: [] }), "rate_limited"],
    [
      "vLLM's error",
      event({ object: "error", message: "maximum context length is 9 tokens", code: 400 }),
      "context_overflow",
    ],
    ["a chunk that is no JSON", "data: {oops}\n\n", "malformed_stream"],
  ])("[MODEL-13] %s ends it and is classified", async (_, body, code) => {
    const { deltas, error, reply } = await call((response) => sendStream(response, text("par") + body + END));
    expect(shownText(deltas, "text")).toBe("par");
    expect([error?.modelCode, reply]).toEqual([code, null]);
  });
});

it("[MODEL-9] a body that ends inside an event is incomplete, not malformed", async () => {
  const { error } = await call((response) => sendStream(response, text("par") + END.slice(0, 30)));
  expect(error?.modelCode).toBe("incomplete_stream");
});

it("[MODEL-9] a server that is known to give no finish reason can end with [DONE] alone", async () => {
  const answer = (response: ServerResponse): void => sendStream(response, `${text("hi")}data: [DONE]\n\n`);
  expect((await call(answer)).error?.modelCode).toBe("incomplete_stream");
  await server?.close();
  const { reply } = await call(answer, { allowMissingFinishReason: true });
  expect(reply?.finishReason).toBe("stop");
});

it("[MODEL-14] a server that is not there is a failed connection", async () => {
  const gone = await startModelServer(() => undefined);
  await gone.close();
  const provider = createOpenAiProvider({ model: "m", apiKey: KEY, baseUrl: gone.baseUrl });
  const { error } = await readStream(streamOf(provider, ASK, new AbortController().signal));
  expect(error?.modelCode).toBe("model_transport");
});

it("[MODEL-15] a limit says when to come back, by seconds and by date", async () => {
  const seconds = await call(send(429, "{}", { "retry-after": "3" }));
  expect([seconds.error?.modelCode, seconds.error?.retryAfterMs]).toEqual(["rate_limited", 3_000]);
  await server?.close();
  const date = { "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT" };
  const dated = await call(send(503, "{}", date), { clock: () => Date.parse("2026-01-01T00:00:00Z") });
  expect([dated.error?.modelCode, dated.error?.retryAfterMs]).toEqual(["model_unavailable", 9_000]);
});

it("[MODEL-16] errors hold neither the key nor what the server said, and nothing is logged", async () => {
  const logs = (["log", "warn", "error", "info", "debug"] as const).map((level) => vi.spyOn(console, level));
  const said = `Incorrect API key provided: ${KEY}. The user asked: Hello?`;
  const { error } = await call(
    send(401, JSON.stringify({ error: { message: said, code: "invalid_api_key" } })),
  );
  const broken = await call((response) => sendStream(response, `data: ${said}\n\n`));
  for (const failed of [error, broken.error]) {
    const shown = `${failed?.message} ${failed?.stack} ${JSON.stringify(failed)} ${String(failed?.cause)}`;
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain("Hello");
  }
  for (const log of logs) expect(log).not.toHaveBeenCalled();
});

it("[MODEL-16] of the body of an error no more is read than it takes to classify it", async () => {
  let wanted = true;
  const { error } = await call((response) => {
    response.writeHead(400, { "content-type": "text/plain" });
    response.write("prompt is too long ");
    response.on("close", () => (wanted = false));
    const more = (): void => {
      while (wanted && response.write("x".repeat(65_536)));
      if (wanted) response.once("drain", more);
    };
    more();
  });
  expect(error?.modelCode).toBe("context_overflow");
  await vi.waitFor(() => expect(wanted).toBe(false));
});

describe("[MODEL-17] abort", () => {
  /** A server that sends one delta and then keeps the stream open; tells when the client hangs up. */
  async function slowServer(
    first: string,
  ): Promise<{ closed: Promise<void>; provider: ReturnType<typeof createOpenAiProvider> }> {
    let hungUp: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    server = await startModelServer((response) => {
      response.on("close", hungUp);
      if (first === "") return;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(first);
    });
    return { closed, provider: createOpenAiProvider({ model: "m", apiKey: KEY, baseUrl: server.baseUrl }) };
  }

  it.each([
    ["in the middle of the stream", text("par")],
    ["while only keep-alives come", ": ping\n\n"],
  ])("[MODEL-17] %s ends it without a reply and closes the socket", async (_, first) => {
    const { closed, provider } = await slowServer(first);
    const controller = new AbortController();
    const items: unknown[] = [];
    const reading = (async () => {
      for await (const item of streamOf(provider, ASK, controller.signal)) {
        items.push(item);
        controller.abort();
      }
    })();
    await expect(reading).rejects.toThrow();
    await closed;
    expect(items).toHaveLength(1);
  });

  it("[MODEL-17] before the headers closes the socket too", async () => {
    const { closed, provider } = await slowServer("");
    const controller = new AbortController();
    const reading = streamOf(provider, ASK, controller.signal)[Symbol.asyncIterator]().next();
    await vi.waitFor(() => expect(server?.seen).toHaveLength(1));
    controller.abort();
    await expect(reading).rejects.toThrow();
    await closed;
  });

  it("[MODEL-17] before the call sends nothing", async () => {
    const { provider } = await slowServer("");
    const reading = streamOf(provider, ASK, AbortSignal.abort())[Symbol.asyncIterator]().next();
    await expect(reading).rejects.toThrow();
    expect(server?.seen).toHaveLength(0);
  });

  it("[MODEL-17] a reader that stops reading closes the socket", async () => {
    const { closed, provider } = await slowServer(text("par"));
    const seen: ModelDelta[] = [];
    for await (const item of streamOf(provider, ASK, new AbortController().signal)) {
      if (item.type === "delta") seen.push(item);
      break;
    }
    await closed;
    expect(seen).toHaveLength(1);
  });

  it("[MODEL-17] reaches the body even when the fetch behind it ignores its signal", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text("par"))),
      cancel: () => {
        cancelled = true;
      },
    });
    const fetch = async (): Promise<Response> => new Response(body);
    const provider = createOpenAiProvider({
      model: "m",
      apiKey: KEY,
      baseUrl: "http://model.test/v1",
      fetch,
    });
    const controller = new AbortController();
    const reading = (async () => {
      for await (const _item of streamOf(provider, ASK, controller.signal)) controller.abort();
    })();
    await expect(reading).rejects.toThrow();
    await vi.waitFor(() => expect(cancelled).toBe(true));
  });
});
