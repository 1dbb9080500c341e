import type { DurableEvent, ToolCall } from "./durable-events.ts";

/** An event about one call. */
export type CallEvent = Extract<DurableEvent, { callId: string }>;

type Stage = "called" | "asked" | "answered" | "decided" | "started" | "questioned" | "recovered" | "done";

/** How far one call has come, and what that rules out. */
export interface CallProgress {
  stage: Stage;
  /** Why the call must not start; null while it may. */
  barred: string | null;
  started: boolean;
  approvalId?: string;
  inputId?: string;
}

/** The grammar of a call: after which stages an event may come, and the stage that it leads to. */
const STEPS: { readonly [T in CallEvent["type"]]: { readonly after: readonly Stage[]; readonly to: Stage } } =
  {
    approval_request: { after: ["called"], to: "asked" },
    approval_resolved: { after: ["asked"], to: "answered" },
    permission_decision: { after: ["called", "answered"], to: "decided" },
    tool_call_start: { after: ["called", "answered", "decided"], to: "started" },
    input_request: { after: ["started"], to: "questioned" },
    input_resolved: { after: ["questioned"], to: "started" },
    tool_recovered: { after: ["started"], to: "recovered" },
    tool_result: { after: ["called", "answered", "decided", "started", "recovered"], to: "done" },
  };

export function newProgress(call: ToolCall): CallProgress {
  const barred = call.malformed === undefined ? null : "malformed";
  return { stage: "called", barred, started: false };
}

/** Moves a call on. Returns what the event breaks; the call goes on as if it had been in order. */
export function advanceCall(call: CallProgress, event: CallEvent): string[] {
  const broken = contradictions(call, event);
  const { after, to } = STEPS[event.type];
  if (!after.includes(call.stage)) broken.push(`comes after "${call.stage}"`);
  call.stage = to;
  if (event.type === "approval_request") call.approvalId = event.approvalId;
  if (event.type === "input_request") call.inputId = event.inputId;
  if (event.type === "tool_call_start") call.started = true;
  const denies =
    (event.type === "approval_resolved" && event.decision !== "allow") ||
    (event.type === "permission_decision" && event.decision === "deny");
  if (denies) call.barred = "denied";
  return broken;
}

function contradictions(call: CallProgress, event: CallEvent): string[] {
  switch (event.type) {
    case "approval_resolved":
      return event.approvalId === call.approvalId ? [] : [`answers approval ${event.approvalId}`];
    case "input_resolved":
      return event.inputId === call.inputId ? [] : [`answers question ${event.inputId}`];
    case "permission_decision":
      return event.decision === "allow" && call.barred === "denied" ? ["allows what a person denied"] : [];
    case "tool_call_start":
      return call.barred === null ? [] : [`starts a call that is ${call.barred}`];
    case "tool_result":
      if (event.code === "not_executed" && call.started) return ["says that a started call was not executed"];
      return event.code === "outcome_unknown" && !call.started
        ? ["does not know the outcome of no start"]
        : [];
    case "approval_request":
    case "input_request":
    case "tool_recovered":
      return [];
  }
}
