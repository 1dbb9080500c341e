import { spreadOf } from "./statistics.ts";
import type { Spread } from "./statistics.ts";

/** What a figure of the product should come to: as a multiple of the peer's, or as a number of its own. */
export type Goal =
  | { readonly timesPeer: number; readonly bound: "least" | "most" }
  | { readonly value: number; readonly bound: "most" };

/** One figure of all servers, over the runs. The first server is the product. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly goal?: Goal;
  /** By server: one value per run. A server without the figure is left out. */
  readonly values: Readonly<Record<string, readonly number[]>>;
}

/** A measure, compared. */
export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly servers: Readonly<Record<string, Spread>>;
  /** The product's median as a multiple of another server's; by server. */
  readonly ratios: Readonly<Record<string, number>>;
  readonly goal: Goal | null;
  /** Whether the medians reach the goal; null without one. */
  readonly reached: boolean | null;
}

/** The server that goals speak of. */
export const PEER = "ai-chat";

/** @throws RangeError when a server has no values */
export function compare({ name, unit, goal, values }: Measure, product: string): Comparison {
  const servers = Object.fromEntries(
    Object.entries(values).map(([server, sample]) => [server, spreadOf(sample)]),
  );
  const own = servers[product]?.median ?? Number.NaN;
  const others = Object.entries(servers).filter(([server]) => server !== product);
  const ratios = Object.fromEntries(others.map(([server, { median }]) => [server, own / median]));
  const reached = goal ? reaches(goal, own, ratios[PEER] ?? Number.NaN) : null;
  return { name, unit, servers, ratios, goal: goal ?? null, reached };
}

function reaches(goal: Goal, own: number, timesPeer: number): boolean {
  if ("value" in goal) return own <= goal.value;
  return goal.bound === "least" ? timesPeer >= goal.timesPeer : timesPeer <= goal.timesPeer;
}
