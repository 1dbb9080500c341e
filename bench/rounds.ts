import type { Goal, Measure } from "./comparison.ts";
import type { BenchServer } from "./servers/server.ts";

/** What a round of one server came to, by the figure's key. */
export type Figures = Readonly<Record<string, number>>;

/** A figure as it is shown. */
export interface Shown {
  readonly key: string;
  readonly name: string;
  readonly unit: string;
  readonly goal?: Goal;
}

/** A benchmark: what one round of one server does, and what is shown of it. */
export interface Benchmark {
  readonly shown: readonly Shown[];
  /** `last` says that no further round follows: the place for what is counted once. */
  round(server: BenchServer, last: boolean): Promise<Figures>;
}

/**
 * Runs the servers in turn, each time beginning with another one, so that none always follows the same. A first round
 * warms up and does not count.
 */
export async function runRounds(
  benchmark: Benchmark,
  servers: readonly BenchServer[],
  runs: number,
): Promise<Measure[]> {
  const samples = new Map<string, Record<string, number[]>>();
  for (let run = 0; run <= runs; run += 1) {
    for (let turn = 0; turn < servers.length; turn += 1) {
      const server = servers[(run + turn) % servers.length];
      if (!server) continue;
      const figures = await benchmark.round(server, run === runs);
      if (run === 0) continue;
      for (const [key, value] of Object.entries(figures)) {
        const sample = samples.get(key) ?? {};
        sample[server.name] = [...(sample[server.name] ?? []), value];
        samples.set(key, sample);
      }
    }
  }
  return benchmark.shown.map(({ key, ...measure }) => ({ ...measure, values: samples.get(key) ?? {} }));
}
