import { beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/runtime/protocol/events.ts";
import { checkStream } from "../../src/runtime/protocol/stream-grammar.ts";
import { Product } from "./product.ts";

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

/** Reads a stream's text as it comes. */
class Reader {
  text = "";
  ended = false;
  readonly #reader: ReadableStreamDefaultReader<string>;

  constructor(response: Response) {
    if (!response.body) throw new Error("no body");
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  async until(fits: (text: string) => boolean): Promise<string> {
    while (!fits(this.text)) {
      const { value, done } = await this.#reader.read();
      if (done) {
        this.ended = true;
        return this.text;
      }
      this.text += value;
    }
    return this.text;
  }

  async rest(): Promise<string> {
    return this.until(() => false);
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

interface Sent {
  event: string;
  id: string | null;
  data: AgentEvent;
}

function parseSse(text: string): Sent[] {
  const blocks = text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  return blocks.map((block) => {
    const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
    const data = JSON.parse(fields.get("data") ?? "null") as AgentEvent;
    return { event: fields.get("event") ?? "", id: fields.get("id") ?? null, data };
  });
}

const sse = { headers: { accept: "text/event-stream" } };
const ndjson = { headers: { accept: "application/x-ndjson" } };

describe("event streams of a session", () => {
  it("[WIRE-50] replay the log as SSE with ids, say that they are live, and go on as things happen", async () => {
    const session = await product.session([{ text: ["a", "b"] }, { text: ["c", "d"] }]);
    await session.prompt("one");
    await session.ended();
    const response = await product.fetch(`${session.path}/events`, sse);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const reader = new Reader(response);
    await reader.until((text) => text.includes("event: live"));
    await session.prompt("two");
    await reader.until((text) => text.split("event: agent_stop").length > 2);
    await reader.cancel();
    const sent = parseSse(reader.text);
    const durable = sent.filter(({ id }) => id !== null);
    expect(durable.map(({ data }) => data)).toEqual(await session.log());
    expect(durable.map(({ id, event }) => [id, event])).toEqual(
      durable.map(({ data }) => [String("seq" in data ? data.seq : 0), data.type]),
    );
    expect(checkStream(sent.filter(({ event }) => event !== "live").map(({ data }) => data))).toEqual([]);
    expect(sent.filter(({ event }) => event === "text_delta").map(({ data }) => data)).toMatchObject([
      { text: "c" },
      { text: "d" },
    ]);
  });

  it("[WIRE-51] begin after Last-Event-ID or `after`, and give a page of JSON to who asks for none", async () => {
    const session = await product.session([{ text: ["a"] }]);
    await session.prompt("one");
    const log = await session.ended();
    const resumed = new Reader(
      await product.fetch(`${session.path}/events`, { headers: { ...sse.headers, "last-event-id": "2" } }),
    );
    await resumed.until((text) => text.includes("event: live"));
    await resumed.cancel();
    expect(parseSse(resumed.text).flatMap(({ id }) => id ?? [])).toEqual(["3", "4"]);
    const page = await product.call("GET", `${session.path}/events?after=1&limit=2`);
    expect(page.body).toMatchObject({ events: log.slice(1, 3), head: 4, next: 3 });
    const last = await product.call("GET", `${session.path}/events?after=3`);
    expect(last.body).toMatchObject({ events: log.slice(3), head: 4, next: null });
    const typed = await product.call("GET", `${session.path}/events?types=input,agent_stop`);
    expect(typed.body).toMatchObject({ events: [{ type: "input" }, { type: "agent_stop" }] });
  });

  it("[WIRE-52] are one event a line as NDJSON", async () => {
    const session = await product.session([{ text: ["a"] }]);
    await session.prompt("one");
    const log = await session.ended();
    const reader = new Reader(await product.fetch(`${session.path}/events`, ndjson));
    await reader.until((text) => text.includes('"type":"live"'));
    await reader.cancel();
    const lines = reader.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual([...log, { type: "live", head: 4, partial: [] }]);
  });

  it("[WIRE-53] send the named types only", async () => {
    const session = await product.session([{ text: ["a"] }]);
    const reader = new Reader(await product.fetch(`${session.path}/events?types=output,done`, ndjson));
    await reader.until((text) => text.includes('"type":"live"'));
    await session.prompt("one");
    await reader.until((text) => text.includes('"type":"done"'));
    await reader.cancel();
    const types = reader.text
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(["live", "output", "done"]);
  });

  it("[WIRE-54] carry one turn to its end as chat, in a new session or a named one", async () => {
    const session = await product.session([{ text: ["a", "b"] }]);
    const response = await product.fetch("/v1/chat", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/x-ndjson" },
      body: JSON.stringify({ session: session.id, text: "hi" }),
    });
    expect(response.headers.get("x-session-id")).toBe(session.id);
    const reader = new Reader(response);
    const events = (await reader.rest())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AgentEvent);
    expect(reader.ended).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: "agent_stop", reason: "stop" });
    expect(events.filter((event) => "seq" in event)).toEqual(await session.log());
  });

  it("[WIRE-55] give a reader who comes late the same events as one who was there", async () => {
    const text = Array.from({ length: 20 }, (_, index) => `word${index} `);
    const session = await product.session([{ text, delayMs: 5 }]);
    await session.prompt("go");
    const reader = new Reader(await product.fetch(`${session.path}/events?after=0`, ndjson));
    await reader.until((all) => all.includes('"type":"agent_stop"'));
    await reader.cancel();
    const events = reader.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AgentEvent & { type: string });
    expect(events.filter((event) => "seq" in event)).toEqual(await session.log());
  });
});
