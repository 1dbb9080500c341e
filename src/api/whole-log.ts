import { deployment } from "../deployment.ts";
import type { SessionApi } from "../durable/session-api.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import type { DurableEvent, DurableType } from "../runtime/protocol/durable-events.ts";

/** Every event of a session's log, or those of some types, in one call for each of its largest pages. */
export async function wholeLog(session: SessionApi, types?: readonly DurableType[]): Promise<DurableEvent[]> {
  const log: DurableEvent[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page: { events: readonly DurableEvent[]; next: number | null } = unwrap(
      await session.events({ after, limit: deployment.limits.eventsPageMax, ...(types && { types }) }),
    );
    log.push(...page.events);
    after = page.next;
  }
  return log;
}
