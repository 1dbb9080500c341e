import type { DurableEvent } from "../protocol/durable-events.ts";
import type { SessionFold } from "../protocol/session-fold.ts";
import type { MaybePromise } from "../protocol/time.ts";
import type { Receipt, WaitingPrompt } from "../protocol/waiting-prompt.ts";

/** What becomes true together: one transaction, one row of the log. */
export interface Commit {
  readonly events: readonly DurableEvent[];
  /** A prompt that begins to wait. Those that stop waiting follow from the events that name them. */
  readonly waiting?: WaitingPrompt;
  /** The prompt that the commit's `input` opens a turn for, when it never waited. */
  readonly opens?: WaitingPrompt;
  /** What a person has allowed for the whole session, from this commit on. */
  readonly remembers?: string;
}

/** What is known of an accepted prompt for as long as the session lives. */
export interface KnownPrompt {
  readonly promptId: string;
  readonly digest: string;
  /** What its caller was answered. */
  readonly receipt: Receipt;
}

/** Where a session stands: a fold, the events on top of it, and what waits. */
export interface SessionSnapshot {
  /** The fold before `events`. */
  readonly base: SessionFold;
  readonly events: readonly DurableEvent[];
  /** In the order in which they were accepted. */
  readonly waiting: readonly WaitingPrompt[];
  /** The model that the open turn's prompt asked for. */
  readonly openModel?: string;
  /** What a person has allowed for the whole session; see `rememberedAs`. */
  readonly remembered: readonly string[];
}

/**
 * The durable side of one session. `append` is all or nothing: when it throws, nothing of the commit is true. It may
 * answer at once or later; until then nobody is told of the events and no effect of theirs begins.
 */
export interface AgentSession {
  readonly id: string;
  load(): MaybePromise<SessionSnapshot>;
  append(commit: Commit): MaybePromise<void>;
  /** The log's events with `seq > after`, in order. They need not be in memory at once: go through them without waiting. */
  read(after: number): MaybePromise<Iterable<DurableEvent>>;
  /** What became of a prompt; undefined for an id that was never accepted. */
  findPrompt(promptId: string): KnownPrompt | undefined;
}

export interface SessionMetadata {
  readonly id: string;
  readonly title: string;
  readonly status: "idle" | "running";
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The sessions of a host. */
export interface SessionManager {
  create(input?: { title?: string; metadata?: Record<string, unknown> }): Promise<AgentSession>;
  /** @throws LightAgentError `not_found` for an unknown id */
  open(id: string): Promise<AgentSession>;
  openLatest(): Promise<AgentSession | undefined>;
  /** Newest first. */
  list(options?: { limit?: number }): Promise<SessionMetadata[]>;
}
