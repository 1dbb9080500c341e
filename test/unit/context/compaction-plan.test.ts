import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planCompaction } from "../../../src/runtime/context/compaction.ts";
import { sizeOf } from "../../../src/runtime/context/event-size.ts";
import { inForce } from "../../../src/runtime/protocol/conversation.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../../src/runtime/protocol/log-grammar.ts";
import { toModelMessages } from "../../../src/runtime/protocol/model-messages.ts";
import { estimateTokens } from "../../../src/runtime/protocol/token-estimate.ts";
import { wellFormedLogs } from "../support/log-generator.ts";

const REASONS = fc.constantFrom(
  { kind: "auto" } as const,
  { kind: "overflow" } as const,
  { kind: "manual", instructions: "Heed it." } as const,
);

describe("the plan of a summary", () => {
  it("[CONTEXT-7] of any log cuts no reply and no call from its result, leaves what the model has not seen, and is the same again", () => {
    fc.assert(
      fc.property(
        wellFormedLogs,
        fc.integer({ min: 20, max: 5_000 }),
        fc.nat(),
        REASONS,
        (log, windowTokens, at, reason) => {
          const cut = log.slice(0, at % (log.length + 1));
          const plan = planCompaction(cut, windowTokens, reason);
          if (!plan) return;
          const again = planCompaction(cut, windowTokens, reason);
          const text = plan.text("gist");
          expect(again?.text("gist")).toBe(text);
          expect(JSON.stringify(again?.request)).toBe(JSON.stringify(plan.request));
          // Whatever the words, the summary and the request for it are a part of the window.
          expect(estimateTokens(plan.text("字".repeat(windowTokens)))).toBeLessThan(windowTokens * 0.5 + 60);
          const asked = JSON.stringify(plan.request.messages);
          expect(estimateTokens(asked)).toBeLessThan(windowTokens * 0.65 + 100);
          const last = cut.at(-1);
          if (!last || cut.some(({ type }) => type === "checkpoint_restore")) return;
          // Where the loop makes one: with every call settled, before the next reply.
          const open =
            cut.filter(({ type }) => type === "input").length >
            cut.filter(({ type }) => type === "agent_stop").length;
          const step = open ? last.step + 1 : last.step;
          const summary = {
            type: "agent_summary",
            seq: last.seq + 1,
            at: last.at,
            turn: last.turn,
            step,
            text,
            fromSeq: plan.fromSeq,
            throughSeq: plan.throughSeq,
            before: 1,
            after: 1,
            kind: reason.kind,
          } as DurableEvent;
          const wrong = checkLog([...cut, summary]).filter(({ message }) => message.startsWith("summary"));
          expect(wrong).toEqual([]);
          const messages = toModelMessages([...cut, summary]);
          const calls = messages.flatMap((message) =>
            message.role === "assistant" ? message.calls.map(({ id }) => id) : [],
          );
          const results = messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
          expect(results).toEqual(calls);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("[CONTEXT-1] of any log leaves a context that fits, where no single step is too large a part of the window", () => {
    let fitted = 0;
    fc.assert(
      fc.property(
        wellFormedLogs,
        fc.integer({ min: 400, max: 3_000 }),
        fc.nat(),
        (written, windowTokens, at) => {
          const log = written.slice(0, at % (written.length + 1)).map((event) =>
            // Text of a size that counts.
            event.type === "output" || event.type === "thought"
              ? { ...event, text: event.text.padEnd(200, "lorem ") }
              : event,
          );
          const steps = new Map<string, DurableEvent[]>();
          for (const event of inForce(log).events) {
            const place = `${event.turn} ${event.step}`;
            steps.set(place, [...(steps.get(place) ?? []), event]);
          }
          const largest = Math.max(0, ...[...steps.values()].map((events) => sizeOf(events)));
          const plan = planCompaction(log, windowTokens, { kind: "auto" });
          // What the model has not read yet stays, however much it is: at most this step's results and steers.
          if (!plan || largest > windowTokens * 0.2) return;
          fitted += 1;
          expect(plan.after(plan.text("gist ".repeat(windowTokens)))).toBeLessThanOrEqual(windowTokens + 60);
        },
      ),
      { numRuns: 1_000 },
    );
    expect(fitted).toBeGreaterThan(20);
  });
});
