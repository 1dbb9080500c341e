import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newRun } from "../../../src/api/ag-ui/run-events.ts";
import { runWriter } from "../../../src/api/ag-ui/run-writer.ts";
import { toRunMessages } from "../../../src/api/ag-ui/thread-messages.ts";
import { toUiMessageChunks } from "../../../src/api/ai-sdk/ui-message-chunks.ts";
import { toUiMessages } from "../../../src/api/ai-sdk/ui-messages.ts";
import type { StreamFrame } from "../../../src/api/turn-changes.ts";
import { logOf } from "../support/log-builder.ts";
import { corruptLogs, cutLogs } from "../support/log-generator.ts";
import { changesOf, framesFrom, visits } from "../support/turn-connections.ts";

describe("the changes of a turn", () => {
  it("[LOG-2] no log makes them, or what other protocols make of them, throw", () => {
    fc.assert(
      fc.property(fc.oneof(corruptLogs, cutLogs), fc.nat({ max: 4 }), (log, turn) => {
        const frames = [...log, { type: "live" as const, head: log.at(-1)?.seq ?? 0, partial: [] }];
        const { changes } = changesOf({ after: 0, of: { turn } }, frames);
        const writer = runWriter(newRun({ threadId: "t", runId: "r" }, []));
        for (const change of changes) {
          toUiMessageChunks(change);
          writer.write(change);
        }
        toUiMessages(log);
        toRunMessages(log, Number.POSITIVE_INFINITY);
      }),
      { numRuns: 300 },
    );
  });

  it("[AISDK-2] [AGUI-2] frames that come twice change nothing", () => {
    fc.assert(
      fc.property(visits, ({ moments, input, from }) => {
        const query = { after: input.seq - 1, of: { promptId: input.promptId } };
        const frames = framesFrom(moments, from, query.after);
        const twice = frames.flatMap((frame): StreamFrame[] =>
          frame.type === "live" ? [frame] : [frame, frame],
        );
        expect(changesOf(query, twice).changes).toEqual(changesOf(query, frames).changes);
      }),
      { numRuns: 100 },
    );
  });

  it("[AISDK-2] [AGUI-2] a turn that is not there, or a prompt that was withdrawn, ends at once", () => {
    const live = { type: "live" as const, head: 1, partial: [] };
    expect(changesOf({ after: 0, of: { turn: 7 } }, [...logOf(["input"]), live]).changes).toEqual([
      { type: "dropped" },
    ]);
    const log = logOf(["prompt_dropped", { promptId: "p1" }]);
    expect(changesOf({ after: 0, of: { promptId: "p1" } }, log).changes).toEqual([{ type: "dropped" }]);
    // A prompt that waits has not come yet.
    expect(changesOf({ after: 0, of: { promptId: "p8" } }, [...log, live]).changes).toEqual([]);
  });

  it("[AISDK-3] [AGUI-3] a turn waits when every call that is left asks, and not in the midst of a replay", () => {
    const calls = [
      { id: "a", name: "read_file", args: {} },
      { id: "b", name: "read_file", args: {} },
    ];
    const log = logOf(
      ["input"],
      ["tool_calls", { step: 1, calls }],
      ["agent_trace", { step: 1, finishReason: "tool_calls" }],
      ["tool_call_start", { step: 1, callId: "b" }],
      ["approval_request", { step: 1 }],
      ["tool_result", { step: 1, callId: "b" }],
    );
    const query = { after: 0, of: { turn: 1 } };
    const ends = (count: number): string | undefined =>
      changesOf(query, [...log.slice(0, count), { type: "live", head: count, partial: [] }]).changes.at(-1)
        ?.type;
    expect(changesOf(query, log).changes.at(-1)?.type).toBe("result");
    expect([ends(4), ends(5), ends(6)]).toEqual(["event", "event", "wait"]);
  });

  it("[AISDK-3] arguments that a person put in the place of the model's are told before the answer", () => {
    const call = { id: "a", name: "read_file", args: { path: "x" } };
    const log = logOf(
      ["input"],
      ["tool_calls", { step: 1, calls: [call] }],
      ["agent_trace", { step: 1, finishReason: "tool_calls" }],
      ["approval_request", { step: 1 }],
      ["approval_resolved", { step: 1, args: { path: "y" } }],
    );
    const chunks = changesOf({ after: 0, of: { turn: 1 } }, log).changes.flatMap(toUiMessageChunks);
    expect(chunks.slice(-2)).toMatchObject([
      { type: "tool-input-available", toolCallId: "a", input: { path: "y" } },
      { type: "tool-approval-response", approved: true },
    ]);
  });
});
