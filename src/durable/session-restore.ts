import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import { LightAgentError, toErrorBody } from "../runtime/protocol/errors.ts";
import type { RestoreBody } from "../runtime/protocol/frames.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import type { Reverted } from "./branch-writer.ts";
import { turnEndedAt } from "./checkpoints.ts";
import { inTime } from "./in-time.ts";
import type { LiveSession } from "./live-session.ts";
import type { MetaStore } from "./meta-store.ts";
import { restoreCallId, restoreWakes } from "./session-point.ts";
import { META } from "./session-settings.ts";
import type { RestoreIntent } from "./session-settings.ts";
import type { WorkspaceApi } from "./workspace-api.ts";

/** So often the workspace is asked; a restore must come to its end, or nobody could enter the session any more. */
const FILE_TRIES = 5;

/** How long a workspace may take to put its files back before it is asked again, in ms. */
const REVERT_MS = 2 * 60_000;

/** Files that stay as they are, all of them, for one reason. */
const untouched = (reason: string): Reverted => ({ version: null, skipped: [{ path: "", reason }] });

/**
 * Takes a session back to an earlier point: an intent is written, then the files go back, then one commit says so and
 * ends the intent. Each step can be taken again, so whoever enters the session next finishes what died half-way.
 */
export class SessionRestore {
  readonly #session: LiveSession;
  readonly #meta: MetaStore;
  readonly #workspace: () => Pick<WorkspaceApi, "revert">;
  #intent: RestoreIntent | null;

  constructor(session: LiveSession, meta: MetaStore, workspace: () => Pick<WorkspaceApi, "revert">) {
    this.#session = session;
    this.#meta = meta;
    this.#workspace = workspace;
    this.#intent = meta.get<RestoreIntent>(META.restore) ?? null;
  }

  /** Whether a restore has been accepted and not come to its end. */
  get stands(): boolean {
    return this.#intent !== null;
  }

  /**
   * Accepts a restore: from here on nothing else happens before it is finished.
   * @returns the `seq` that its event will have
   * @throws LightAgentError `busy` while a turn runs or prompts wait; `invalid_request` for a point that is none
   */
  begin({ toSeq, conversation = true, files = true }: RestoreBody, by: Principal): number {
    const { agent, store } = this.#session;
    if (!conversation && !files)
      throw new LightAgentError("invalid_request", "There is nothing to take back.");
    const turn = turnEndedAt(store.log, toSeq);
    agent.history.requireIdle();
    const seq = agent.fold.head + 1;
    this.#keep({ toSeq, turn, conversation, files, by, seq, tries: 0 });
    return seq;
  }

  /** Finishes a restore that stands. @throws LightAgentError `unavailable`, `log_write_failed`; then it still stands */
  async finish(): Promise<void> {
    const intent = this.#intent;
    if (!intent) return;
    const { agent } = this.#session;
    const total = intent.files ? 2 : 1;
    agent.history.tell({ phase: "start", completed: 0, total });
    try {
      const { version, skipped } = intent.files ? await this.#files(intent) : { version: null, skipped: [] };
      if (intent.files) agent.history.tell({ phase: "progress", completed: 1, total });
      const { toSeq, conversation, files, by } = intent;
      const made = version === null ? {} : { workspaceVersion: version };
      await agent.history.restore({ toSeq, conversation, files, by, skipped: [...skipped], ...made });
    } catch (caught) {
      agent.history.tell({ phase: "error", completed: 0, total, message: toErrorBody(caught).message });
      throw caught;
    }
    this.#intent = null;
    agent.history.tell({ phase: "done", completed: total, total });
  }

  /** What came of a restore that is finished. */
  outcome(seq: number): DurableEvent<"checkpoint_restore"> {
    const event = this.#session.store.log.at(seq);
    if (event?.type === "checkpoint_restore") return event;
    throw new TypeError(`No restore is at ${seq}.`);
  }

  #keep(intent: RestoreIntent): void {
    this.#meta.set(META.restore, intent);
    this.#intent = intent;
  }

  async #files(intent: RestoreIntent): Promise<Reverted> {
    if (intent.tries >= FILE_TRIES) return untouched("the workspace does not answer");
    // Counted before it is asked: also a try that this process does not survive is one.
    this.#keep({ ...intent, tries: intent.tries + 1 });
    const answered = await this.#ask(intent);
    if (answered.ok) return answered.value;
    const { code, message } = answered.error;
    if (code === "unavailable" || code === "internal") throw new LightAgentError("unavailable", message);
    return untouched(message);
  }

  async #ask({ turn, toSeq, seq, by }: RestoreIntent): Promise<Answer<Reverted>> {
    const { settings, agent } = this.#session;
    const { id, branch = MAIN_BRANCH } = settings;
    const source = {
      session: id,
      turn: agent.fold.turn,
      wakes: restoreWakes(seq),
      callId: restoreCallId(seq),
    };
    const point = this.#session.point({ turn, seq: toSeq });
    try {
      return await inTime(this.#workspace().revert(branch, { by, source }, point), REVERT_MS);
    } catch (cause) {
      throw new LightAgentError("unavailable", "The workspace does not answer.", undefined, { cause });
    }
  }
}
