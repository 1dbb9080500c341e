import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

/** What `npm run simulate` prints, also of seeds that fail. */
async function simulate(...args: string[]): Promise<string> {
  const ran = run(process.execPath, ["scripts/simulate.ts", ...args], { maxBuffer: 64 * 1024 * 1024 });
  const { stdout } = await ran.catch((failed: { stdout: string }) => failed);
  return stdout;
}

/** What a few hundred worlds must have been through, or the simulator checks less than it says. */
const COVERED = `
  prompt queue: ok, prompt steer: ok, prompt follow_up: ok, prompt interrupt: ok, prompt reject: ok
  prompt queue: idempotency_mismatch, prompt reject: busy, prompt queue: queue_full, interrupt: ok, withdraw: ok
  decide: ok, decide: already_decided, answer: ok, arguments replaced, connections, socket closed: 1006, alarms
  model: reply, model: error, model: cut, model: hang, model: hang deaf, call: malformed, call: unknown
  effect: deaf, effect: idem, effect: lookup, effect: alone, effect: guarded, call failed: endTurn
  death: at any moment, death: after a write, death: before BEGIN, death: a tool that kills
  death: put out of memory; sockets kept, death: replaced; runs on, write failed: INSERT INTO log
  event: agent_summary, summary: messages left out, compact: ok, compact: busy, event: steer, event: prompt_dropped, event: tool_recovered, event: error
`;

it("[SIM-1] [SIM-2] keeps every promise in a few hundred simulated worlds, which cover what they claim", async () => {
  const printed = await simulate("--seeds", "300");
  expect(printed.match(/^seed \d+ failed.*$/gm) ?? []).toEqual([]);
  expect(printed).toContain("300 seeds in");
  const counts = new Map(
    [...printed.matchAll(/^ +(\d+) {2}(.+)$/gm)].map(([, times, what = ""]) => [what, Number(times)]),
  );
  const names = COVERED.trim().split(/,\s+|\n\s*/);
  expect(names.filter((what) => !counts.has(what))).toEqual([]);
}, 120_000);

it("[SIM-3] lives a seed again step by step, and it is the same each time", async () => {
  const [first, second] = await Promise.all([
    simulate("--seed", "11", "--trace"),
    simulate("--seed", "11", "--trace"),
  ]);
  expect(first.split("\n").length).toBeGreaterThan(100);
  expect(second).toBe(first);
}, 60_000);
