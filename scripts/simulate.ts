/**
 * Lives many simulated worlds and prints what they went through: `npm run simulate -- --seeds 10000`. A seed that broke
 * a promise is named; `--seed N --trace` lives it again, step by step.
 */
import { parseArgs } from "node:util";
import { runSeed } from "../test/simulator/run-seed.ts";
import { Tally } from "../test/simulator/tally.ts";

/** More seeds that fail are counted, not described. */
const DESCRIBED = 20;

const { values } = parseArgs({
  options: {
    /** How many worlds, and the first one's seed. */
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    /** Ends with the first world that fails. */
    bail: { type: "boolean", default: false },
    /** One world alone. */
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
  },
});

async function one(seed: number): Promise<boolean> {
  const { broken, fingerprint } = await runSeed(seed, values.trace ? console.log : null);
  for (const { rule, message, at } of broken) console.log(`after ${at} ms, ${rule}: ${message}`);
  console.log(`seed ${seed}: ${broken.length} violations, fingerprint ${fingerprint}`);
  return broken.length === 0;
}

async function many(first: number, count: number): Promise<boolean> {
  const tally = new Tally();
  const began = performance.now();
  let lived = 0;
  let failed = 0;
  let fingerprint = 0;
  while (lived < count && !(values.bail && failed > 0)) {
    const outcome = await runSeed(first + lived);
    lived += 1;
    fingerprint = (Math.imul(fingerprint, 31) + outcome.fingerprint) | 0;
    tally.add(outcome.counts);
    const [broken] = outcome.broken;
    if (!broken) continue;
    failed += 1;
    const { rule, message, at } = broken;
    if (failed <= DESCRIBED) console.log(`seed ${outcome.seed} failed: after ${at} ms, ${rule}: ${message}`);
  }
  for (const [what, times] of tally.entries()) console.log(`${String(times).padStart(9)}  ${what}`);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${lived} seeds in ${seconds} s, ${failed} failed, fingerprint ${fingerprint}`);
  return failed === 0;
}

const kept =
  values.seed === undefined
    ? await many(Number(values.from), Number(values.seeds))
    : await one(Number(values.seed));
process.exitCode = kept ? 0 : 1;
