import type { DurablePayload } from "../protocol/durable-events.ts";
import { LightAgentError } from "../protocol/errors.ts";
import type { LivePayload } from "../protocol/live-events.ts";
import type { MaybePromise } from "../protocol/time.ts";
import type { SessionLog } from "./session-log.ts";

/** Where a session goes back to an earlier point. Its files are the business of whoever asks for it. */
export class RestoreDesk {
  readonly #log: SessionLog;

  constructor(log: SessionLog) {
    this.#log = log;
  }

  /** @throws LightAgentError `busy` while a turn is open or prompts wait */
  requireIdle(): void {
    if (this.#log.fold.open || this.#log.waiting.length > 0) {
      throw new LightAgentError("busy", "A session goes back only while no turn runs and no prompt waits.");
    }
  }

  /** Makes it a fact that the session went back. @throws LightAgentError `busy`, `log_write_failed` */
  restore(restored: DurablePayload<"checkpoint_restore">): MaybePromise<void> {
    this.requireIdle();
    const { turn, step } = this.#log.fold;
    return this.#log.commit([{ type: "checkpoint_restore", turn, step, ...restored }]);
  }

  /** Tells how far a restore has come. */
  tell(progress: LivePayload<"checkpoint_restore_progress">): void {
    const { turn, step } = this.#log.fold;
    this.#log.emit({ type: "checkpoint_restore_progress", turn, step, ...progress });
  }
}
