import { describe, expect, it } from "vitest";
import { auditOf } from "../../../src/durable/session-audit.ts";
import type { DurableType } from "../../../src/runtime/protocol/durable-events.ts";
import { SYSTEM } from "../../../src/runtime/protocol/principal.ts";
import { DURABLE_EXAMPLES } from "../support/event-examples.ts";
import { logOf } from "../support/log-builder.ts";

const ALICE = { kind: "user", id: "alice" } as const;

/** The action that each type of event is, when a person has done it. */
const ACTIONS: Partial<Record<DurableType, string>> = {
  input: "session.prompt",
  steer: "session.prompt",
  prompt_dropped: "session.unqueue",
  interrupt: "session.interrupt",
  approval_resolved: "session.approve",
  input_resolved: "session.answer",
  checkpoint_restore: "session.restore",
};

describe("the audit of a session", () => {
  it.each(Object.keys(DURABLE_EXAMPLES) as DurableType[])("[LOG-83] says who did what, of %s", (type) => {
    const events = logOf([type, { ...DURABLE_EXAMPLES[type], by: ALICE, at: 77 }]);
    const action = ACTIONS[type];
    const line = { seq: 1, at: 77, by: ALICE, action, target: "session:one", result: "ok" };
    // The whole line: so neither a text nor an argument.
    expect(auditOf("one", events)).toEqual(action === undefined ? [] : [line]);
  });

  it("[LOG-83] tells a denial from what was cancelled or has expired, which nobody decided", () => {
    const decisions = (["allow", "deny", "cancelled", "expired"] as const).map(
      (decision) => ["approval_resolved", { decision, by: ALICE }] as const,
    );
    const cancelled = ["input_resolved", { cancelled: true, answer: undefined, by: ALICE }] as const;
    const actions = auditOf("one", logOf(...decisions, cancelled)).map(({ action }) => action);
    expect(actions).toEqual(["session.approve", "session.deny"]);
  });

  it("[LOG-83] leaves out what the product itself and other agents did", () => {
    const own = ["interrupt", { by: SYSTEM }] as const;
    const forwarded = ["input", { by: ALICE, agentId: "helper" }] as const;
    expect(auditOf("one", logOf(own, forwarded))).toEqual([]);
  });

  it("[LOG-83] of the same events is the same again, in their order", () => {
    const events = logOf(["input"], ["output"], ["interrupt"], ["agent_stop"]);
    expect(auditOf("one", events)).toEqual(auditOf("one", events));
    expect(auditOf("one", events).map(({ action }) => action)).toEqual([
      "session.prompt",
      "session.interrupt",
    ]);
  });
});
