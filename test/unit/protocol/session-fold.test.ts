import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inForce } from "../../../src/runtime/protocol/conversation.ts";
import { durablePayloads } from "../../../src/runtime/protocol/durable-events.ts";
import type { DurableEvent, DurableType } from "../../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../../src/runtime/protocol/log-grammar.ts";
import { toModelMessages } from "../../../src/runtime/protocol/model-messages.ts";
import {
  EMPTY_FOLD,
  applyEvent,
  foldSession,
  waitsForPerson,
} from "../../../src/runtime/protocol/session-fold.ts";
import type { SessionFold } from "../../../src/runtime/protocol/session-fold.ts";
import { NO_USAGE, addUsage } from "../../../src/runtime/protocol/usage.ts";
import { logOf } from "../support/log-builder.ts";
import { corruptLogs, cutLogs, wellFormedLogs } from "../support/log-generator.ts";

const anyLogs = fc.oneof(wellFormedLogs, cutLogs, corruptLogs);
const TYPES = Object.keys(durablePayloads) as DurableType[];
const PROGRESS = new Set(["input", "agent_trace", "tool_result", "approval_resolved", "input_resolved"]);
const ofSession = (log: readonly DurableEvent[]): DurableEvent[] =>
  log.filter((event) => event.agentId === undefined);

describe("folds of any log", () => {
  it("[LOG-2] never throw, on a whole, cut or corrupt log", () => {
    fc.assert(
      fc.property(anyLogs, (log) => {
        foldSession(log);
        toModelMessages(log);
        inForce(log);
        checkLog(log);
      }),
      { numRuns: 1_000 },
    );
  });

  it("[LOG-3] fold a prefix and then the rest to the same state as the whole", () => {
    fc.assert(
      fc.property(anyLogs, fc.nat({ max: 1_000 }), (log, at) => {
        const cut = at % (log.length + 1);
        expect(foldSession(log.slice(cut), foldSession(log.slice(0, cut)))).toEqual(foldSession(log));
      }),
      { numRuns: 500 },
    );
  });

  it("[LOG-3] survive a round trip through JSON at any cut, as a snapshot does", () => {
    fc.assert(
      fc.property(cutLogs, fc.nat({ max: 1_000 }), (log, at) => {
        const cut = at % (log.length + 1);
        const stored: SessionFold = JSON.parse(JSON.stringify(foldSession(log.slice(0, cut))));
        expect(foldSession(log.slice(cut), stored)).toEqual(foldSession(log));
      }),
      { numRuns: 200 },
    );
  });

  it("[LOG-4] leave everything but the head alone for unknown types and other agents' events", () => {
    fc.assert(
      fc.property(cutLogs, fc.constantFrom("of_the_future", ...TYPES), (log, type) => {
        const state = foldSession(log);
        const place = { seq: state.head + 1, at: 77, turn: state.turn + 3, step: state.step + 3, toSeq: 0 };
        const [event] =
          type === "of_the_future" ? [{ type, ...place }] : logOf([type, { ...place, agentId: "helper" }]);
        const foreign = event as DurableEvent;
        expect(applyEvent(state, foreign)).toEqual({
          ...state,
          head: state.head + 1,
          at: 77,
        });
        expect(checkLog([...log, foreign])).toEqual([]);
        expect(toModelMessages([...log, foreign])).toEqual(toModelMessages(log));
      }),
      { numRuns: 200 },
    );
  });
});

