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

/** Keys of the table `meta`. */
export const META = {
  settings: "settings",
  recovery: "recovery",
  parked: "parked",
  /** What a person has allowed for the whole session; see `rememberedAs`. */
  remembered: "remembered",
  /** Set once the session is deleted and its objects are not all gone yet. */
  condemned: "condemned",
} as const;
