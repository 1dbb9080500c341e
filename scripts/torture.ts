/**
 * Kills the product again and again under mixed load and checks that nothing is lost and nothing happens twice:
 * `npm run torture -- [--rounds 100] [--seed N] [--sessions N] [--kills N]`. A round repeats the load of its seed
 * (`--rounds 1 --seed <its seed>`); the moments of its kills depend on the machine.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Violation } from "../test/torture/evidence.ts";
import { figuresOf, lineOf, total } from "../test/torture/figures.ts";
import type { Figures } from "../test/torture/figures.ts";
import type { Round } from "../test/torture/round.ts";
import { Torture } from "../test/torture/torture.ts";

const SHOWN_VIOLATIONS = 20;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    sessions: { type: "string", default: "8" },
    kills: { type: "string", default: "5" },
  },
});
const [rounds, seed, sessions, kills] = [
  wholeNumber("rounds", 1),
  wholeNumber("seed", 0),
  wholeNumber("sessions", 1),
  wholeNumber("kills", 1),
];

const torture = new Torture();
let stopping: Promise<void> | null = null;
const stop = (): Promise<void> => (stopping ??= torture.stop());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => void stop().finally(() => process.exit(1)));
}

try {
  await torture.start();
  process.exitCode = (await run()) === 0 ? 0 : 1;
} catch (caught) {
  process.exitCode = 1;
  if (!stopping) console.error(caught);
} finally {
  await stop();
}

/** Runs all rounds and gives the number of violations. */
async function run(): Promise<number> {
  const startedAt = Date.now();
  const figures: Figures[] = [];
  const failed: number[] = [];
  let slowest = 0;
  let violations = 0;
  for (let index = 0; index < rounds; index++) {
    const round = await torture.round({ seed: seed + index, sessions, kills });
    figures.push(figuresOf(round));
    slowest = Math.max(slowest, round.restMs);
    const { tookMs, restMs } = round;
    const times = `${(tookMs / 1000).toFixed(1)} s, at rest after ${(restMs / 1000).toFixed(1)} s`;
    console.log(`round ${index + 1}, seed ${round.seed}: ${lineOf(figuresOf(round))}; ${times}`);
    violations += report(round.violations);
    if (round.violations.length === 0) continue;
    failed.push(round.seed);
    console.log(`  logs and accounts: ${keep(round)}`);
  }
  violations += report([...(await torture.recheck()), ...(await torture.settle())]);
  const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
  console.log(`\n${rounds} rounds in ${minutes} min: ${lineOf(total(figures))}`);
  console.log(`At rest at the latest ${(slowest / 1000).toFixed(1)} s after the last kill.`);
  console.log(violations === 0 ? "No violation." : `${violations} violations; seeds: ${failed.join(", ")}`);
  return violations;
}

function report(violations: readonly Violation[]): number {
  for (const { rule, session, message } of violations.slice(0, SHOWN_VIOLATIONS)) {
    console.log(`  VIOLATION ${rule} ${session}: ${message}`);
  }
  return violations.length;
}

/** Writes what a round came to into a folder of its own, to be looked at. */
function keep({ seed: of, sessions: evidence, workspaces, violations }: Round): string {
  const folder = mkdtempSync(join(tmpdir(), `torture-${of}-`));
  const write = (name: string, value: unknown): void => {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(value, null, 1));
  };
  write("violations", violations);
  for (const { account, log, state, model } of evidence) {
    const { prompts, interrupts, decisions, answers } = account;
    const sent = { prompts: [...prompts.values()], interrupts, decisions, answers };
    write(account.session, { ...sent, state, log, model });
  }
  for (const { id, versions, files } of workspaces) write(id, { versions, files: [...files] });
  return folder;
}

function wholeNumber(name: keyof typeof values, least: number): number {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= least) return number;
  console.error(`--${name} is a whole number from ${least} on.`);
  return process.exit(1);
}
