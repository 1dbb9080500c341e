import type { Principal } from "../runtime/protocol/principal.ts";
import type { CreateSession } from "./session-api.ts";

/** What a session was created with and has been told since: a row of `meta`. */
export interface SessionSettings extends CreateSession {
  /** Names this log: a cursor of another log means nothing in it. */
  readonly logId: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** How often the session woke and found its open turn without an owner: a row of `meta`. */
export interface Recovery {
  readonly turn: number;
  readonly progressSeq: number;
  readonly wakes: number;
  /** Wakes since `progressSeq` that nothing explains but a crash. */
  readonly stalls: number;
}

/** A turn that waits until its model may be asked again (ms since the epoch): a row of `meta`. */
export interface Parked {
  readonly turn: number;
  readonly retryAt: number;
}

/** A restore that has been accepted and not come to its end: a row of `meta`. */
export interface RestoreIntent {
  readonly toSeq: number;
  /** The turn that ended there. */
  readonly turn: number;
  readonly conversation: boolean;
  readonly files: boolean;
  readonly by: Principal;
  /** What the `checkpoint_restore` will be numbered: nothing else is written before it. */
  readonly seq: number;
  /** How often the workspace was asked. */
  readonly tries: number;
}

/** A fork of this session, and up to where its past is this one's: in a row of `meta`. */
export interface KnownFork {
  readonly session: string;
  readonly throughSeq: number;
}

/** That the session is deleted: a row of `meta`. */
export interface Condemned {
  /** ms since the epoch. */
  readonly at: number;
  /** Its artifacts are kept, since forks show them. */
  readonly held: boolean;
}

/** Keys of the table `meta`. */
export const META = {
  settings: "settings",
  recovery: "recovery",
  parked: "parked",
  /** What the tenant said when the last turn began: a `TurnLeave`. */
  leave: "leave",
  /** What a person has allowed for the whole session; see `rememberedAs`. */
  remembered: "remembered",
  restore: "restore",
  /** Where a fork's past comes from, as long as it has not all of it. */
  forking: "forking",
  forks: "forks",
  /** Set once the session is deleted and its objects are not all gone yet. */
  condemned: "condemned",
} as const;

/** The tenant's index has compared the whole request; what was changed since (a title) does not matter here. */
export function sameRequest(known: SessionSettings, input: CreateSession): boolean {
  const { agent, workspace, branch } = known;
  return agent === input.agent && workspace === input.workspace && branch === input.branch;
}
