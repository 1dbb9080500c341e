import type { DurablePayload, DurableType } from "../../../src/runtime/protocol/durable-events.ts";
import type { Principal } from "../../../src/runtime/protocol/principal.ts";
import type { CallScript } from "./session-script.ts";

/** An event about a call, before the log gives it a place. */
export type CallBody = { [T in DurableType]: { type: T } & DurablePayload<T> }[
  | "approval_request"
  | "approval_resolved"
  | "permission_decision"
  | "tool_call_start"
  | "input_request"
  | "input_resolved"
  | "tool_recovered"
  | "tool_result"];

const BY: Principal = { kind: "user", id: "decider" };
const NAME = "read_file";

/** The events of one call from its approval to its result. `barred`: its reply was cut, so that it must not start. */
export function planCall(script: CallScript, index: number, callId: string, barred: boolean): CallBody[] {
  if (script.malformed || barred) {
    return [resultBody(callId, true, script.malformed ? "malformed_arguments" : "truncated")];
  }
  const denied = (script.approval ?? "allow") !== "allow" || script.decision === "deny";
  const bodies = [...approvalBodies(script, index, callId)];
  if (denied || !script.starts)
    return [...bodies, resultBody(callId, true, denied ? "denied" : "unknown_tool")];
  bodies.push({ type: "tool_call_start", callId, name: NAME });
  script.questions.forEach((outcome, number) => bodies.push(...questionBodies(outcome, number, callId)));
  if (script.recovered)
    bodies.push({ type: "tool_recovered", callId, name: NAME, outcome: script.recovered });
  const unknown = script.recovered === "unknown";
  return [...bodies, resultBody(callId, unknown || script.isError, unknown ? "outcome_unknown" : undefined)];
}

/** What still has to be written of a call when its turn is stopped, after some of its plan has been. */
export function settleCall(written: readonly CallBody[], rest: readonly CallBody[]): CallBody[] {
  const [next] = rest;
  if (!next) return [];
  const last = written.at(-1);
  const { callId } = next;
  const closing: CallBody[] = [];
  if (last?.type === "approval_request") {
    const { approvalId, digest } = last;
    closing.push({ type: "approval_resolved", approvalId, callId, decision: "cancelled", digest, by: BY });
  }
  if (last?.type === "input_request") {
    closing.push({ type: "input_resolved", inputId: last.inputId, callId, cancelled: true, by: BY });
  }
  const started = written.some((body) => body.type === "tool_call_start");
  return [...closing, resultBody(callId, true, started ? "outcome_unknown" : "not_executed")];
}

function approvalBodies(script: CallScript, index: number, callId: string): CallBody[] {
  const { approval, decision } = script;
  const bodies: CallBody[] = [];
  if (approval) {
    const approvalId = `approval_${callId}`;
    const digest = `digest_${index}`;
    const asked = { approvalId, callId, name: NAME, args: {}, digest, policyVersion: "1", expiresAt: 9_000 };
    bodies.push({ type: "approval_request", ...asked });
    bodies.push({ type: "approval_resolved", approvalId, callId, decision: approval, digest, by: BY });
  }
  const allowed = (approval ?? "allow") === "allow";
  if (decision) {
    const source = approval ? "user" : "policy";
    bodies.push({ type: "permission_decision", callId, decision: allowed ? decision : "deny", source });
  }
  return bodies;
}

function questionBodies(outcome: "answered" | "cancelled", number: number, callId: string): CallBody[] {
  const inputId = `input_${callId}_${number}`;
  const answer = outcome === "answered" ? { answer: { text: "yes" } } : { cancelled: true };
  return [
    { type: "input_request", inputId, callId, question: { question: "Sure?" } },
    { type: "input_resolved", inputId, callId, ...answer, by: BY },
  ];
}

function resultBody(callId: string, isError: boolean, code: string | undefined): CallBody {
  const content = isError ? "it failed" : `result of ${callId}`;
  const coded = code === undefined ? {} : { code };
  return { type: "tool_result", callId, name: NAME, content, isError, ...coded, durationMs: 3 };
}
