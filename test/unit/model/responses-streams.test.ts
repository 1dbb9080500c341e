import fc from "fast-check";
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { ModelRequest } from "../../../src/runtime/model/model-provider.ts";
import { createOpenAiProvider } from "../../../src/runtime/model/openai-provider.ts";
import { streamOf } from "../../../src/runtime/model/stream-of.ts";
import { textContent } from "../../../src/runtime/protocol/content.ts";
import { Harness, echoTool } from "../support/agent-harness.ts";
import { sendStream, startModelServer } from "./model-server.ts";
import type { ModelServer } from "./model-server.ts";
import { ANSWER, CALL, MESSAGE, REASONING, TOOL_USE, completed, responsesBody } from "./responses-bodies.ts";
import { ASK, fetchOf, readStream, shownText } from "./streamed.ts";
import type { Streamed } from "./streamed.ts";

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const REQUEST: ModelRequest = {
  ...ASK,
  tools: [{ name: "read", description: "Reads.", schema: { type: "object", properties: {} } }],
};
const usage = { input: 100, output: 30, cachedInput: 60, reasoning: 20 };

/** One call whose body comes in these pieces. */
function readPieces(pieces: readonly (string | Uint8Array)[], request = REQUEST): Promise<Streamed> {
  const options = { model: "m", apiKey: "k", baseUrl: "http://model.test/v1", dialect: "responses" as const };
  const provider = createOpenAiProvider({ ...options, fetch: fetchOf(pieces) });
  return readStream(streamOf(provider, request, new AbortController().signal));
}

/** One call on a real server. */
async function call(answer: (response: ServerResponse) => void, request = REQUEST): Promise<Streamed> {
  server = await startModelServer(answer);
  const options = { model: "m", apiKey: "k", dialect: "responses" as const };
  const provider = createOpenAiProvider({ ...options, baseUrl: server.baseUrl });
  return readStream(streamOf(provider, request, new AbortController().signal));
}

function expectToolUse({ reply, deltas, error }: Streamed): void {
  expect(error).toBeNull();
  expect(reply).toMatchObject({ finishReason: "tool_calls", usage });
  expect(reply?.calls).toEqual([
    { providerId: "call_abc", name: "read", args: { path: "ž" } },
    { providerId: "call_def", name: "read", args: { path: "ž" } },
  ]);
  expect(reply?.blocks.map(({ kind, text }) => [kind, text])).toEqual([
    ["thought", "**Looking**"],
    ["thought", ""],
  ]);
  expect(JSON.stringify(reply?.blocks[0]?.providerData)).toContain(JSON.stringify(REASONING));
  expect(shownText(deltas, "thought")).toBe("**Looking**");
  expect(shownText(deltas, "tool_args")).toBe(CALL.arguments.repeat(2));
}

