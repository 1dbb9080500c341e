import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import { ModelServer } from "./model-server.ts";
import type { FakeReply } from "./model-server.ts";
import { ProductProcess } from "./product-process.ts";

let answer: (turnText: string, results: number) => FakeReply;
let model: ModelServer;
let product: ProductProcess;

beforeAll(async () => {
  model = await ModelServer.start(({ messages }) => {
    const prompt = messages.findLast(({ role }) => role === "user");
    const results = messages
      .slice(prompt ? messages.lastIndexOf(prompt) : 0)
      .filter(({ role }) => role === "tool");
    return answer(JSON.stringify(prompt?.content ?? ""), results.length);
  });
  product = new ProductProcess({
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "fake",
  });
  await product.start();
});

afterAll(async () => {
  await product.stop();
  await model.stop();
});

async function log(session: string): Promise<DurableEvent[]> {
  const { events } = await product.call<{ events: DurableEvent[] }>(
    "GET",
    `/v1/sessions/${session}/events?limit=5000`,
  );
  return events;
}

/** The log once so many turns have ended; it has passed the grammar checker. */
async function ended(session: string, turns: number): Promise<DurableEvent[]> {
  for (;;) {
    const events = await log(session);
    if (events.filter(({ type }) => type === "agent_stop").length >= turns) {
      expect(checkLog(events)).toEqual([]);
      return events;
    }
    await delay(50);
  }
}

function outcomes(events: readonly DurableEvent[]): string[] {
  return events.flatMap((event) => (event.type === "agent_stop" ? event.promptIds : []));
}

it("[LOG-50] ends every accepted prompt exactly once after a kill -9 right after the 202", async () => {
  answer = () => ({ text: ["ok"] });
  await product.call("POST", "/v1/sessions", { id: "accepted" });
  for (const promptId of ["one", "two", "three"]) {
    await product.call("POST", "/v1/sessions/accepted/prompt", { text: promptId, promptId });
  }
  await product.kill();
  await product.start();
  const events = await ended("accepted", 3);
  expect(outcomes(events)).toEqual(["one", "two", "three"]);
  expect(events.filter(({ type }) => type === "input")).toHaveLength(3);
});

it("[LOG-51] ends a turn exactly once after a kill -9 in mid-stream, and accounts for the text that was shown", async () => {
  let hang = true;
  answer = () => (hang ? { text: ["shown ", "before"], hang } : { text: ["whole ", "answer"] });
  await product.call("POST", "/v1/sessions", { id: "stream" });
  const socket = product.socket("stream");
  const shown = new Promise<void>((resolve) => {
    socket.addEventListener("message", ({ data }) => String(data).includes("before") && resolve());
  });
  await product.call("POST", "/v1/sessions/stream/prompt", { text: "go", promptId: "p" });
  await shown;
  hang = false;
  await product.kill();
  await product.start();
  const events = await ended("stream", 1);
  expect(outcomes(events)).toEqual(["p"]);
  const output = events.filter((event) => event.type === "output");
  expect(output).toMatchObject([{ text: "whole answer", attempt: 1001 }]);
});

it("[LOG-52] ends a turn exactly once after a kill -9 while its tools run, each effect at most once", async () => {
  const calls = Array.from({ length: 10 }, (_, index) => ({
    name: "write_file",
    args: { path: `file${index}.txt`, content: `content ${index}`, _intent: "to write" },
  }));
  answer = (_prompt, results) => (results === 0 ? { calls } : { text: ["done"] });
  await product.call("POST", "/v1/sessions", { id: "tools" });
  const socket = product.socket("tools");
  const started = new Promise<void>((resolve) => {
    socket.addEventListener("message", ({ data }) => String(data).includes("tool_call_start") && resolve());
  });
  await product.call("POST", "/v1/sessions/tools/prompt", { text: "write", promptId: "p" });
  await started;
  await product.kill();
  await product.start();
  const events = await ended("tools", 1);
  expect(outcomes(events)).toEqual(["p"]);
  const results = events.filter((event) => event.type === "tool_result");
  expect(results.map(({ callId }) => callId).sort()).toEqual(
    calls.map((_, index) => `call_1_1_${index}`).sort(),
  );
  // A write that took effect made one version, one that ran again after the kill had made none before.
  const { data } = await product.call<{ data: { callId?: string }[] }>(
    "GET",
    "/v1/workspaces/tools/versions?limit=100",
  );
  const changed = data.flatMap(({ callId }) => callId ?? []);
  expect(changed.length).toBe(new Set(changed).size);
  for (const [index, { args }] of calls.entries()) {
    const succeeded = results.some(({ callId, isError }) => callId === `call_1_1_${index}` && !isError);
    const file = await product.fetch(`/v1/workspaces/tools/files/${args.path}`);
    const text = await file.text();
    if (succeeded) expect(text).toBe(args.content);
  }
});
