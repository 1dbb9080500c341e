import { describe, expect, it } from "vitest";
import { isEventType } from "../../../src/runtime/protocol/events.ts";
import {
  clientFrameSchema,
  interruptBodySchema,
  partialBlockSchema,
  promptBodySchema,
} from "../../../src/runtime/protocol/frames.ts";
import { CLOSE, WEBSOCKET_PROTOCOL } from "../../../src/runtime/protocol/websocket.ts";

const content = [{ type: "text", text: "hi" }];

describe("a client's frame", () => {
  it.each([
    { id: 1, type: "prompt", text: "hi" },
    { id: "a", type: "prompt", content, promptId: "p-1", mode: "steer", model: "demo" },
    { id: 2, type: "interrupt" },
    { id: 3, type: "interrupt", turn: 4, reason: "enough", clearQueue: true },
    { id: 4, type: "unqueue", promptId: "p" },
    { id: 7, type: "restore", toSeq: 0 },
    { id: 8, type: "restore", toSeq: 12, conversation: true, files: false },
    { id: 5, type: "subscribe" },
    { id: 6, type: "subscribe", types: ["tool_args_delta"], verbose: false },
    { type: "synced", n: 3 },
  ])("is %j", (frame) => {
    expect(clientFrameSchema.parse(frame)).toEqual(frame);
  });

  it.each([
    null,
    5,
    [],
    "prompt",
    {},
    { id: 1 },
    { id: 1, type: "events", events: [] },
    { id: 1, type: "output", text: "I said so" },
    { type: "prompt", text: "hi" },
    { id: null, type: "prompt", text: "hi" },
    { id: 1.5, type: "prompt", text: "hi" },
    { id: "x".repeat(65), type: "interrupt" },
    { id: 1, type: "prompt", text: "" },
    { id: 1, type: "prompt", text: "hi", promptId: "a/b" },
    { id: 1, type: "prompt", text: "hi", mode: "now" },
    { id: 1, type: "prompt", text: "hi", by: { kind: "user", id: "somebody else" } },
    { id: 1, type: "interrupt", turn: 0 },
    { id: 1, type: "interrupt", reason: "x".repeat(1_001) },
    { id: 1, type: "unqueue" },
    { id: 1, type: "restore" },
    { id: 1, type: "restore", toSeq: -1 },
    { id: 1, type: "restore", toSeq: 1.5 },
    { id: 1, type: "subscribe", types: "all" },
    { type: "synced", n: -1 },
    { type: "synced" },
  ])("is not %j", (frame) => {
    expect(clientFrameSchema.safeParse(frame).success).toBe(false);
  });

  it("never has the type of an event", () => {
    const types = clientFrameSchema.options.map((option) => option.shape.type.value);
    expect(types.filter(isEventType)).toEqual(["interrupt"]);
  });
});

describe("a body", () => {
  it("of a prompt has either text or content", () => {
    expect(promptBodySchema.safeParse({ text: "hi" }).success).toBe(true);
    expect(promptBodySchema.safeParse({ content }).success).toBe(true);
    expect(promptBodySchema.safeParse({}).success).toBe(false);
    expect(promptBodySchema.safeParse({ text: "hi", content }).success).toBe(false);
  });

  it("of an interrupt may be empty, and has no other fields", () => {
    expect(interruptBodySchema.parse({})).toEqual({});
    expect(interruptBodySchema.safeParse({ force: true }).success).toBe(false);
  });
});

describe("the WebSocket", () => {
  it("has close codes that its users can rely on", () => {
    expect(WEBSOCKET_PROTOCOL).toBe("light-agent.v1");
    expect(CLOSE).toEqual({
      protocolError: 4000,
      credential: 4001,
      tooSlow: 4008,
      replaced: 4009,
      deleted: 4404,
      restart: 1012,
    });
  });

  it("names open blocks by their place", () => {
    const block = { turn: 1, step: 1, attempt: 1001, block: 2, kind: "tool_args", text: "" };
    expect(partialBlockSchema.parse(block)).toEqual(block);
    expect(partialBlockSchema.safeParse({ ...block, kind: "image" }).success).toBe(false);
  });
});
