import type { Random } from "../src/runtime/protocol/time.ts";

const BASE_MS = 500;
const CAP_MS = 15_000;

/** ms to wait before a try, by the number of tries that failed in a row: full jitter under a doubling bound. */
export function retryDelay(failures: number, random: Random): number {
  return Math.round(random() * Math.min(CAP_MS, BASE_MS * 2 ** failures));
}
