import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withCodec } from "../../../../src/runtime/model/codec/codec-provider.ts";
import { jsonCodec } from "../../../../src/runtime/model/codec/json-codec.ts";
import { reactCodec } from "../../../../src/runtime/model/codec/react-codec.ts";
import { CodecError } from "../../../../src/runtime/model/codec/tool-call-codec.ts";
import type { ToolCallCodec } from "../../../../src/runtime/model/codec/tool-call-codec.ts";
import type { ModelRequest } from "../../../../src/runtime/model/model-provider.ts";
import { createScriptedProvider } from "../../../../src/runtime/model/scripted-provider.ts";
import { streamOf } from "../../../../src/runtime/model/stream-of.ts";
import { textContent } from "../../../../src/runtime/protocol/content.ts";
import { ASK, readStream } from "../streamed.ts";

const TOOL = { name: "read", description: "Reads.", schema: { type: "object" as const, properties: {} } };
const ASKED: ModelRequest = { ...ASK, tools: [TOOL] };

async function decoded(codec: ToolCallCodec, text: string): Promise<unknown> {
  try {
    const { text: said, calls } = await codec.decode(text);
    return calls.length === 0 ? said : [said, ...calls.map(({ name, args }) => [name, args])];
  } catch (caught) {
    if (!(caught instanceof CodecError)) throw caught;
    return CodecError;
  }
}

describe("[MODEL-30] the json codec", () => {
  const call = '{"type":"tool_calls","calls":[{"name":"read","input":{"path":"a"}}]}';
  const READ = ["", ["read", { path: "a" }]];
  it.each([
    ["calls", call, READ],
    ["other names of the fields", '{"tool_calls":[{"tool":"read","arguments":{"path":"a"}}]}', READ],
    ["arguments as a string", '{"calls":[{"name":"read","args":"{\\"path\\":\\"a\\"}"}]}', READ],
    [
      "the form of Chat Completions",
      '{"calls":[{"function":{"name":"read","arguments":"{\\"path\\":\\"a\\"}"}}]}',
      READ,
    ],
    ["a fence", `\`\`\`json\n${call}\n\`\`\``, READ],
    ["prose around it", `Let me look.\n${call}\nOne moment.`, ["Let me look.", ["read", { path: "a" }]]],
    [
      "a fence within prose",
      `Let me look.\n\`\`\`json\n${call}\n\`\`\``,
      ["Let me look.", ["read", { path: "a" }]],
    ],
    [
      "braces in the prose",
      `I use {this} and [that]: ${call}`,
      ["I use {this} and [that]:", ["read", { path: "a" }]],
    ],
    ["reasoning in tags", `<think>{"type":"final","text":"no"}</think>${call}`, READ],
    ["a final answer", '{"type":"final","text":"done {1}"}', "done {1}"],
    ["plain text", "It is in a.txt.", "It is in a.txt."],
    ["JSON that is the answer's own", 'Use this: {"port": 80}', 'Use this: {"port": 80}'],
    ["broken JSON", call.slice(0, -3), CodecError],
    ["broken JSON within prose", `Let me look. ${call.slice(0, -3)}`, CodecError],
    ["another object", '{"answer":1}', CodecError],
    ["no calls", '{"type":"tool_calls","calls":[]}', CodecError],
    ["calls that are no list", '{"calls":{"name":"read"}}', CodecError],
    ["a call without a name", '{"calls":[{"input":{}}]}', CodecError],
    ["arguments that are no object", '{"calls":[{"name":"read","input":[1]}]}', CodecError],
    ["arguments that are no JSON", '{"calls":[{"name":"read","input":"{a"}]}', CodecError],
    ["a final answer without text", '{"type":"final"}', CodecError],
    ["an empty answer", '{"type":"final","text":" "}', CodecError],
  ])("[MODEL-30] reads %s", async (_, text, expected) => {
    expect(await decoded(jsonCodec, text)).toEqual(expected);
  });
});

