import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

it("[SIM-4] finds every bug that is planted into the source, within 1,000 seeds", async () => {
  const args = ["scripts/planted-bugs.ts", "--quick", "--seeds", "1000"];
  const { stdout } = await run(process.execPath, args).catch((failed: { stdout: string }) => failed);
  expect(stdout.match(/^NOT FOUND.*$/gm) ?? []).toEqual([]);
  const [, found, planted] = /^(\d+) of (\d+) planted bugs found$/m.exec(stdout) ?? [];
  expect(found).toBe(planted);
  expect(Number(planted)).toBeGreaterThanOrEqual(12);
}, 240_000);
