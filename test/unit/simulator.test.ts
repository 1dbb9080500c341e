import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

// A process of its own: the simulator puts its clock in the place of the platform's.
it("[SIM-1] no promise is broken in 200 simulated worlds full of faults, and a world is the same every time", () => {
  const live = (from: string, seeds: string): { status: number | null; stdout: string } =>
    spawnSync(process.execPath, ["scripts/simulate.ts", "--from", from, "--seeds", seeds], {
      encoding: "utf8",
    });
  const { status, stdout } = live("1", "200");
  expect(stdout).toContain("200 seeds in");
  expect(stdout).toContain(" 0 failed");
  expect(status).toBe(0);
  const fingerprint = (said: string): string | undefined => /fingerprint (-?\d+)/.exec(said)?.[1];
  expect(fingerprint(live("7", "20").stdout)).toBe(fingerprint(live("7", "20").stdout));
}, 120_000);
