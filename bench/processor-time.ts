import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

/** `sysconf(_SC_CLK_TCK)`, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

interface ProcessStat {
  readonly name: string;
  readonly parent: number;
  readonly ticks: number;
}

/** The processor time of a process so far, in ms, in steps of 10; null where there is no /proc. */
export function processorMs(processId: number): number | null {
  const stat = readStat(String(processId));
  return stat && (stat.ticks * 1000) / TICKS_PER_SECOND;
}

/** The memory of a process that is resident, in KB; null where there is no /proc. */
export function residentKb(processId: number): number | null {
  try {
    const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, "utf8")) ?? [];
    return kb === undefined ? null : Number(kb);
  } catch {
    return null;
  }
}

/** The ids of this process's children with a name. */
export function children(name: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((id) => /^\d+$/.test(id))
    .filter((id) => {
      const stat = readStat(id);
      return stat?.name === name && stat.parent === process.pid;
    })
    .map(Number);
}

function readStat(processId: string): ProcessStat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${processId}/stat`, "utf8");
  } catch {
    return null;
  }
  // The name is in parentheses and may hold blanks; the fields after it are numbered from 3 in proc(5).
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).split(" ");
  const field = (number: number): number => Number(fields[number - 3]);
  return { name: text.slice(text.indexOf("(") + 1, end), parent: field(4), ticks: field(14) + field(15) };
}

/** Starts to watch the machine; the returned function says how many of its cores have been busy since. */
export function watchCores(): () => number {
  const [idleBefore, since] = [idleMs(), performance.now()];
  return () => Math.max(0, cpus().length - (idleMs() - idleBefore) / (performance.now() - since));
}

function idleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}
