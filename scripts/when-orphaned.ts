import { readFileSync } from "node:fs";

const PERIOD_MS = 500;

/** Calls back once when this process has lost its parent or, where /proc tells it, the parent of that one. */
export function whenOrphaned(callback: () => void): void {
  const before = ancestors();
  const timer = setInterval(() => {
    if (ancestors() === before) return;
    clearInterval(timer);
    callback();
  }, PERIOD_MS);
  timer.unref();
}

function ancestors(): string {
  const parent = process.ppid;
  try {
    const status = readFileSync(`/proc/${parent}/status`, "utf8");
    return `${parent} ${/^PPid:\s*(\d+)$/m.exec(status)?.[1]}`;
  } catch {
    return `${parent}`;
  }
}
