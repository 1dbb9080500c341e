import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { SessionState } from "../../src/runtime/protocol/frames.ts";
import type { ModelMessage } from "../../src/runtime/protocol/model-messages.ts";
import type { Account } from "./account.ts";
import type { Follower } from "./follower.ts";
import type { ModelAccount } from "./planned-model.ts";

/** A broken promise, under the rule of SPEC.md that makes it. */
export interface Violation {
  readonly rule: string;
  readonly session: string;
  readonly message: string;
}

/** Collects what is wrong with one session. */
export class Findings {
  readonly violations: Violation[] = [];
  readonly #session: string;

  constructor(session: string) {
    this.#session = session;
  }

  expect(holds: boolean, rule: string, message: string): void {
    if (!holds) this.violations.push({ rule, session: this.#session, message });
  }
}

/** What the product shows of one session after a round, and what the test knows of it. */
export interface SessionEvidence {
  readonly account: Account;
  readonly log: readonly DurableEvent[];
  readonly state: SessionState;
  readonly messages: readonly ModelMessage[];
  /** What the fake model has seen of it; undefined when it was never asked. */
  readonly model: ModelAccount | undefined;
  readonly followers: readonly Follower[];
}

/** A version of a workspace as the API lists it. */
export interface VersionEntry {
  readonly version: number;
  readonly session?: string;
  readonly turn?: number;
  readonly callId?: string;
  readonly paths?: readonly string[];
  /** Files that the workspace has then. */
  readonly files: number;
}

export interface WorkspaceEvidence {
  readonly id: string;
  /** Oldest first. */
  readonly versions: readonly VersionEntry[];
  readonly files: ReadonlyMap<string, string>;
  /** The sessions that work in it. */
  readonly sessions: readonly SessionEvidence[];
}

export function eventsOf<T extends DurableEvent["type"]>(
  log: readonly DurableEvent[],
  ...types: readonly T[]
): Extract<DurableEvent, { type: T }>[] {
  return log.filter((event): event is Extract<DurableEvent, { type: T }> =>
    (types as readonly string[]).includes(event.type),
  );
}
