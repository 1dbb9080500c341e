import fc from "fast-check";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { SOMEBODY, writeLog } from "./log-writer.ts";
import { sessionScripts } from "./session-script.ts";

/** Logs that the product could have written: every kind of event, calls in every state, restores into skipped spans. */
export const wellFormedLogs: fc.Arbitrary<DurableEvent[]> = sessionScripts.map(writeLog);

/** A well-formed log of which only a part has been written yet. */
export const cutLogs: fc.Arbitrary<DurableEvent[]> = fc
  .tuple(wellFormedLogs, fc.nat({ max: 1_000 }))
  .map(([log, at]) => log.slice(0, at % (log.length + 1)));

interface Damage {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly to: number;
}

const KINDS = [
  "cut_head",
  "cut_tail",
  "drop",
  "duplicate",
  "move",
  "unknown_type",
  "forward",
  "stray_restore",
  "stray_summary",
] as const;

const nat = fc.nat({ max: 1_000 });

/** Logs that nothing should have written, though each event alone is in order (or of a type that nobody knows). */
export const corruptLogs: fc.Arbitrary<DurableEvent[]> = fc
  .tuple(
    wellFormedLogs,
    fc.array(fc.record({ kind: fc.constantFrom(...KINDS), at: nat, to: nat }), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  .map(([log, damage]) => damage.reduce(applyDamage, log));

function applyDamage(log: DurableEvent[], { kind, at, to }: Damage): DurableEvent[] {
  const index = at % (log.length + 1);
  const target = to % (log.length + 1);
  const event = log[index];
  switch (kind) {
    case "cut_head":
      return log.slice(index);
    case "cut_tail":
      return log.slice(0, index);
    case "drop":
      return log.toSpliced(index, 1);
    case "duplicate":
      return event ? log.toSpliced(target, 0, event) : log;
    case "move":
      return event ? log.toSpliced(index, 1).toSpliced(target, 0, event) : log;
    case "unknown_type":
      return event
        ? log.toSpliced(index, 0, { ...event, type: "of_the_future", step: to } as unknown as DurableEvent)
        : log;
    case "forward":
      return event ? log.with(index, { ...event, agentId: "helper" }) : log;
    case "stray_restore":
      return log.toSpliced(index, 0, {
        ...stray(index),
        type: "checkpoint_restore",
        toSeq: to,
        conversation: true,
        files: false,
        skipped: [],
        by: SOMEBODY,
      });
    case "stray_summary":
      return log.toSpliced(index, 0, {
        ...stray(index),
        type: "agent_summary",
        text: "s",
        fromSeq: 0,
        throughSeq: to,
        before: 9,
        after: 1,
        kind: "auto",
      });
  }
}

function stray(index: number): { seq: number; at: number; turn: number; step: number } {
  return { seq: index + 1, at: 5, turn: index % 4, step: index % 3 };
}