describe("[MODEL-47] the Responses dialect", () => {
  it("[MODEL-47] reads a reply over a real socket, and asks for what it needs", async () => {
    expectToolUse(await call((response) => sendStream(response, TOOL_USE)));
    const [seen] = server?.seen ?? [];
    expect(seen?.url).toBe("/v1/responses");
    expect(seen?.body).toEqual({
      model: "m",
      instructions: "Be brief.",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hello?" }] }],
      tools: [
        {
          type: "function",
          name: "read",
          description: "Reads.",
          parameters: REQUEST.tools[0]?.schema,
          strict: false,
        },
      ],
      include: ["reasoning.encrypted_content"],
      store: false,
      stream: true,
    });
  });

  it("[MODEL-47] reads it the same cut in two at every byte", { timeout: 60_000 }, async () => {
    const bytes = new TextEncoder().encode(TOOL_USE);
    for (let cut = 1; cut < bytes.length; cut += 3) {
      expectToolUse(await readPieces([bytes.subarray(0, cut), bytes.subarray(cut)]));
    }
  });

  it("[MODEL-47] reads it the same in any pieces, with LF or CRLF", async () => {
    const property = fc.asyncProperty(
      fc.boolean(),
      fc.array(fc.nat(), { maxLength: 12 }),
      async (crlf, cuts) => {
        const bytes = new TextEncoder().encode(crlf ? TOOL_USE.replaceAll("\n", "\r\n") : TOOL_USE);
        const places = [0, ...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b);
        expectToolUse(
          await readPieces(places.slice(1).map((place, at) => bytes.subarray(places[at], place))),
        );
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it("[MODEL-47] answers with text, also when items come only as a whole or only at the end", async () => {
    const item = { type: "response.output_item.done", output_index: 0, item: MESSAGE };
    for (const body of [ANSWER, responsesBody(item, completed()), responsesBody(completed([MESSAGE]))]) {
      const { reply, deltas } = await readPieces([body]);
      expect(reply).toMatchObject({ finishReason: "stop", calls: [], usage });
      expect(reply?.blocks).toEqual([{ kind: "text", block: 0, text: "Hi 🐎" }]);
      expect(shownText(deltas, "text")).toBe("Hi 🐎");
    }
  });

  it("[MODEL-47] asks for JSON by its schema", async () => {
    const schema = { type: "object" };
    await call((response) => sendStream(response, ANSWER), {
      ...ASK,
      output: { mode: "json_schema", schema },
    });
    expect(server?.seen[0]?.body).toMatchObject({
      text: { format: { type: "json_schema", name: "answer", schema } },
    });
  });

  const failed = (error: object) => ({ type: "response.failed", response: { status: "failed", error } });
  const incomplete = (reason: string) => {
    return {
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason } },
    };
  };
  const text = { type: "response.output_text.delta", output_index: 0, delta: "par" };
  it.each([
    ["a stream that is cut", responsesBody(text), "incomplete_stream"],
    [
      "a failed response",
      responsesBody(text, failed({ code: "server_error", message: "no" })),
      "model_unavailable",
    ],
    ["a rate limit", responsesBody(failed({ code: "rate_limit_exceeded", message: "no" })), "rate_limited"],
    [
      "a cancelled response",
      responsesBody({ type: "response.failed", response: { status: "cancelled" } }),
      "model_error",
    ],
    [
      "an error event",
      responsesBody({ type: "error", code: "context_length_exceeded", message: "no" }),
      "context_overflow",
    ],
    ["an error object", 'data: {"error":{"code":"insufficient_quota"}}\n\n', "quota_exhausted"],
    ["nothing", "", "malformed_stream"],
    ["a page of HTML", "<html>busy</html>", "malformed_stream"],
    ["a response without output", responsesBody(completed()), "empty_reply"],
    ["a reply of thoughts alone", responsesBody(completed([REASONING])), "empty_reply"],
    ["a filtered response", responsesBody(incomplete("content_filter")), "content_filter"],
  ])("[MODEL-48] %s is an error", async (_, body, code) => {
    const { error, reply } = await readPieces([body]);
    expect([reply, error?.modelCode]).toEqual([null, code]);
  });

  it("[MODEL-48] a reply that was cut by its length says so, and its broken call is malformed", async () => {
    const added = {
      type: "response.output_item.added",
      output_index: 1,
      item: { ...CALL, arguments: "" },
    };
    const part = { type: "response.function_call_arguments.delta", output_index: 1, delta: '{"pa' };
    const { reply } = await readPieces([responsesBody(text, added, part, incomplete("max_output_tokens"))]);
    expect(reply).toMatchObject({
      finishReason: "length",
      calls: [{ name: "read", malformed: '{"pa' }],
      usage: null,
    });
  });
});

describe("[MODEL-49] what goes back", () => {
  it("[MODEL-49] is each reasoning item byte for byte, before the call that followed from it, through the log", async () => {
    const bodies = [TOOL_USE, ANSWER];
    server = await startModelServer((response) => sendStream(response, bodies.shift() ?? ""));
    const { tool } = echoTool({ name: "read" });
    const options = { model: "m", apiKey: "k", dialect: "responses" as const };
    const h = new Harness([], {
      model: createOpenAiProvider({ ...options, baseUrl: server.baseUrl }),
      tools: [tool],
    });
    await h.submit("go");
    await h.waitFor(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return h.types.includes("agent_stop");
    });
    const sent = server.seen[1]?.body as { input: { type: string; call_id?: string }[] } | undefined;
    const input = sent?.input ?? [];
    expect(input.map(({ type, call_id }) => [type, call_id].filter(Boolean).join(" "))).toEqual([
      "message",
      "reasoning",
      "function_call call_1_1_0",
      "reasoning",
      "function_call call_1_1_1",
      "function_call_output call_1_1_0",
      "function_call_output call_1_1_1",
    ]);
    expect(JSON.stringify(input[1])).toBe(JSON.stringify(REASONING));
    expect(h.last("agent_trace").usage).toEqual(usage);
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-49] is no reasoning of another model", async () => {
    const { reply } = await readPieces([TOOL_USE]);
    const blocks = reply?.blocks.map(({ kind, text, providerData }) => {
      return {
        kind,
        text,
        ...(providerData
          ? {
              providerData: JSON.parse(JSON.stringify(providerData).replaceAll('"model":"m"', '"model":"n"')),
            }
          : {}),
      };
    });
    const said = {
      role: "assistant" as const,
      blocks: blocks ?? [],
      calls: [{ id: "c1", name: "read", args: {} }],
    };
    const result = { role: "tool" as const, callId: "c1", name: "read", content: "gone", isError: true };
    await call((response) => sendStream(response, ANSWER), { ...REQUEST, messages: [said, result] });
    expect(server?.seen[0]?.body).toMatchObject({
      input: [
        { type: "function_call", call_id: "c1", name: "read", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "[error] gone" },
      ],
    });
  });

  it("[MODEL-50] a call that comes again, in one reply or in the next, is the call that it was", async () => {
    const again = { type: "response.output_item.added", output_index: 1, item: CALL };
    const whole = { type: "response.output_item.done", output_index: 0, item: CALL };
    const twice = await readPieces([responsesBody(whole, whole, again, completed([CALL]))]);
    expect(twice.reply?.calls.map(({ providerId }) => providerId)).toEqual(["call_abc"]);
    const said = {
      role: "assistant" as const,
      blocks: [],
      calls: [{ id: "call_abc", name: "read", args: {} }],
    };
    const result = { role: "tool" as const, callId: "call_abc", name: "read", content: "A", isError: false };
    const ask = { role: "user" as const, content: textContent("go") };
    const continued = await readPieces([responsesBody(completed([CALL, MESSAGE]))], {
      ...REQUEST,
      messages: [ask, said, result],
    });
    expect(continued.reply).toMatchObject({ finishReason: "stop", calls: [], blocks: [{ text: "Hi 🐎" }] });
    expect(continued.reply?.diagnostics?.map(({ code }) => code)).toEqual(["call_repeated"]);
  });
});
