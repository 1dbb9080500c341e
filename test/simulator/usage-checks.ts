import type { TurnReport } from "../../src/durable/tenant-api.ts";
import type { LogMirror } from "./log-mirror.ts";

/** What the tenant was told in the end is what the log's model calls add up to. */
export function checkUsage(
  reports: readonly TurnReport[],
  mirror: LogMirror,
  violate: (rule: string, message: string) => void,
): void {
  if (mirror.inputs.size === 0) return;
  const told = new Map<string, number>();
  for (const { usage } of reports) {
    for (const { day, model, usage: used } of usage) {
      const key = `${day} ${model}`;
      told.set(key, Math.max(told.get(key) ?? 0, used.input + used.output));
    }
  }
  const used = new Map<string, number>();
  for (const event of mirror.events) {
    if (event.type !== "agent_trace" && event.type !== "agent_summary") continue;
    // A summary that no model made has cost nothing.
    if (event.model === undefined || event.usage === undefined) continue;
    const key = `${new Date(event.at).toISOString().slice(0, 10)} ${event.model}`;
    used.set(key, (used.get(key) ?? 0) + event.usage.input + event.usage.output);
  }
  for (const [key, tokens] of used) {
    if (tokens !== (told.get(key) ?? 0))
      violate("usage", `${key}: ${tokens} tokens in the log, ${told.get(key)} told`);
  }
}
