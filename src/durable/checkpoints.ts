import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { LogStore } from "./log-store.ts";
import { numberBefore, toPage } from "./pages.ts";
import type { Page, PageQuery } from "./tenant-management-api.ts";
import type { TurnBeginning, TurnStore } from "./turn-store.ts";

/** The point just before a turn. */
export interface Checkpoint {
  readonly turn: number;
  /** To where a restore makes the conversation what it was then: 0, or the `seq` of an `agent_stop`. */
  readonly seq: number;
  /** When the turn began, in ms since the epoch. */
  readonly at: number;
  /** How its prompt begins. */
  readonly preview: string;
  /** Null when it is not known. */
  readonly workspaceVersion: number | null;
}

/** The checkpoints of a session, newest first. Reads 3 rows for each, more where a restore preceded the turn. */
export function listCheckpoints(log: LogStore, turns: TurnStore, page: PageQuery): Page<Checkpoint> {
  const beginnings = turns.beginnings(numberBefore(page), page.limit + 1);
  const view = (beginning: TurnBeginning): Checkpoint => {
    const { turn, firstSeq, preview, workspaceVersion } = beginning;
    const at = log.at(firstSeq)?.at ?? 0;
    return { turn, seq: conversationAt(log, beginning), at, preview, workspaceVersion };
  };
  return toPage(beginnings, page, view, ({ turn }) => String(turn));
}

/** The end of the turn before, or where a restore had gone back to since. */
function conversationAt(log: LogStore, { firstSeq, endBefore }: TurnBeginning): number {
  let seq = endBefore;
  if (firstSeq === endBefore + 1) return seq;
  for (const event of log.read(endBefore)) {
    if (event.seq >= firstSeq) break;
    if (event.type === "checkpoint_restore" && event.conversation) seq = event.toSeq;
  }
  return seq;
}

/**
 * The number of the turn that ended at a `seq`; 0 for the beginning. Reads 1 row.
 * @throws LightAgentError `invalid_request` for any other `seq`
 */
export function turnEndedAt(log: LogStore, seq: number): number {
  if (seq === 0) return 0;
  const event = log.at(seq);
  if (event?.type === "agent_stop" && event.agentId === undefined) return event.turn;
  throw new LightAgentError("invalid_request", "Neither 0 nor the `seq` of an `agent_stop`.", { seq });
}
