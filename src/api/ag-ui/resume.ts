import type { SessionApi } from "../../durable/session-api.ts";
import { unwrapUnless } from "../../runtime/protocol/answer.ts";
import type { DurableEvent } from "../../runtime/protocol/durable-events.ts";
import { LightAgentError } from "../../runtime/protocol/errors.ts";
import type { Principal } from "../../runtime/protocol/principal.ts";
import type { TurnQuery } from "../turn-changes.ts";
import { wholeLog } from "../whole-log.ts";
import { answerOf, decisionOf } from "./run-request.ts";
import type { ResumeEntry } from "./run-request.ts";

const TYPES = ["input", "approval_request", "input_request"] as const;

/**
 * Gives a turn that waited its answers, each once, and says where it is to be followed: from the first of them on. An
 * answer of somebody else that came first is no error: the run shows what it was.
 * @throws LightAgentError `not_found` for an interrupt that is none of this session's
 */
export async function resumedTurn(
  session: SessionApi,
  entries: readonly ResumeEntry[],
  by: Principal,
): Promise<TurnQuery> {
  const log = await wholeLog(session, TYPES);
  // All are read before the first is answered: a bad one leaves the turn as it is.
  const answers = entries.map((entry) => {
    const request = log.find((event) => requestId(event) === entry.interruptId);
    if (request?.type === "approval_request") {
      return { request, key: request.approvalId, decision: decisionOf(entry) };
    }
    if (request?.type === "input_request") return { request, key: request.callId, answer: answerOf(entry) };
    throw new LightAgentError("not_found", "There is no such interrupt.");
  });
  const turn = Math.max(...answers.map(({ request }) => request.turn));
  const input = log.find((event) => event.type === "input" && event.turn === turn);
  for (const { request, decision, answer } of answers) {
    if (request.type === "approval_request") {
      if (decision) unwrapUnless("already_decided", await session.decide(request.approvalId, decision, by));
    } else if (answer) {
      unwrapUnless("already_decided", await session.answerQuestion(request.inputId, answer, by));
    }
  }
  const resumeAt = new Set(answers.map(({ key }) => key));
  return { after: (input?.seq ?? 1) - 1, of: { turn }, resumeAt };
}

function requestId(event: DurableEvent): string | null {
  if (event.agentId !== undefined) return null;
  if (event.type === "approval_request") return event.approvalId;
  return event.type === "input_request" ? event.inputId : null;
}
