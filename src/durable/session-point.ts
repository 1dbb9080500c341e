/**
 * A point between two turns of a session, as a workspace needs to know it: what the session changes later comes after
 * it. Its log, and not the number of a version alone, says where the point is: a version may be unknown.
 */
export interface SessionPoint {
  /** The session and those that it was forked from: what any of them has changed on the branch is its own. */
  readonly sessions: readonly string[];
  /** The last turn before the point; 0 for none. */
  readonly turn: number;
  /** The last event before the point; 0 for none. */
  readonly seq: number;
  /** The branch's version at the point or soon after it, if it is known. */
  readonly version: number | null;
}

/** What the ids of calls that a model makes never begin with. */
export const RESTORE_PREFIX = "restore_";

/** Under which call id a workspace notes what a restore takes back. @param seq Of the `checkpoint_restore` event */
export function restoreCallId(seq: number): string {
  return `${RESTORE_PREFIX}${seq}`;
}

/**
 * The wake count that a restore writes with: above that of any process of the last turn, which it fences off, and
 * above those of earlier restores.
 */
export function restoreWakes(seq: number): number {
  return 2 ** 32 + seq;
}
