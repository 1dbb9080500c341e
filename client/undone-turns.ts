import type { Turn } from "./conversation.ts";

/** The turns that were in the conversation at a point, the last one first. */
interface Told {
  readonly turn: number;
  readonly before: Told | null;
}

/**
 * The turns that no longer belong to the conversation, since it was taken back to before them: after a restore it is
 * what it was at that point, itself after restores. A point before the first turn that is loaded is the beginning.
 */
export function undoneTurns(turns: readonly Turn[]): ReadonlySet<number> {
  const told = new Map<number, Told>();
  let now: Told | null = null;
  let restored = false;
  for (const { turn, entries } of turns) {
    const here: Told = { turn, before: now };
    now = here;
    for (const entry of entries) {
      if (entry.kind === "stop") told.set(Number(entry.key), here);
      if (entry.kind !== "restore" || !entry.conversation) continue;
      restored = true;
      now = told.get(entry.toSeq) ?? null;
    }
  }
  if (!restored) return new Set();
  const undone = new Set(turns.map(({ turn }) => turn));
  for (let at = now; at; at = at.before) undone.delete(at.turn);
  return undone;
}