describe("the state of a session", () => {
  it("[LOG-5] never goes back in seq, turn or usage, whatever is restored", () => {
    fc.assert(
      fc.property(wellFormedLogs, (log) => {
        let state = EMPTY_FOLD;
        for (const event of log) {
          const next = applyEvent(state, event);
          expect(next.head).toBe(state.head + 1);
          expect(next.turn).toBeGreaterThanOrEqual(state.turn);
          expect(next.usage.input).toBeGreaterThanOrEqual(state.usage.input);
          expect(next.usage.output).toBeGreaterThanOrEqual(state.usage.output);
          state = next;
        }
      }),
      { numRuns: 300 },
    );
  });

  it("agrees with a plain scan of the log", () => {
    fc.assert(
      fc.property(cutLogs, (log) => {
        const state = foldSession(log);
        const own = ofSession(log);
        const traces = own.filter((event) => event.type === "agent_trace");
        expect(state.usage).toEqual(traces.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE));
        const lastInput = own.findLast((event) => event.type === "input");
        const lastStop = own.findLast((event) => event.type === "agent_stop");
        expect(state.turn).toBe(lastInput?.turn ?? 0);
        expect(state.lastStop).toBe(lastStop?.reason ?? null);
        const open = lastInput && lastInput.seq > (lastStop?.seq ?? 0);
        expect(state.open?.firstSeq).toBe(open ? lastInput.seq : undefined);
        if (!state.open) return;
        const { calls, progressSeq, step, turn } = state.open;
        const progress = own.findLast((event) => PROGRESS.has(event.type) && event.turn === turn);
        expect(progressSeq).toBe(progress?.seq);
        const here = own.filter((event) => event.turn === turn && event.step === step);
        const asked = here.flatMap((event) => (event.type === "tool_calls" ? event.calls : []));
        expect(calls.map(({ call }) => call.id)).toEqual(asked.map(({ id }) => id));
        for (const { call, done, started, recovered } of calls) {
          const types = here
            .filter((event) => "callId" in event && event.callId === call.id)
            .map(({ type }) => type);
          expect({ done, started, recovered }).toEqual({
            done: types.includes("tool_result"),
            started: types.includes("tool_call_start"),
            recovered: types.includes("tool_recovered"),
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  it("[LOG-6] knows the summary in force, also after restores", () => {
    fc.assert(
      fc.property(cutLogs, (log) => {
        expect(foldSession(log).summarisedThrough).toBe(inForce(log).summary?.throughSeq ?? 0);
      }),
      { numRuns: 1_000 },
    );
  });

  it("[LOG-6] needs nothing before the summary in force for the model's input", () => {
    fc.assert(
      fc.property(cutLogs, (log) => {
        const { summarisedThrough } = foldSession(log);
        const rest = log.filter((event) => event.seq > summarisedThrough);
        expect(toModelMessages(rest)).toEqual(toModelMessages(log));
      }),
      { numRuns: 1_000 },
    );
  });

  it("begins a step with a summary, a steer or a background result before its model call", () => {
    const log = logOf(
      ["input"],
      ["output", { step: 1, text: "first" }],
      ["agent_trace", { step: 1 }],
      ["agent_summary", { step: 2, fromSeq: 1, throughSeq: 3 }],
    );
    expect(checkLog(log)).toEqual([]);
    const { open } = foldSession(log);
    expect(open).toMatchObject({ step: 2, reply: null, calls: [] });
  });
});

describe("a call that needs a person", () => {
  const asked = logOf(
    ["input"],
    ["tool_calls", { step: 1, calls: [{ id: "a", name: "move", args: { from: "x" } }] }],
    ["agent_trace", { step: 1, finishReason: "tool_calls" }],
    ["approval_request", { step: 1, callId: "a", approvalId: "ap" }],
  );
  const resolved = (more: Record<string, unknown>): SessionFold =>
    foldSession([
      ...asked,
      ...logOf(["approval_resolved", { step: 1, callId: "a", approvalId: "ap", ...more }]),
    ]);

  it("waits until somebody answers", () => {
    const { open } = foldSession(asked);
    expect(open && waitsForPerson(open)).toBe(true);
    const after = resolved({ decision: "allow" }).open;
    expect(after && waitsForPerson(after)).toBe(false);
  });

  it.each(["deny", "expired", "cancelled"])("keeps that the answer was %s", (decision) => {
    expect(resolved({ decision }).open?.calls[0]).toMatchObject({ approval: { open: false, decision } });
  });

  it("is up to the policy of now when it was allowed, with the arguments that were allowed", () => {
    const state = resolved({ decision: "allow", args: { from: "y" } }).open?.calls[0];
    expect(state).toMatchObject({ decision: null, approval: { open: false }, call: { args: { from: "y" } } });
  });
});
