/**
 * Shows that the simulator is not blind: plants one bug at a time into a copy of the shipped source and lets it look, for
 * at most so many seeds. Prints a line per bug; fails when one is not found, or no longer fits the source.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PLANTED_BUGS } from "../test/simulator/planted-bugs.ts";
import type { PlantedBug } from "../test/simulator/planted-bugs.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    /** Bugs whose name holds this. */
    only: { type: "string", default: "" },
    /** Leaves out what takes long to show. */
    quick: { type: "boolean", default: false },
  },
});

/** Longer than a thousand seeds take on a busy machine. */
const HUNG_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), "planted-bugs-"));

/** A copy of what the simulator runs, with the bug in it. */
function plant({ file, line, instead }: PlantedBug, at: string): void {
  mkdirSync(at);
  for (const part of ["src", "test/simulator", "scripts"]) cpSync(part, join(at, part), { recursive: true });
  cpSync("package.json", join(at, "package.json"));
  symlinkSync(join(process.cwd(), "node_modules"), join(at, "node_modules"));
  const path = join(at, "src", file);
  const source = readFileSync(path, "utf8");
  const [before, after, ...more] = source.split(line);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`src/${file} does not have this line exactly once: ${line}`);
  }
  writeFileSync(path, before + instead + after);
}

/** What the simulator says of a copy: the first seed that fails, or undefined. */
async function look(at: string): Promise<string | undefined> {
  const args = ["scripts/simulate.ts", "--bail", "--seeds", values.seeds];
  const stdio = ["ignore", "pipe", "inherit"] as const;
  // A bug that keeps its process busy for ever is not one that was noticed.
  const child = spawn(process.execPath, args, { cwd: at, stdio: [...stdio], timeout: HUNG_MS });
  let said = "";
  child.stdout.setEncoding("utf8");
  for await (const chunk of child.stdout as AsyncIterable<string>) said += chunk;
  return said.split("\n").find((text) => /^seed \d+ failed: /.test(text));
}

async function find(bug: PlantedBug, index: number): Promise<boolean> {
  const at = join(folder, String(index));
  const began = performance.now();
  plant(bug, at);
  const found = await look(at);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${found ? "found" : "NOT FOUND"} in ${seconds} s: ${bug.name}\n    ${found ?? ""}`);
  return found !== undefined;
}

const bugs = PLANTED_BUGS.filter(
  ({ name, rare = false }) => name.includes(values.only) && !(rare && values.quick),
);
const left = [...bugs.entries()];
const results: boolean[] = [];
async function work(): Promise<void> {
  for (let next = left.shift(); next; next = left.shift()) results.push(await find(next[1], next[0]));
}
try {
  await Promise.all(Array.from({ length: availableParallelism() }, () => work()));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const found = results.filter(Boolean).length;
console.log(`${found} of ${bugs.length} planted bugs found`);
process.exitCode = found === bugs.length && found > 0 ? 0 : 1;
