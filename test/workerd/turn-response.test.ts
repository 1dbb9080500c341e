import { describe, expect, it } from "vitest";
import { toUiMessageChunks } from "../../src/api/ai-sdk/ui-message-chunks.ts";
import type { TenantContext } from "../../src/api/route.ts";
import { streamTurn } from "../../src/api/turn-response.ts";
import type { TurnWriter } from "../../src/api/turn-writer.ts";
import type { SessionApi } from "../../src/durable/session-api.ts";
import { logOf } from "../unit/support/log-builder.ts";

const WRITER: TurnWriter = {
  write: toUiMessageChunks,
  lost: () => [{ type: "error", errorText: "lost" }],
  closing: "data: [DONE]\n\n",
  headers: { "x-own": "1" },
};

const LOG = logOf(
  ["input"],
  ["output", { step: 1, block: 0, text: "Grüße, 🌍" }],
  ["agent_trace", { step: 1 }],
  ["agent_stop", { step: 1 }],
);
const QUERY = { after: 0, of: { promptId: "p1" } };

/** A session whose event stream comes in these pieces; it says what it was asked, and whether the reader has gone. */
function sessionOf(pieces: readonly Uint8Array[], ends = true) {
  const seen = { url: "", cancelled: false };
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = left.shift();
      if (next) controller.enqueue(next);
      else if (ends) controller.close();
      else return new Promise(() => undefined);
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  const fetch = async (request: Request): Promise<Response> => {
    seen.url = request.url;
    return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
  };
  return { seen, session: { fetch } as unknown as SessionApi & { fetch: typeof fetch } };
}

const context = {
  request: new Request("https://light-agent.test/"),
  caller: { tenant: "t", principal: { kind: "key", id: "k" }, scopes: [], keyId: "k" },
} as unknown as TenantContext;

const bytesOf = (lines: readonly unknown[]): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => (line === "" ? "\n" : `${JSON.stringify(line)}\n`)).join(""));

const WHOLE = [
  { type: "start", messageId: "turn-1-1" },
  { type: "start-step" },
  { type: "text-start", id: "1-1-1-0" },
  { type: "text-delta", id: "1-1-1-0", delta: "Grüße, 🌍" },
  { type: "text-end", id: "1-1-1-0" },
  { type: "finish-step" },
  { type: "finish", finishReason: "stop" },
];
const onWire = (objects: readonly unknown[]): string =>
  objects.map((object) => `data: ${JSON.stringify(object)}\n\n`).join("");

describe("a turn as server-sent events", () => {
  it("[AISDK-2] is the same however the session's stream is cut into pieces, with keep-alives passed on", async () => {
    const bytes = bytesOf(LOG);
    for (const size of [1, 2, 3, 7, 64, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.slice(at * size, (at + 1) * size),
      );
      const { session, seen } = sessionOf(pieces);
      const response = await streamTurn(context, session, QUERY, WRITER);
      expect(await response.text()).toBe(`${onWire(WHOLE)}data: [DONE]\n\n`);
      expect(response.headers.get("x-own")).toBe("1");
      expect(new URL(seen.url).searchParams.get("types")).toContain("text_delta");
    }
    const [first, ...rest] = LOG;
    const { session } = sessionOf([bytesOf([first, ""]), bytesOf(["", ...rest])]);
    const text = await (await streamTurn(context, session, QUERY, WRITER)).text();
    expect(text).toBe(
      `${onWire(WHOLE.slice(0, 1))}: keep-alive\n\n: keep-alive\n\n${onWire(WHOLE.slice(1))}data: [DONE]\n\n`,
    );
  });

  it("[AISDK-2] ends with its turn though the session's stream goes on, and lets go of that", async () => {
    const { session, seen } = sessionOf([bytesOf([...LOG, "", ""])], false);
    const text = await (await streamTurn(context, session, QUERY, WRITER)).text();
    expect(text).toBe(`${onWire(WHOLE)}data: [DONE]\n\n`);
    await expect.poll(() => seen.cancelled).toBe(true);
  });

  it("[AISDK-2] says so when the session's stream ends before the turn, and passes on a refusal", async () => {
    const { session } = sessionOf([bytesOf(LOG.slice(0, 1))]);
    const text = await (await streamTurn(context, session, QUERY, WRITER)).text();
    const lost = { type: "error", errorText: "lost" };
    expect(text).toBe(`${onWire([...WHOLE.slice(0, 1), lost])}data: [DONE]\n\n`);
    const fetch = async (): Promise<Response> => new Response("{}", { status: 416 });
    const refusing = { fetch } as unknown as typeof session;
    expect((await streamTurn(context, refusing, QUERY, WRITER)).status).toBe(416);
  });

  it("[AISDK-2] a reader who hangs up is all that ends", async () => {
    const { session, seen } = sessionOf([bytesOf(LOG.slice(0, 2))], false);
    const reader = (await streamTurn(context, session, QUERY, WRITER)).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(() => seen.cancelled).toBe(true);
  });
});
