import { parseArgs } from "node:util";

export interface BenchArguments {
  readonly name: string;
  /** Runs that count, of each server; one more goes before them to warm up. */
  readonly runs: number;
  /** Whether to print JSON in place of a table. */
  readonly json: boolean;
  /** Files of the workspaces, or events of the sessions; null for the benchmark's own. */
  readonly sizes: readonly number[] | null;
}

/** @throws Error that says what is wrong and how it is used */
export function parseBenchArguments(args: readonly string[], names: readonly string[]): BenchArguments {
  const usage = `Usage: npm run bench -- ${names.join("|")} [--runs N] [--json] [--sizes N,N]`;
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        runs: { type: "string", default: "7" },
        json: { type: "boolean", default: false },
        sizes: { type: "string" },
      },
    });
    const [name, ...more] = positionals;
    const runs = Number(values.runs);
    if (name === undefined || !names.includes(name) || more.length > 0)
      throw new Error("Name one benchmark.");
    if (!Number.isInteger(runs) || runs < 1 || runs > 100)
      throw new Error("--runs is a number from 1 to 100.");
    const sizes = values.sizes?.split(",").map(Number) ?? null;
    if (sizes && !sizes.every((size) => Number.isInteger(size) && size >= 1))
      throw new Error("--sizes is one whole number or several, with commas between them.");
    return { name, runs, json: values.json, sizes };
  } catch (caught) {
    throw new Error(`${caught instanceof Error ? caught.message : String(caught)}\n${usage}`, {
      cause: caught,
    });
  }
}