describe("[MODEL-31] the react codec", () => {
  const action = 'Thought: look first\nAction: read\nAction Input: {"path": "a"}';
  const READ = ["look first", ["read", { path: "a" }]];
  it.each([
    ["an action", action, READ],
    ["an action with a made up observation", `${action}\nObservation: nothing\nAction: read`, READ],
    [
      "an action in bold",
      '**Action:** `read`\n**Action Input:** ```json\n{"path":\n"a"}\n```',
      ["", READ[1]],
    ],
    ["CRLF", action.replaceAll("\n", "\r\n"), READ],
    ["a final answer", "Thought: done\nFinal Answer: it is 4\nor 5", "it is 4\nor 5"],
    ["the last of two final answers", "Final Answer: 3\nNo.\nFinal Answer: 4", "4"],
    ["a final answer beside an action", `${action}\nFinal Answer: 4`, "4"],
    ["plain text", "It is 4.", "It is 4."],
    ["an action without input", "Action: read", CodecError],
    ["an action whose input is text", "Action: read\nAction Input: the file", CodecError],
    ["an action whose input is broken", 'Action: read\nAction Input: {"path": "a"', CodecError],
    ["an action whose input is a list", "Action: read\nAction Input: [1]", CodecError],
    ["an action without a name", "Action:\nAction Input: {}", CodecError],
    ["an input without an action", "Action Input: {}", CodecError],
    ["an empty answer", "Final Answer: ", CodecError],
  ])("[MODEL-31] reads %s", async (_, text, expected) => {
    expect(await decoded(reactCodec, text)).toEqual(expected);
  });
});

