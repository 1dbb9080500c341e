import type { DurableBody, DurableEvent } from "../protocol/durable-events.ts";
import { applyEvent } from "../protocol/session-fold.ts";
import type { SessionFold } from "../protocol/session-fold.ts";
import { nextAction } from "./next-action.ts";
import type { Action, ActionSettings } from "./next-action.ts";

/**
 * What becomes true together with some events: as long as the next action is only a fact (a call begins, is refused,
 * prompts enter, the turn ends), the fact belongs to the same commit. So a step costs one row for its reply and one
 * for its results, and no crash can fall between a fact and its consequence.
 */
export function withConsequences(
  state: SessionFold,
  bodies: readonly DurableBody[],
  settings: ActionSettings,
): DurableBody[] {
  const all = [...bodies];
  let fold = all.reduce(preview, state);
  let { waiting } = settings;
  while (fold.open) {
    const action = nextAction(fold, { ...settings, waiting });
    const facts = factsOf(action, fold);
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

function factsOf(action: Action, state: SessionFold): DurableBody[] {
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
    case "start_calls":
      return action.calls.map(({ call }) => ({
        type: "tool_call_start",
        ...place,
        callId: call.id,
        name: call.name,
      }));
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
    case "finish_calls":
    case "await_person":
      return [];
  }
}
