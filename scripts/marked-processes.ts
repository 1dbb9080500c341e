import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/**
 * The ids of living processes whose environment holds `NAME=value`. A process inherits the mark from its parent and
 * keeps it when that one dies, which is how orphans are found.
 */
export function markedProcesses(mark: string): number[] {
  const found = process.platform === "linux" ? fromProc(mark) : fromPs(mark);
  return found.filter((id) => id !== process.pid);
}

function fromProc(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(mark))
    .map(Number);
}

function environmentOf(id: string): string[] {
  try {
    return readFileSync(`/proc/${id}/environ`, "utf8").split("\0");
  } catch {
    // It ended meanwhile, or belongs to somebody else.
    return [];
  }
}

function fromPs(mark: string): number[] {
  const { stdout } = spawnSync("ps", ["-AEww", "-o", "pid=,command="], { encoding: "utf8" });
  return (stdout ?? "")
    .split("\n")
    .filter((line) => line.split(" ").includes(mark))
    .map((line) => Number.parseInt(line, 10));
}
