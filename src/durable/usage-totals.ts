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

/** The session's totals of its last days. A fold of the log, like everything else. */
export type UsageTotals = readonly UsageOfDay[];

/** Days that are kept: enough for a turn that runs past midnight, and for a report that is sent late. */
const DAYS_KEPT = 3;

/** The totals after one more event; only model calls count. */
export function applyUsage(totals: UsageTotals, event: DurableEvent): UsageTotals {
  if (event.type !== "agent_trace" || event.agentId !== undefined) return totals;
  const day = new Date(event.at).toISOString().slice(0, 10);
  const { model, usage, cost = 0 } = event;
  const same = (entry: UsageOfDay): boolean => entry.day === day && entry.model === model;
  const before = totals.find(same) ?? { day, model, usage: NO_USAGE, cost: 0 };
  const days = [...new Set([...totals.map((entry) => entry.day), day])].sort().slice(-DAYS_KEPT);
  const others = totals.filter((entry) => !same(entry) && days.includes(entry.day));
  return [...others, { day, model, usage: addUsage(before.usage, usage), cost: before.cost + cost }];
}
