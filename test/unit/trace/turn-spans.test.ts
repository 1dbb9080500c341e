import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { turnSpans } from "../../../src/runtime/trace/turn-spans.ts";
import { logOf } from "../support/log-builder.ts";
import { corruptLogs, cutLogs } from "../support/log-generator.ts";

const SESSION = { id: "s", logId: "0f8fad5b-d9cb-469f-a165-70867728950e", agent: "helper", agentVersion: 3 };

describe("the spans of a turn", () => {
  it("[TRACE-1] are the turn, its model calls, its tool calls and its waits for a person", () => {
    const log = logOf(
      ["input", { at: 1_000 }],
      ["tool_calls", { step: 1, calls: [{ id: "c", name: "echo", args: { secret: "x" } }], at: 1_500 }],
      [
        "agent_trace",
        { step: 1, model: "openai/m", startedAt: 1_010, firstTokenAt: 1_260, endedAt: 1_490, at: 1_500 },
      ],
      ["approval_request", { step: 1, approvalId: "a", callId: "c", at: 1_500 }],
      ["approval_resolved", { step: 1, approvalId: "a", callId: "c", decision: "allow", at: 61_500 }],
      ["tool_call_start", { step: 1, callId: "c", name: "echo", at: 61_500 }],
      ["tool_result", { step: 1, callId: "c", name: "echo", isError: true, code: "timeout", at: 62_000 }],
      ["agent_stop", { step: 1, reason: "stop", cause: "model", at: 62_100 }],
    );
    const spans = turnSpans(SESSION, 1, log);
    const told = spans.map(({ name, kind, startTimeUnixNano, endTimeUnixNano, status }) => [
      name,
      kind,
      Number(startTimeUnixNano) / 1e6,
      Number(endTimeUnixNano) / 1e6,
      status.code,
    ]);
    expect(told).toEqual([
      ["invoke_agent helper", "INTERNAL", 1_000, 62_100, "OK"],
      ["chat openai/m", "CLIENT", 1_010, 1_490, "OK"],
      ["wait_for_approval", "INTERNAL", 1_500, 61_500, "OK"],
      ["execute_tool echo", "INTERNAL", 61_500, 62_000, "ERROR"],
    ]);
    const [turn, chat, , tool] = spans;
    expect(turn).toMatchObject({ traceId: "0f8fad5bd9cb469fa165708600000001", spanId: "0000000000000001" });
    expect(spans.slice(1).every(({ parentSpanId }) => parentSpanId === turn?.spanId)).toBe(true);
    expect(chat?.attributes).toMatchObject({
      "gen_ai.provider.name": "openai",
      "gen_ai.response.time_to_first_chunk": 0.25,
    });
    expect(tool?.attributes).toMatchObject({ "gen_ai.tool.call.id": "c", "error.type": "timeout" });
    expect(JSON.stringify(spans)).not.toContain("secret");
  });

  it("[TRACE-1] that goes on, or whose process has died, have no end", () => {
    const log = logOf(["input", {}], ["tool_call_start", { step: 1, callId: "c", name: "echo" }]);
    const spans = turnSpans(SESSION, 1, log);
    expect(spans.map(({ endTimeUnixNano }) => endTimeUnixNano)).toEqual([undefined, undefined]);
    expect(turnSpans(SESSION, 2, log)).toEqual([]);
  });

  it("[TRACE-2] can be told of any log, with ids that are unique, no end before its beginning, and no text", () => {
    fc.assert(
      fc.property(fc.oneof(cutLogs, corruptLogs), (log) => {
        const turns = new Set(log.map(({ turn }) => turn));
        for (const turn of turns) {
          const spans = turnSpans(SESSION, turn, log);
          for (const { startTimeUnixNano, endTimeUnixNano = startTimeUnixNano, traceId, spanId } of spans) {
            expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true);
            expect(`${traceId} ${spanId}`).toMatch(/^[0-9a-f]{32} [0-9a-f]{16}$/);
          }
          expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined).length).toBe(
            Math.min(1, spans.length),
          );
        }
      }),
    );
    fc.assert(
      fc.property(cutLogs, (log) => {
        const spans = [...new Set(log.map(({ turn }) => turn))].flatMap((turn) =>
          turnSpans(SESSION, turn, log),
        );
        const ids = spans.map(({ traceId, spanId }) => traceId + spanId);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });
});
