import { LightAgentError } from "../runtime/protocol/errors.ts";
import { systemTimers, within } from "../runtime/protocol/time.ts";

/** How long an answer takes at most that needs no work to speak of, in ms. */
const ANSWER_MS = 15_000;

/**
 * What another object answers. A call between objects has no time limit of its own: one that hangs would hold up a
 * session for ever.
 * @throws LightAgentError `unavailable` when nothing comes within `ms`; the call may still have its effect
 */
export async function inTime<T>(call: Promise<T>, ms: number = ANSWER_MS): Promise<T> {
  return within(
    ms,
    systemTimers,
    call,
    () => new LightAgentError("unavailable", "An object does not answer."),
  );
}
