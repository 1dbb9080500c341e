/**
 * Waits until whoever started it is gone, which its closed stdin tells in every case, `kill -9` included, and then
 * ends all processes that bear the mark. Without it workerd outlives a wrangler that was killed and keeps the port.
 *
 *     node reaper.ts NAME=value
 */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { markedProcesses } from "./marked-processes.ts";

const GRACE_MS = 3_000;
const [, , mark = ""] = process.argv;
if (!/^\w+=[\w-]+$/.test(mark)) throw new Error("Expected NAME=value.");

process.stdin.resume();
await once(process.stdin, "end");

endAll("SIGTERM");
for (let waited = 0; waited < GRACE_MS && markedProcesses(mark).length > 0; waited += 100) await delay(100);
endAll("SIGKILL");

function endAll(signal: NodeJS.Signals): void {
  for (const id of markedProcesses(mark)) {
    try {
      process.kill(id, signal);
    } catch {
      // It ended meanwhile.
    }
  }
}
