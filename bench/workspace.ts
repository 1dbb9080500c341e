import { spawnSync } from "node:child_process";
import { rgPath } from "@vscode/ripgrep";
import type { Measure } from "./comparison.ts";
import { sourceFiles } from "./source-files.ts";
import type { SourceFiles } from "./source-files.ts";
import { startWorker } from "./worker-process.ts";
import type { WorkerProcess } from "./worker-process.ts";

const SIZES = [1_000, 8_000];

/** Files of one write: a request to the Worker is bounded. */
const WRITTEN_AT_ONCE = 200;

/** All lines are asked for, so that both do all of the work. */
const LIMIT = 10_000;

const PATTERNS = [
  { name: "rare literal", pattern: "Symbol.asyncDispose", fixed: true },
  { name: "common literal", pattern: "throw new TypeError", fixed: true },
  { name: "regex with a literal", pattern: "export (async )?function \\w+Error", fixed: false },
  { name: "regex without one", pattern: "\\b[A-Z]{5}\\d{2,}\\b", fixed: false },
  { name: "no match", pattern: "no such line anywhere", fixed: true },
] as const;

type Pattern = (typeof PATTERNS)[number];

/** The servers that are compared, the product first. */
export const SEARCHERS = ["product", "ripgrep", "naive"];

/**
 * Searches the same files in a workspace, by a ripgrep process on the local disk, and by listing and reading R2: whole
 * calls, from outside. Alternates, after a round that warms up.
 */
export async function searchMeasures(runs: number): Promise<Measure[]> {
  const worker = await startWorker("bench/workers/workspace.toml", "bench/workers/workspace.js", {});
  try {
    const measures: Measure[] = [];
    for (const size of SIZES) {
      const sources = sourceFiles(size);
      try {
        measures.push(...(await measuresOf(worker, sources, runs)));
      } finally {
        sources.remove();
      }
    }
    return measures;
  } finally {
    await worker.stop();
  }
}

async function measuresOf(worker: WorkerProcess, sources: SourceFiles, runs: number): Promise<Measure[]> {
  const workspace = `files${sources.files.length}`;
  const call = async <T>(action: string, body: unknown): Promise<T> => {
    const request = { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${worker.url}/${action}?workspace=${workspace}`, request);
    return (await response.json()) as T;
  };
  const counts = () => call<{ operations: number; stored: number }>("counts", null);
  await call("create", null);
  const { files } = sources;
  for (let at = 0; at < files.length; at += WRITTEN_AT_ONCE) {
    const { ok } = await call<{ ok: boolean }>("write", files.slice(at, at + WRITTEN_AT_ONCE));
    if (!ok) throw new Error("The files could not be written.");
  }
  const written = await counts();
  const label = `${files.length.toLocaleString("en-US")} files`;
  const measures: Measure[] = [];
  for (const pattern of PATTERNS) {
    const query = { kind: "grep", pattern: pattern.pattern, fixed: pattern.fixed, limit: LIMIT };
    const product = async (): Promise<number> => {
      const { value } = await call<{ value: { matches: unknown[] } }>("search", query);
      return value.matches.length;
    };
    const naive = async (): Promise<number> => {
      const source = pattern.fixed
        ? pattern.pattern.replaceAll(/[.*+?()[\]{}|\\^$]/g, "\\$&")
        : pattern.pattern;
      return call<number>("naive", { pattern: source });
    };
    const times: Record<string, number[]> = {};
    const lines: Record<string, number[]> = {};
    for (let run = 0; run <= runs; run += 1) {
      const round = { product, ripgrep: async () => ripgrep(pattern, sources.folder), naive };
      for (const [name, search] of Object.entries(round)) {
        // It takes as long as all the others together, whatever the pattern: once is enough.
        if (name === "naive" && (run !== runs || pattern.name !== "no match")) continue;
        const began = performance.now();
        const found = await search();
        lines[name] = [found];
        if (run > 0) (times[name] ??= []).push(performance.now() - began);
      }
    }
    measures.push({ name: `${label}: ${pattern.name}`, unit: "ms", values: times });
    measures.push({ name: "  lines found", unit: "", values: lines });
  }
  const globs: number[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const began = performance.now();
    await call("search", { kind: "glob", pattern: "**/index.d.ts" });
    if (run > 0) globs.push(performance.now() - began);
  }
  measures.push({ name: `${label}: glob`, unit: "ms", values: { product: globs } });
  const { operations, stored } = await counts();
  const ofSearches = operations - written.operations;
  measures.push({ name: "  R2 operations of all searches", unit: "", values: { product: [ofSearches] } });
  const perByte = stored / sources.bytes;
  measures.push({ name: "  SQLite, bytes per byte of source", unit: "", values: { product: [perByte] } });
  return measures;
}

/** How many lines a ripgrep process finds in a folder. */
function ripgrep({ pattern, fixed }: Pattern, folder: string): number {
  const options = ["--no-config", "--no-ignore", "--hidden", "--line-number", "--no-heading"];
  const args = [...options, ...(fixed ? ["--fixed-strings"] : []), "--regexp", pattern, folder];
  const { stdout, status } = spawnSync(rgPath, args, { maxBuffer: 1 << 28 });
  // 1 says that there was no match.
  if (status !== 0 && status !== 1) throw new Error("ripgrep has failed.");
  let lines = 0;
  for (const byte of stdout) if (byte === 10) lines += 1;
  return lines;
}
