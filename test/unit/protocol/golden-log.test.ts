import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inForce } from "../../../src/runtime/protocol/conversation.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { durableSchema } from "../../../src/runtime/protocol/events.ts";
import { checkLog } from "../../../src/runtime/protocol/log-grammar.ts";
import { toModelMessages } from "../../../src/runtime/protocol/model-messages.ts";
import { foldSession } from "../../../src/runtime/protocol/session-fold.ts";

/**
 * A log as the first version wrote it. It is stored in sessions for ever, so neither the fixture nor what is expected
 * of it changes: code that no longer reads it this way is wrong. New fields of a fold may be added to what it gives.
 */
const log: readonly DurableEvent[] = JSON.parse(readFileSync("test/fixtures/golden-log.json", "utf8"));

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

describe("a log of the first version", () => {
  it("[LOG-11] is well formed, and each event fits its schema as it stands", () => {
    expect(log).toHaveLength(24);
    expect(checkLog(log)).toEqual([]);
    for (const event of log) expect(durableSchema(event.type).parse(event)).toEqual(event);
  });

  it("[LOG-11] folds to the state that it had", () => {
    expect(foldSession(log)).toMatchObject({
      head: 24,
      at: 1767225623000,
      turn: 2,
      step: 2,
      open: null,
      usage: { input: 560, output: 67, cachedInput: 220, reasoning: 10 },
      windowTokens: 265,
      summarisedThrough: 0,
      lastStop: "aborted",
    });
  });

  it("[LOG-11] folds to the open turn that it had while calls ran", () => {
    expect(foldSession(log.slice(0, 8))).toMatchObject({
      head: 8,
      turn: 1,
      step: 1,
      lastStop: null,
      windowTokens: 150,
      open: {
        turn: 1,
        firstSeq: 1,
        promptIds: ["p1"],
        step: 1,
        reply: "tool_calls",
        calls: [
          {
            call: { id: "call_1_1_0" },
            decision: null,
            approval: null,
            question: null,
            started: true,
            done: false,
          },
          {
            call: { id: "call_1_1_1" },
            decision: null,
            approval: null,
            question: null,
            started: true,
            done: true,
          },
        ],
        interrupt: null,
        failure: null,
        usage: { input: 120, output: 30, cachedInput: 100, reasoning: 10 },
        progressSeq: 8,
      },
    });
  });

  it("[LOG-11] folds to the open turn that it had after a steer, and after an interrupt", () => {
    expect(foldSession(log.slice(0, 10)).open).toMatchObject({
      promptIds: ["p1", "p2"],
      step: 2,
      reply: null,
      calls: [],
    });
    expect(foldSession(log.slice(0, 21)).open).toMatchObject({
      turn: 2,
      firstSeq: 14,
      promptIds: ["p3"],
      step: 1,
      interrupt: { by: { kind: "user", id: "ana" }, reason: "wrong file" },
      progressSeq: 19,
    });
  });

  it("[LOG-11] gives the model the input that it gave", () => {
    expect(toModelMessages(log)).toEqual([
      user("Where is parse defined?"),
      {
        role: "assistant",
        blocks: [
          {
            kind: "thought",
            text: "Search, and read the likely file.",
            providerData: { signature: "c2lnbmVk" },
          },
          { kind: "text", text: "I will look." },
        ],
        calls: [
          {
            id: "call_1_1_0",
            name: "grep",
            args: { _intent: "find the definition", pattern: "function parse" },
          },
          { id: "call_1_1_1", name: "read_file", args: { path: "src/parse.ts" } },
        ],
      },
      {
        role: "tool",
        callId: "call_1_1_0",
        name: "grep",
        content: "src/parse.ts:1: export function parse() {}",
        isError: false,
      },
      {
        role: "tool",
        callId: "call_1_1_1",
        name: "read_file",
        content: "1\texport function parse() {}",
        isError: false,
      },
      user("Answer in one line."),
      { role: "assistant", blocks: [{ kind: "text", text: "src/parse.ts, line 1 🎯" }], calls: [] },
      user("Rename it to parseAll."),
      {
        role: "assistant",
        blocks: [],
        calls: [
          {
            id: "call_2_1_0",
            name: "edit_file",
            args: { path: "src/parse.ts", edits: [{ old: "parse()", new: "parseAll()" }] },
          },
          { id: "call_2_1_1", name: "edit_file", args: {} },
        ],
      },
      {
        role: "tool",
        callId: "call_2_1_0",
        name: "edit_file",
        content: "Edited src/parse.ts.",
        isError: false,
      },
      {
        role: "tool",
        callId: "call_2_1_1",
        name: "edit_file",
        content: "Not executed: the arguments are not a complete JSON object.",
        isError: true,
      },
      { role: "assistant", blocks: [{ kind: "text", text: "I have renamed" }], calls: [] },
    ]);
  });

  it("[LOG-11] has all of its events in force, and after a restore those up to it", () => {
    expect(inForce(log)).toEqual({ summary: null, events: log });
    const by = { kind: "user", id: "ana" } as const;
    const restore: DurableEvent = {
      seq: 25,
      at: 1767225624000,
      turn: 2,
      step: 2,
      type: "checkpoint_restore",
      toSeq: 13,
      conversation: true,
      files: true,
      skipped: [],
      by,
    };
    expect(checkLog([...log, restore])).toEqual([]);
    expect(inForce([...log, restore])).toEqual({ summary: null, events: log.slice(0, 13) });
  });
});
