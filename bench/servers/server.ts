import type { Conversation, Dialect } from "../conversation.ts";
import type { Billed } from "../worker-process.ts";

/** A session, open on a socket. */
export interface OpenSession {
  readonly conversation: Conversation;
  /** A further client of the same session. */
  join(): Promise<Conversation>;
  readonly dialect: Dialect;
  /** What the session's object has done that is billed. */
  billed(): Promise<Billed>;
  /** The same of the other objects that its turns concern. */
  billedElsewhere(): Promise<Billed>;
}

/** One of the servers that are compared. */
export interface BenchServer {
  readonly name: string;
  readonly processId: number | null;
  /** A new session whose model sees one tool. */
  open(tool: string): Promise<OpenSession>;
  stop(): Promise<void>;
}

export const NOTHING_BILLED: Billed = { rows: 0, statements: 0, alarms: 0, keyValue: 0 };