describe("[MODEL-32] what a codec sends", () => {
  const history: ModelRequest = {
    ...ASKED,
    messages: [
      { role: "user", content: textContent("go") },
      {
        role: "assistant",
        blocks: [
          { kind: "thought", text: "hm" },
          { kind: "text", text: "Looking." },
        ],
        calls: [
          { id: "c1", name: "read", args: { path: "a" } },
          { id: "c2", name: "read", args: {} },
        ],
      },
      { role: "tool", callId: "c1", name: "read", content: "A", isError: false },
      { role: "tool", callId: "c2", name: "read", content: "gone", isError: true },
      { role: "assistant", blocks: [{ kind: "text", text: "Done." }], calls: [] },
    ],
  };
  it.each([
    ["json", jsonCodec],
    ["react", reactCodec],
  ])("[MODEL-32] %s: tools, calls and results are text, the results of one reply together", (_, codec) => {
    const encoded = codec.encode(history);
    expect(encoded.tools).toEqual([]);
    expect(encoded.system.startsWith("Be brief.")).toBe(true);
    expect(encoded.system).toContain("Reads.");
    expect(encoded.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(JSON.stringify(encoded.messages)).toContain("gone");
    expect(codec.encode(history)).toEqual(encoded);
    // Without tools nothing is told of them.
    expect(codec.encode({ ...history, tools: [] }).system).toBe("Be brief.");
  });

  it.each([
    ["json", jsonCodec],
    ["react", reactCodec],
  ])("[MODEL-32] %s: reads its own history back", async (_, codec) => {
    const texts = codec
      .encode(history)
      .messages.map((message) =>
        message.role === "assistant" ? message.blocks.filter(({ kind }) => kind === "text")[0]?.text : "",
      );
    const first = await codec.decode(texts[1] ?? "");
    expect(first.text).toBe("Looking.");
    expect(first.calls[0]).toMatchObject({ name: "read", args: { path: "a" } });
    expect(await codec.decode(texts[3] ?? "")).toEqual({ text: "Done.", calls: [] });
  });
});

describe("[MODEL-33] a model behind a codec", () => {
  const CALL =
    '{"type":"tool_calls","calls":[{"name":"read","input":{"path":"a"}},{"name":"read","input":{}}]}';
  const usage = (input: number) => ({ input, output: 1, cachedInput: 0, reasoning: 0 });

  async function run(
    codec: ToolCallCodec,
    ...steps: Parameters<typeof createScriptedProvider>[0] & object[]
  ) {
    const model = createScriptedProvider(steps);
    const wrapped = withCodec(model, codec);
    const streamed = await readStream(streamOf(wrapped, ASKED, new AbortController().signal));
    return { ...streamed, requests: model.requests };
  }

  it("[MODEL-33] gives the same reply wherever its text is cut, and the same ids", async () => {
    const whole = await run(jsonCodec, { thought: "hm", text: `Now: ${CALL}`, usage: usage(3) });
    expect(whole.reply).toMatchObject({
      finishReason: "tool_calls",
      blocks: [
        { kind: "thought", text: "hm", block: 0 },
        { kind: "text", text: "Now:", block: 1 },
      ],
      usage: usage(3),
    });
    expect(new Set(whole.reply?.calls.map(({ providerId }) => providerId)).size).toBe(2);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(CALL.length + 5), { maxLength: 12 }), async (cuts) => {
        const text = `Now: ${CALL}`;
        const at = [0, ...cuts.sort((left, right) => left - right), text.length];
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
        const { reply } = await run(jsonCodec, { thought: ["h", "m"], text: pieces, usage: usage(3) });
        expect(reply).toEqual(whole.reply);
      }),
      { numRuns: 50 },
    );
  });

  it("[MODEL-33] shows thoughts at once and a final answer as one delta", async () => {
    const { deltas, alive } = await run(reactCodec, { thought: ["h", "m"], text: ["Final ", "Answer: 4"] });
    expect(deltas).toEqual([
      { type: "delta", kind: "thought", block: 0, text: "h" },
      { type: "delta", kind: "thought", block: 0, text: "m" },
      { type: "delta", kind: "text", block: 1, text: "4" },
    ]);
    expect(alive).toBe(2);
  });

  it("[MODEL-34] asks again for what it cannot read, and counts what that uses", async () => {
    const { reply, requests } = await run(
      jsonCodec,
      { thought: "a", text: "{broken", usage: usage(3) },
      { thought: "b", text: CALL, usage: usage(4) },
    );
    expect(reply?.usage).toEqual({ input: 7, output: 2, cachedInput: 0, reasoning: 0 });
    expect(reply?.calls).toHaveLength(2);
    expect(reply?.blocks.map(({ text, block }) => [text, block])).toEqual([
      ["a", 0],
      ["b", 1],
    ]);
    expect(reply?.diagnostics?.map(({ code }) => code)).toEqual(["reply_repaired"]);
    expect(requests[1]?.messages.slice(-2).map(({ role }) => role)).toEqual(["assistant", "user"]);
    expect(requests[1]?.system).toBe(requests[0]?.system);
  });

  it("[MODEL-34] fails for good after `repairCalls` repairs", async () => {
    const broken = { text: "{broken" };
    const { error, requests, deltas } = await run(jsonCodec, broken, broken, broken, { text: CALL });
    expect([error?.modelCode, error?.retryable]).toEqual(["malformed_stream", false]);
    expect(requests).toHaveLength(3);
    expect(deltas).toEqual([]);
  });

  it("[MODEL-35] never runs a call of a reply that was cut", async () => {
    const cut = { text: CALL.slice(0, -9), finishReason: "length" as const };
    const { reply } = await run(jsonCodec, cut);
    expect(reply).toMatchObject({ finishReason: "length", calls: [{ name: "read", malformed: cut.text }] });
    const answer = await run(jsonCodec, { text: "It is bec", finishReason: "length" });
    expect(answer.reply).toMatchObject({
      finishReason: "length",
      calls: [],
      blocks: [{ text: "It is bec" }],
    });
  });

  it("[MODEL-33] passes on what a model calls by itself", async () => {
    const { reply } = await run(jsonCodec, { text: "hm", calls: [{ name: "read", args: { path: "a" } }] });
    expect(reply).toMatchObject({
      finishReason: "tool_calls",
      calls: [{ name: "read", args: { path: "a" } }],
    });
  });
});
