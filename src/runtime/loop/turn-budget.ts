import type { Budget } from "../protocol/agent-definition.ts";

/** What bounds one turn: its agent's and its session's budget, and what the tenant's has left for it, in tokens. */
export interface TurnBudget extends Budget {
  readonly tenantTokens?: number;
}

/** Tokens used so far, by the turn and by the session over its life, the turn included. */
export interface Spent {
  readonly turn: number;
  readonly session: number;
}

/**
 * What stands against one more model call; null when nothing does. A call reserves what it is expected to take: one
 * that would not fit any more is not begun, and the first of a turn is, so that no prompt is answered with nothing.
 * @param reserve tokens that the call is expected to take; 0 when nothing is known yet
 */
export function overBudget(budget: TurnBudget, spent: Spent, reserve: number): string | null {
  const { turnTokens, sessionTokens, tenantTokens } = budget;
  // Nothing is reserved for a turn's first call.
  const next = spent.turn === 0 ? 0 : reserve;
  if (isOver(turnTokens, spent.turn, next)) return `The turn used ${spent.turn} of ${turnTokens} tokens.`;
  if (isOver(sessionTokens, spent.session, next)) {
    return `The session used ${spent.session} of ${sessionTokens} tokens.`;
  }
  if (isOver(tenantTokens, spent.turn, next)) {
    return `The tenant's budget had ${tenantTokens} tokens left for the turn.`;
  }
  return null;
}

function isOver(limit: number | undefined, spent: number, next: number): boolean {
  return limit !== undefined && (spent >= limit || spent + next > limit);
}
