import { describe, expect, it } from "vitest";
import { toWireMessages, toWireTools } from "../../../src/runtime/model/openai-wire.ts";
import type { WireOptions } from "../../../src/runtime/model/openai-wire.ts";
import type { ModelMessage } from "../../../src/runtime/protocol/model-messages.ts";
import { textContent } from "../../../src/runtime/protocol/content.ts";

function wire(messages: readonly ModelMessage[], options: WireOptions = {}, system = ""): Promise<unknown[]> {
  return toWireMessages({ system, messages, tools: [] }, options);
}

const THOUGHT = { kind: "thought", text: "hm" } as const;
const TEXT = { kind: "text", text: "yes" } as const;
const CALL = { id: "call_1_1_0", name: "read_file", args: { path: "a" } };

describe("[MODEL-19] messages", () => {
  it("[MODEL-19] a conversation with a call and its result", async () => {
    const messages = await wire(
      [
        { role: "user", content: textContent("read a") },
        { role: "assistant", blocks: [THOUGHT, TEXT], calls: [CALL] },
        { role: "tool", callId: CALL.id, name: CALL.name, content: "1 | x", isError: false },
        { role: "assistant", blocks: [TEXT], calls: [] },
      ],
      {},
      "Be brief.",
    );
    expect(messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "read a" },
      {
        role: "assistant",
        content: "yes",
        tool_calls: [
          { id: CALL.id, type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } },
        ],
      },
      { role: "tool", tool_call_id: CALL.id, content: "1 | x" },
      { role: "assistant", content: "yes" },
    ]);
  });

  it("[MODEL-19] calls without text have no content, and an assistant message with nothing is left out", async () => {
    const messages = await wire([
      { role: "assistant", blocks: [], calls: [CALL] },
      { role: "assistant", blocks: [THOUGHT], calls: [] },
    ]);
    expect(messages).toMatchObject([{ role: "assistant", content: null, tool_calls: [{ id: CALL.id }] }]);
    expect(messages).toHaveLength(1);
  });

  it("[MODEL-19] reasoning goes back only in the field that the server wants", async () => {
    const message: ModelMessage = { role: "assistant", blocks: [THOUGHT, TEXT], calls: [] };
    expect(await wire([message])).toEqual([{ role: "assistant", content: "yes" }]);
    expect(await wire([message], { reasoningField: "reasoning_content" })).toEqual([
      { role: "assistant", content: "yes", reasoning_content: "hm" },
    ]);
  });

  it("[MODEL-19] a failed result says so in its text", async () => {
    const result: ModelMessage = {
      role: "tool",
      callId: "c",
      name: "x",
      content: "no such file",
      isError: true,
    };
    expect(await wire([result])).toEqual([
      { role: "tool", tool_call_id: "c", content: "[error] no such file" },
    ]);
  });

  it.each([
    ["read file!", "read_file_"],
    ["", "unknown"],
    ["x".repeat(80), "x".repeat(64)],
  ])(
    "[MODEL-19] a name that servers would refuse is sent in a form that they take: %s",
    async (name, sent) => {
      const [message] = await wire([{ role: "assistant", blocks: [], calls: [{ ...CALL, name }] }]);
      expect(message).toMatchObject({ tool_calls: [{ function: { name: sent } }] });
    },
  );

  it("[MODEL-19] half a surrogate pair is replaced", async () => {
    expect(await wire([{ role: "user", content: textContent("a\ud83d") }])).toEqual([
      { role: "user", content: "a\ufffd" },
    ]);
  });
});

describe("[MODEL-19] images", () => {
  const mediaType = "image/png";
  const message = (part: object): ModelMessage[] => [
    {
      role: "user",
      content: [
        { type: "text", text: "what is this?" },
        { type: "image", mediaType, ...part },
      ],
    },
  ];

  it("[MODEL-19] with a URL go as such", async () => {
    expect(await wire(message({ url: "https://example.com/a.png" }))).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "what is this?" },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        ],
      },
    ]);
  });

  it("[MODEL-19] with a path get the URL that they resolve to", async () => {
    const resolveImage = (part: { path?: string | undefined }): string =>
      `data:image/png;base64,${part.path}`;
    expect(await wire(message({ path: "a.png" }), { resolveImage })).toMatchObject([
      { content: [{}, { image_url: { url: "data:image/png;base64,a.png" } }] },
    ]);
  });

  it.each([
    ["nobody resolves", {}],
    ["resolve to nothing", { resolveImage: () => null }],
  ])("[MODEL-19] that %s are named in the text", async (_, options) => {
    expect(await wire(message({ path: "img/a.png" }), options)).toEqual([
      { role: "user", content: "what is this?\n[image image/png: img/a.png]" },
    ]);
  });
});

it("[MODEL-19] tools go as functions, and no tools as no field", () => {
  const schema = { type: "object", properties: { path: { type: "string" } } } as const;
  expect(toWireTools([{ name: "read_file", description: "Reads.", schema }])).toEqual([
    { type: "function", function: { name: "read_file", description: "Reads.", parameters: schema } },
  ]);
  expect(toWireTools([])).toBeUndefined();
});
