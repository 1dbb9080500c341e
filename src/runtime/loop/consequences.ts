import type { DurableBody, DurableEvent, ToolCall } from "../protocol/durable-events.ts";
import { applyEvent } from "../protocol/session-fold.ts";
import type { CallState, SessionFold } from "../protocol/session-fold.ts";
import type { GateDecision } from "./call-gate.ts";
import { nextAction } from "./next-action.ts";
import type { Action, ActionSettings } from "./next-action.ts";

/** What facts need beside what decides them. */
export interface FactSettings {
  /** The digest of a call's arguments, to which an approval binds. */
  digestOf(call: ToolCall): string;
  /** The arguments as people and audits may see them. */
  redact(args: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/**
 * What becomes true together with some events: as long as the next action is only a fact (a call begins, is refused,
 * is asked about, prompts enter, the turn ends), the fact belongs to the same commit. So a step costs one row for its
 * reply and one for its results, and no crash can fall between a fact and its consequence.
 */
export function withConsequences(
  state: SessionFold,
  bodies: readonly DurableBody[],
  settings: ActionSettings & FactSettings,
): DurableBody[] {
  const all = [...bodies];
  let fold = all.reduce(preview, state);
  let { waiting } = settings;
  while (fold.open) {
    const action = nextAction(fold, { ...settings, waiting });
    const facts = factsOf(action, fold, settings);
    if (facts.length === 0) break;
    all.push(...facts);
    fold = facts.reduce(preview, fold);
    if (action.type === "take_prompts")
      waiting = waiting.filter((prompt) => !action.prompts.includes(prompt));
  }
  return all;
}

/** The fold as it will be: the envelope's `seq` and `at` do not decide anything before the commit. */
function preview(state: SessionFold, body: DurableBody): SessionFold {
  return applyEvent(state, { seq: state.head + 1, at: state.at, ...body } as DurableEvent);
}

interface Place {
  readonly turn: number;
  readonly step: number;
}

function factsOf(action: Action, state: SessionFold, settings: ActionSettings & FactSettings): DurableBody[] {
  const turn = state.open;
  if (!turn) return [];
  const place = { turn: turn.turn, step: turn.step };
  switch (action.type) {
    case "take_prompts":
      return action.prompts.map(({ promptId, content, by, mode }) => ({
        type: "steer",
        turn: turn.turn,
        step: action.step,
        promptId,
        content,
        by,
        mode: mode === "follow_up" ? "follow_up" : "steer",
      }));
    case "refuse_calls":
      return action.refusals.map(({ call, code, content }) => ({
        type: "tool_result",
        ...place,
        callId: call.id,
        name: call.name,
        content,
        isError: true,
        code,
        durationMs: 0,
      }));
    case "decide_calls":
      return action.decisions.map((decision) => decisionFact(decision, place, settings));
    case "close_requests":
      return action.calls.map((call) => closingFact(call, action.decision, action.by, place));
    case "start_calls":
      return action.calls.flatMap(({ call }) => startFacts(call, place, settings));
    case "answer_calls":
      return action.calls.map((call) => answerFact(call, place, settings.now));
    case "fail":
      return [{ type: "error", ...place, code: action.code, message: action.message, fatal: true }];
    case "end": {
      const { reason, cause, message } = action;
      const told = message === undefined ? {} : { message };
      const promptIds = [...turn.promptIds];
      return [{ type: "agent_stop", ...place, reason, cause, ...told, promptIds, usage: turn.usage }];
    }
    case "rest":
    case "open_turn":
    case "call_model":
    case "compact":
    case "finish_calls":
    case "await_person":
      return [];
  }
}

function decisionFact(
  decision: GateDecision,
  place: Place,
  settings: ActionSettings & FactSettings,
): DurableBody {
  const { call, verdict } = decision;
  const why = verdict.reason === undefined ? {} : { reason: verdict.reason };
  if (decision.kind === "permission") {
    return {
      type: "permission_decision",
      ...place,
      callId: call.id,
      decision: decision.decision,
      source: decision.source,
      ...(verdict.ruleId === undefined ? {} : { ruleId: verdict.ruleId }),
      ...why,
      ...(decision.simulated ? { simulated: true } : {}),
    };
  }
  return {
    type: "approval_request",
    ...place,
    approvalId: `approval_${call.id}`,
    callId: call.id,
    name: call.name,
    args: settings.redact(call.args),
    digest: settings.digestOf(call),
    policyVersion: decision.policyVersion,
    ...why,
    expiresAt: settings.now + settings.requestMs,
  };
}

function closingFact(
  { call, approval, question }: CallState,
  decision: "expired" | "cancelled",
  by: DurableEvent<"approval_resolved">["by"],
  place: Place,
): DurableBody {
  if (approval?.open) {
    const { id: approvalId, digest } = approval;
    return { type: "approval_resolved", ...place, approvalId, callId: call.id, decision, digest, by };
  }
  return {
    type: "input_resolved",
    ...place,
    inputId: question?.id ?? "",
    callId: call.id,
    cancelled: true,
    by,
  };
}

/** A tool that asks a person runs nowhere: its question is part of its beginning. */
function startFacts(call: ToolCall, place: Place, settings: ActionSettings): DurableBody[] {
  const start: DurableBody = { type: "tool_call_start", ...place, callId: call.id, name: call.name };
  if (!settings.tool(call.name)?.checkQuestion) return [start];
  const question = { inputId: `input_${call.id}`, callId: call.id, question: { ...call.args } };
  return [start, { type: "input_request", ...place, ...question }];
}

function answerFact({ call, question }: CallState, place: Place, now: number): DurableBody {
  const durationMs = Math.max(0, now - (question?.askedAt ?? now));
  const result = { type: "tool_result" as const, ...place, callId: call.id, name: call.name, durationMs };
  const answer = question?.answer;
  if (!answer)
    return { ...result, content: "Nobody answered the question.", isError: true, code: "unanswered" };
  const selected = (answer.selected ?? []).map((option) => `- ${option}`);
  const content = [answer.text ?? "", ...selected].filter((line) => line !== "").join("\n");
  return { ...result, content: content === "" ? "(an empty answer)" : content, isError: false };
}
