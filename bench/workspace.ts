import { spawnSync } from "node:child_process";
import { rgPath } from "@vscode/ripgrep";
import type { Measure } from "./comparison.ts";
import { fileCalls } from "./file-calls.ts";
import { residentKb } from "./processor-time.ts";
import { sourceFiles } from "./source-files.ts";
import type { SourceFiles } from "./source-files.ts";
import { startWorker } from "./worker-process.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Files of one write: a request to the Worker is bounded. */
const WRITTEN_AT_ONCE = 200;

/** All lines are asked for, so that both do all of the work. */
const LIMIT = 10_000;

const PATTERNS = [
  { name: "rare literal", pattern: "Symbol.asyncDispose", fixed: true },
  { name: "common literal", pattern: "throw new TypeError", fixed: true },
  { name: "regex with a literal", pattern: "export (async )?function \\w+Error", fixed: false },
  { name: "regex without one", pattern: "\\b[A-Z]{5}\\d{2,}\\b", fixed: false },
  { name: "literal, case ignored", pattern: "asynciterator", fixed: true, caseSensitive: false },
  { name: "no match", pattern: "no such line anywhere", fixed: true },
] as const;

type Pattern = (typeof PATTERNS)[number];

/** The servers that are compared, the product first. */
export const SEARCHERS = ["product", "ripgrep", "naive"];

/**
 * Searches the same files in a workspace, by a ripgrep process on the local disk, and by listing and reading R2: whole
 * calls, from outside. Alternates, after a round that warms up.
 */
export async function searchMeasures(runs: number, sizes: readonly number[]): Promise<Measure[]> {
  const measures: Measure[] = [];
  for (const size of sizes) {
    const sources = sourceFiles(size);
    // One for each size, so that its memory tells of that size alone.
    const worker = await startWorker("bench/workers/workspace.toml", "bench/workers/workspace.js", {});
    try {
      measures.push(...(await measuresOf(worker, sources, runs)));
    } finally {
      await worker.stop();
      sources.remove();
    }
  }
  return measures;
}

async function measuresOf(worker: WorkerProcess, sources: SourceFiles, runs: number): Promise<Measure[]> {
  const workspace = `files${sources.files.length}`;
  const call = async <T>(action: string, body: unknown): Promise<T> => {
    const request = { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${worker.url}/${action}?workspace=${workspace}`, request);
    return (await response.json()) as T;
  };
  const counts = () => call<Counts>("counts", null);
  await call("create", null);
  const { files } = sources;
  for (let at = 0; at < files.length; at += WRITTEN_AT_ONCE) {
    const { ok } = await call<{ ok: boolean }>("write", files.slice(at, at + WRITTEN_AT_ONCE));
    if (!ok) throw new Error("The files could not be written.");
  }
  const written = await counts();
  const label = `${files.length.toLocaleString("en-US")} files`;
  const measures: Measure[] = [];
  for (const pattern of PATTERNS)
    measures.push(...(await patternMeasures(call, sources, pattern, runs, label)));
  const searched = await counts();
  const naive = async (): Promise<number> => call<number>("naive", { pattern: "no such line anywhere" });
  // It takes as long as all the others together, whatever the pattern: once is enough.
  measures.push({
    name: `${label}: list and get, no match`,
    unit: "ms",
    values: { naive: [await timed(naive)] },
  });
  for (const { name, run, ripgrep: other } of fileCalls(call, sources)) {
    const times: Record<string, number[]> = { product: [], ...(other ? { ripgrep: [] } : {}) };
    for (let at = 0; at <= runs; at += 1) {
      const own = await timed(run);
      const others = other ? await timed(async () => ripgrepFiles(other, sources.folder)) : 0;
      if (at === 0) continue;
      times["product"]?.push(own);
      times["ripgrep"]?.push(others);
    }
    measures.push({ name: `${label}: ${name}`, unit: "ms", values: times });
  }
  const figure = (name: string, unit: string, value: number): void => {
    measures.push({ name: `  ${name}`, unit, values: { product: [value] } });
  };
  figure("R2 operations of all greps", "", searched.operations - written.operations);
  figure("SQLite, bytes per byte of source", "", written.stored / sources.bytes);
  const kilobytes = worker.processId === null ? null : residentKb(worker.processId);
  if (kilobytes !== null) figure("resident memory of workerd", "MB", kilobytes / 1_024);
  return measures;
}

type Call = <T>(action: string, body: unknown) => Promise<T>;

/** What the objects have done so far. */
interface Counts {
  /** Of R2. */
  readonly operations: number;
  /** Bytes in SQLite. */
  readonly stored: number;
  readonly rowsRead: number;
}

async function patternMeasures(
  call: Call,
  sources: SourceFiles,
  pattern: Pattern,
  runs: number,
  label: string,
): Promise<Measure[]> {
  const query = { kind: "grep", ...pattern, name: undefined, limit: LIMIT };
  const lines: Record<string, number[]> = {};
  const product = async (): Promise<void> => {
    const { value } = await call<{ value: { matches: unknown[] } }>("search", query);
    lines["product"] = [value.matches.length];
  };
  const other = async (): Promise<void> => {
    lines["ripgrep"] = [ripgrep(pattern, sources.folder)];
  };
  // The object has just begun: nothing of its storage is in memory.
  await call("evict", null);
  const cold = await timed(product);
  const before = await call<Counts>("counts", null);
  await product();
  const { rowsRead } = await call<Counts>("counts", null);
  const times: Record<string, number[]> = { product: [], ripgrep: [] };
  await other();
  for (let run = 0; run < runs; run += 1) {
    times["product"]?.push(await timed(product));
    times["ripgrep"]?.push(await timed(other));
  }
  return [
    { name: `${label}: ${pattern.name}`, unit: "ms", values: times },
    { name: "  cold", unit: "ms", values: { product: [cold] } },
    { name: "  lines found", unit: "", values: lines },
    { name: "  rows read", unit: "", values: { product: [rowsRead - before.rowsRead] } },
  ];
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** Names files as a glob or a tree would. */
function ripgrepFiles(args: readonly string[], folder: string): void {
  const { status } = spawnSync(rgPath, ["--no-config", "--files", ...args, folder], { maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error("ripgrep has failed.");
}

/** How many lines a ripgrep process finds in a folder. */
function ripgrep({ pattern, fixed, ...options }: Pattern, folder: string): number {
  const always = ["--no-config", "--no-ignore", "--hidden", "--line-number", "--no-heading"];
  const chosen = [
    ...(fixed ? ["--fixed-strings"] : []),
    ...("caseSensitive" in options ? ["--ignore-case"] : []),
  ];
  const args = [...always, ...chosen, "--regexp", pattern, folder];
  const { stdout, status } = spawnSync(rgPath, args, { maxBuffer: 1 << 28 });
  // 1 says that there was no match.
  if (status !== 0 && status !== 1) throw new Error("ripgrep has failed.");
  let lines = 0;
  for (const byte of stdout) if (byte === 10) lines += 1;
  return lines;
}
