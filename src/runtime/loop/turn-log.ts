import type { DurableBody } from "../protocol/durable-events.ts";
import type { LiveEvent } from "../protocol/live-events.ts";
import type { SessionFold } from "../protocol/session-fold.ts";
import type { MaybePromise } from "../protocol/time.ts";
import type { WaitingPrompt } from "../protocol/waiting-prompt.ts";

/** The log and the queue of one session, as the loop uses them. The log owns the state; the loop owns nothing. */
export interface TurnLog {
  readonly fold: SessionFold;
  readonly waiting: readonly WaitingPrompt[];
  /**
   * Makes events durable and tells them, all or nothing. `live` events are told after them, but before an
   * `agent_stop` among them. @throws LightAgentError `log_write_failed`; then nothing has become true
   */
  commit(
    bodies: readonly DurableBody[],
    options?: { readonly live?: readonly LiveEvent[] },
  ): MaybePromise<void>;
  /** Tells a live event. Never blocks, never fails. */
  emit(event: LiveEvent): void;
}
