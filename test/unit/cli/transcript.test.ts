import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readArguments } from "../../../cli/arguments.ts";
import { Transcript } from "../../../cli/transcript.ts";
import { foldConversation } from "../../../client/conversation.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import type { PartialBlock } from "../../../src/runtime/protocol/frames.ts";
import { EMPTY_VIEW } from "../../../src/runtime/protocol/session-view.ts";
import { logOf } from "../support/log-builder.ts";
import { cutLogs } from "../support/log-generator.ts";

function snapshot(events: readonly DurableEvent[], blocks: readonly PartialBlock[] = []) {
  return { turns: foldConversation([], events), view: { ...EMPTY_VIEW, events, blocks } };
}

const block = (text: string): PartialBlock => ({
  turn: 1,
  step: 1,
  attempt: 1,
  block: 0,
  kind: "text",
  text,
});

describe("the transcript of a session", () => {
  it("[CLI-1] says text as it streams, and once", () => {
    const said = new Transcript();
    const input = logOf(["input", { content: [{ type: "text", text: "go" }] }]);
    expect(said.next(snapshot(input))).toBe("> go\n");
    expect(said.next(snapshot(input, [block("Hel")]))).toBe("Hel");
    expect(said.next(snapshot(input, [block("Hello")]))).toBe("lo");
    const all = logOf(
      ["input"],
      ["output", { step: 1, attempt: 1, block: 0, text: "Hello." }],
      ["agent_trace", { step: 1 }],
      ["agent_stop", { step: 1, reason: "stop" }],
    );
    expect(said.next(snapshot(all))).toBe(".\n");
    expect(said.next(snapshot(all))).toBe("");
  });

  it("[CLI-1] says calls as they begin and end, and what went wrong", () => {
    const calls = [{ id: "c", name: "grep", args: { pattern: "x" }, intent: "to find x" }];
    const log = logOf(
      ["input"],
      ["tool_calls", { step: 1, calls }],
      ["agent_trace", { step: 1 }],
      [
        "tool_result",
        {
          step: 1,
          callId: "c",
          name: "grep",
          isError: true,
          content: "[what] No such file\nmore",
          durationMs: 7,
        },
      ],
      ["error", { step: 1, code: "model_auth", message: "Refused." }],
      ["agent_stop", { step: 1, reason: "error" }],
    );
    const said = new Transcript();
    expect(said.next(snapshot(log.slice(1, 3)))).toBe('• grep — to find x {"pattern":"x"}\n');
    expect(said.next(snapshot(log.slice(1)))).toBe(
      "  ✗ No such file (grep, 7 ms)\n! Refused. (model_auth)\n",
    );
  });

  it("[CLI-2] lets no reply steer the terminal", () => {
    const said = new Transcript().next(snapshot([], [block("a\u001b[2Jb\u0007\tc\nd\u009b1m")]));
    expect(said).toBe("a[2Jb\tc\nd1m");
  });

  it("[CLI-1] of any log says the same in whatever pieces it comes", () => {
    fc.assert(
      fc.property(cutLogs, fc.nat(), (log, at) => {
        const [whole, pieces] = [new Transcript(), new Transcript()];
        const cut = at % (log.length + 1);
        const first = pieces.next(snapshot(log.slice(0, cut)));
        const both = first + pieces.next(snapshot(log));
        const once = whole.next(snapshot(log));
        const words = (text: string): string[] =>
          text
            .split(/\s+/)
            .filter((word) => word.length > 1)
            .toSorted((a, b) => (a < b ? -1 : 1));
        // A call's end may be said apart from its beginning; nothing is said twice, and nothing is missing.
        expect(words(both)).toEqual(words(once));
      }),
    );
  });
});

describe("the arguments of the command", () => {
  it("[CLI-3] come from the command line, then the environment, and say what is missing", () => {
    const environment = { LIGHT_AGENT_URL: "https://agents.example.com/", LIGHT_AGENT_KEY: "la_x" };
    expect(readArguments(["-p", "hi", "--json"], environment)).toEqual({
      url: "https://agents.example.com",
      key: "la_x",
      session: null,
      agent: null,
      prompt: "hi",
      json: true,
    });
    expect(readArguments(["--help"], {})).toBe("help");
    expect(() => readArguments([], {})).toThrow("No key");
    expect(() => readArguments(["hi", "--key", "k"], {})).toThrow("--prompt");
    expect(() => readArguments(["--nonsense"], environment)).toThrow("--nonsense");
  });
});
