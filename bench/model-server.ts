import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { marker, microseconds } from "./markers.ts";
import { parseScript } from "./model-script.ts";
import type { StepsScript, TextScript } from "./model-script.ts";

/**
 * The fake model: an OpenAI-compatible server in a thread of its own, so that neither the client nor the servers under
 * measurement wait for it. It answers what the model's name says, and tells its port to who started the thread.
 */
interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly tool_calls?: unknown }[];
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { model, messages } = (await json(request)) as ChatRequest;
  const script = parseScript(model);
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (script.kind === "text") return streamText(script, response);
  response.end(stepReply(script, messages));
}

/** Writes as fast as the socket takes it, or at the pace asked for. Each write is one `write` of TCP. */
async function streamText(script: TextScript, response: ServerResponse): Promise<void> {
  const { deltas, perWrite, everyMs } = script;
  for (let sent = 0; sent < deltas && !response.destroyed; sent += perWrite) {
    if (sent > 0 && everyMs > 0) await delay(everyMs);
    const count = Math.min(perWrite, deltas - sent);
    const taken = response.write(chunk({ content: marker(microseconds()) }).repeat(count));
    // Node joins what is written within one turn of its event loop.
    await (taken ? nextTurn() : once(response, "drain"));
  }
  response.end(ending("stop"));
}

/** The reply to the conversation as it stands: the next step's calls, or the last words. */
function stepReply({ steps, calls, tool }: StepsScript, messages: ChatRequest["messages"]): string {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  const done = turn.filter(({ role, tool_calls: asked }) => role === "assistant" && asked).length;
  if (done >= steps) return chunk({ content: marker(microseconds()) }) + ending("stop");
  const asked = Array.from({ length: calls }, (_, index) => ({
    index,
    id: `call_${done}_${index}`,
    type: "function",
    function: { name: tool, arguments: '{"path":"missing.txt"}' },
  }));
  return chunk({ tool_calls: asked }) + ending("tool_calls");
}

function chunk(delta: object, finish: string | null = null, extra: object = {}): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  const head = {
    id: "chatcmpl-bench",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "fake",
  };
  return `data: ${JSON.stringify({ ...head, system_fingerprint: "fp_bench", choices, ...extra })}\n\n`;
}

function ending(reason: string): string {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  return `${chunk({}, reason, { usage })}data: [DONE]\n\n`;
}

const server = createServer((request, response) => {
  answer(request, response).catch((caught: unknown) => {
    console.error("The fake model failed.", caught);
    response.destroy();
  });
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage(server.address()));
