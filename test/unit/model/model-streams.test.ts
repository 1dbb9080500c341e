import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createOpenAiProvider } from "../../../src/runtime/model/openai-provider.ts";
import { streamOf } from "../../../src/runtime/model/stream-of.ts";
import { expectOutcome, FIXTURE_BODIES, FIXTURE_STREAMS } from "./fixture-streams.ts";
import { sendStream, startModelServer } from "./model-server.ts";
import type { ModelServer } from "./model-server.ts";
import { ASK, fetchOf, readStream } from "./streamed.ts";
import type { Streamed } from "./streamed.ts";

const FIRST_DELTA = 'data: {"choices":[{"index":0,"delta":{"content":"par"},"finish_reason":null}]}\n\n';

let server: ModelServer;
let current: string | null = null;

beforeAll(async () => {
  server = await startModelServer((response) => {
    if (current !== null) return sendStream(response, current);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(FIRST_DELTA, () => setTimeout(() => response.destroy(), 20));
  });
});

afterAll(() => server.close());

/** One call whose body comes in these pieces. Through an injected fetch, since a socket may join what it is given. */
function readPieces(pieces: readonly Uint8Array[]): Promise<Streamed> {
  const fetch = fetchOf(pieces);
  const provider = createOpenAiProvider({ model: "m", apiKey: "k", baseUrl: "http://model.test/v1", fetch });
  return readStream(streamOf(provider, ASK, new AbortController().signal));
}

it.each(FIXTURE_STREAMS)("[MODEL-1] $name over a real socket", async ({ body, expect: expected }) => {
  current = body;
  const provider = createOpenAiProvider({ model: "m", apiKey: "k", baseUrl: server.baseUrl });
  expectOutcome(await readStream(streamOf(provider, ASK, new AbortController().signal)), expected);
});

// Each body goes through the SDK once per byte, some 20,000 calls: on a socket they would take minutes, and whether two
// writes arrive as two pieces would be up to the kernel.
const MANY_CALLS = { timeout: 60_000 };

it.each(FIXTURE_BODIES)(
  "[MODEL-1] $name cut in two at every byte",
  MANY_CALLS,
  async ({ body, expect: expected }) => {
    const bytes = new TextEncoder().encode(body);
    for (let cut = 1; cut < bytes.length; cut++) {
      expectOutcome(await readPieces([bytes.subarray(0, cut), bytes.subarray(cut)]), expected);
    }
  },
);

it("[MODEL-1] any cutting of any body, with LF or CRLF, gives the same outcome", MANY_CALLS, async () => {
  const cutting = fc.record({
    stream: fc.constantFrom(...FIXTURE_BODIES),
    crlf: fc.boolean(),
    cuts: fc.array(fc.nat(), { maxLength: 12 }),
  });
  const property = fc.asyncProperty(cutting, async ({ stream, crlf, cuts }) => {
    const bytes = new TextEncoder().encode(crlf ? stream.body.replaceAll("\n", "\r\n") : stream.body);
    const places = [0, ...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b);
    const pieces = places.slice(1).map((place, at) => bytes.subarray(places[at], place));
    expectOutcome(await readPieces(pieces), stream.expect);
  });
  await fc.assert(property, { numRuns: 300 });
});

it("[MODEL-1] text of several bytes a character survives a cut inside a character", async () => {
  const text = "žluťoučký 🐎 日本";
  const chunk = { choices: [{ index: 0, delta: { content: text }, finish_reason: "stop" }] };
  const bytes = new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  for (let cut = 1; cut < bytes.length; cut++) {
    const { reply } = await readPieces([bytes.subarray(0, cut), bytes.subarray(cut)]);
    expect(reply?.blocks[0]?.text).toBe(text);
  }
});
