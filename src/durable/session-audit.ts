import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { SessionAct } from "./tenant-api.ts";

/**
 * What people did to a session in some events, as lines of the tenant's audit log: who and what, never what was
 * written. A fold of the log like everything else, so a report that is repeated is the same report.
 */
export function auditOf(session: string, events: readonly DurableEvent[]): SessionAct[] {
  return events.flatMap((event) => {
    const done = actOf(event);
    if (!done || event.agentId !== undefined || done.by.kind === "system") return [];
    return [
      {
        seq: event.seq,
        at: event.at,
        by: done.by,
        action: `session.${done.verb}`,
        target: `session:${session}`,
        result: "ok",
      },
    ];
  });
}

function actOf(event: DurableEvent): { by: Principal; verb: string } | null {
  switch (event.type) {
    case "input":
    case "steer":
      return { by: event.by, verb: "prompt" };
    case "prompt_dropped":
      return { by: event.by, verb: "unqueue" };
    case "interrupt":
      return { by: event.by, verb: "interrupt" };
    case "approval_resolved":
      return decisionOf(event);
    case "input_resolved":
      // What an interrupt cancels nobody has answered.
      return event.cancelled === true ? null : { by: event.by, verb: "answer" };
    case "checkpoint_restore":
      return { by: event.by, verb: "restore" };
    default:
      return null;
  }
}

function decisionOf({
  by,
  decision,
}: DurableEvent<"approval_resolved">): { by: Principal; verb: string } | null {
  if (decision === "allow") return { by, verb: "approve" };
  return decision === "deny" ? { by, verb: "deny" } : null;
}
