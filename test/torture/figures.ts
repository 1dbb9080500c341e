import { eventsOf } from "./evidence.ts";
import type { Round } from "./round.ts";

/** What happened in a round, in numbers. */
export type Figures = Readonly<Record<(typeof NAMES)[number], number>>;

const NAMES = [
  "prompts",
  "refused",
  "dropped",
  "kills of the Worker",
  "kills of all",
  "revivals",
  "lost requests",
  "connections",
  "silent connections",
  "turns",
  "aborted",
  "failed",
  "events",
  "calls",
  "effects",
  "found",
  "reran",
  "unknown",
  "decisions",
] as const;

export function figuresOf({ sessions, workspaces, killer, lost }: Round): Figures {
  const logs = sessions.flatMap(({ log }) => log);
  const accounts = sessions.map(({ account }) => account);
  const prompts = accounts.flatMap((account) => [...account.prompts.values()]);
  const followers = sessions.flatMap((session) => session.followers);
  const stops = eventsOf(logs, "agent_stop");
  const recovered = eventsOf(logs, "tool_recovered");
  const versions = workspaces.flatMap((workspace) => workspace.versions);
  const outcome = (name: string): number => recovered.filter(({ outcome: one }) => one === name).length;
  return {
    prompts: accounts.flatMap(({ accepted }) => accepted).length,
    refused: prompts.filter(({ refused }) => refused !== null).length,
    dropped: eventsOf(logs, "prompt_dropped").length,
    "kills of the Worker": killer.kills.worker,
    "kills of all": killer.kills.product,
    revivals: killer.revivals,
    "lost requests": lost,
    connections: sum(followers.map(({ connections }) => connections)),
    "silent connections": sum(followers.map(({ silences }) => silences)),
    turns: stops.length,
    aborted: stops.filter(({ reason }) => reason === "aborted").length,
    failed: stops.filter(({ reason }) => reason === "error").length,
    events: logs.length,
    calls: eventsOf(logs, "tool_result").length,
    effects: versions.filter(({ callId }) => callId !== undefined).length,
    found: outcome("found"),
    reran: outcome("reran"),
    unknown: outcome("unknown"),
    decisions: eventsOf(logs, "approval_resolved", "input_resolved").length,
  };
}

/** The sums of several rounds. */
export function total(rounds: readonly Figures[]): Figures {
  const sums = NAMES.map((name) => [name, sum(rounds.map((figures) => figures[name]))]);
  return Object.fromEntries(sums) as Figures;
}

/** As a line: those that are not 0. */
export function lineOf(figures: Figures): string {
  return NAMES.filter((name) => figures[name] > 0)
    .map((name) => `${figures[name]} ${name}`)
    .join(", ");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
