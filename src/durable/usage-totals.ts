import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import { NO_USAGE, addUsage } from "../runtime/protocol/usage.ts";
import type { Usage } from "../runtime/protocol/usage.ts";

/** What the session used on one day (UTC, `YYYY-MM-DD`) with one model, and what that cost in millionths of a dollar. */
export interface UsageOfDay {
  readonly day: string;
  readonly model: string;
  readonly usage: Usage;
  readonly cost: number;
}

/** The session's totals of its running turn's days and the last before it. A fold of the log, like everything else. */
export type UsageTotals = readonly UsageOfDay[];

/** Days that a new turn still finds: enough for reports that are sent late. */
const DAYS_KEPT = 3;

/**
 * The totals after one more event; only model calls count. A turn can wait for people through many days and is reported
 * when it ends, so that nothing is forgotten before the next one begins.
 */
export function applyUsage(totals: UsageTotals, event: DurableEvent): UsageTotals {
  if (event.agentId !== undefined) return totals;
  if (event.type === "input") return ofLastDays(totals);
  const used = usedBy(event);
  if (!used) return totals;
  const day = new Date(event.at).toISOString().slice(0, 10);
  const { model, usage, cost } = used;
  const same = (entry: UsageOfDay): boolean => entry.day === day && entry.model === model;
  const before = totals.find(same) ?? { day, model, usage: NO_USAGE, cost: 0 };
  const others = totals.filter((entry) => !same(entry));
  return [...others, { day, model, usage: addUsage(before.usage, usage), cost: before.cost + cost }];
}

/** What a model call has used: one of a step, or one that made a summary. */
function usedBy(event: DurableEvent): Omit<UsageOfDay, "day"> | null {
  if (event.type === "agent_trace") {
    const { model, usage, cost = 0 } = event;
    return { model, usage, cost };
  }
  if (event.type !== "agent_summary" || !event.usage || event.model === undefined) return null;
  return { model: event.model, usage: event.usage, cost: event.cost ?? 0 };
}

function ofLastDays(totals: UsageTotals): UsageTotals {
  const days = [...new Set(totals.map(({ day }) => day))].sort();
  if (days.length <= DAYS_KEPT) return totals;
  const kept = days.slice(-DAYS_KEPT);
  return totals.filter(({ day }) => kept.includes(day));
}
