import { cpus } from "node:os";
import { version } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { parseBenchArguments } from "./arguments.ts";
import { compare } from "./comparison.ts";
import type { Measure } from "./comparison.ts";
import { startModel } from "./model-thread.ts";
import { ensureInstalled } from "./peers.ts";
import { watchCores } from "./processor-time.ts";
import { OPENED, openMeasures } from "./open.ts";
import { runRounds } from "./rounds.ts";
import type { Benchmark } from "./rounds.ts";
import { fanout } from "./fanout.ts";
import type { BenchServer } from "./servers/server.ts";
import { startAiChat } from "./servers/ai-chat.ts";
import { startFloor } from "./servers/floor.ts";
import { startProduct } from "./servers/product.ts";
import { sessions } from "./sessions.ts";
import { stream } from "./stream.ts";
import { comparisonTable, numberText } from "./table.ts";
import { turns } from "./turns.ts";
import { SEARCHERS, searchMeasures } from "./workspace.ts";

const BENCHMARKS = new Map<string, Benchmark>([
  ["stream", stream],
  ["fanout", fanout],
  ["sessions", sessions],
  ["turns", turns],
]);

/** Those that do without a model, and measure the same at several sizes. */
const SIZED = new Map([
  // Beside ripgrep and a search without an index.
  ["workspace", { measure: searchMeasures, sizes: [1_000, 8_000, 50_000], servers: SEARCHERS }],
  ["open", { measure: openMeasures, sizes: OPENED, servers: ["product"] }],
]);

/** What a benchmark came to. */
interface Measured {
  readonly measures: readonly Measure[];
  /** The names of what was compared, the product first. */
  readonly servers: readonly string[];
  readonly busyDuring: number;
}

/** `npm run bench -- NAME [--runs N] [--json] [--sizes N,N]`: the product and what it is compared with, side by side. */
async function main(): Promise<void> {
  const names = [...BENCHMARKS.keys(), ...SIZED.keys()];
  const { name, runs, json, sizes } = parseBenchArguments(process.argv.slice(2), names);
  const benchmark = BENCHMARKS.get(name);
  const busyBefore = await busyForOneSecond();
  const measured = await (benchmark ? measureServers(benchmark, runs) : measureSizes(name, runs, sizes));
  const { busyDuring, servers } = measured;
  const setting = { bench: name, runs, cores: cpus().length, busyBefore, busyDuring, node: version };
  const comparisons = measured.measures.map((measure) => compare(measure, "product"));
  if (json) return console.log(JSON.stringify({ ...setting, measures: comparisons }, null, 2));
  console.log(`${name}: medians and spread of ${runs} alternating runs.`);
  const cores = `of ${setting.cores} cores were busy`;
  console.log(`${numberText(busyBefore)} ${cores} before, ${numberText(busyDuring)} meanwhile.`);
  console.log(comparisonTable(comparisons, servers));
}

async function measureSizes(name: string, runs: number, sizes: readonly number[] | null): Promise<Measured> {
  const sized = SIZED.get(name);
  if (!sized) throw new Error(`There is no benchmark "${name}".`);
  const busy = watchCores();
  const measures = await sized.measure(runs, sizes ?? sized.sizes);
  return { measures, servers: sized.servers, busyDuring: busy() };
}

/** The product, a bare floor and a peer. */
async function measureServers(benchmark: Benchmark, runs: number): Promise<Measured> {
  ensureInstalled(".");
  const model = await startModel();
  const servers: BenchServer[] = [];
  try {
    for (const start of [startProduct, startFloor, startAiChat]) servers.push(await start(model.url));
    const busy = watchCores();
    const measures = await runRounds(benchmark, servers, runs);
    return { measures, servers: servers.map((server) => server.name), busyDuring: busy() };
  } finally {
    for (const server of servers) await server.stop();
    await model.stop();
  }
}

/** What the machine does by itself. */
async function busyForOneSecond(): Promise<number> {
  const busy = watchCores();
  await delay(1_000);
  return busy();
}

try {
  await main();
} catch (caught) {
  console.error(caught instanceof Error ? caught.message : caught);
  process.exitCode = 1;
}
