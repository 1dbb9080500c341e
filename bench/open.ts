import type { Goal, Measure } from "./comparison.ts";
import { quantile } from "./statistics.ts";
import { startWorker } from "./worker-process.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Events of the sessions that are opened. */
export const OPENED = [100, 1_000, 10_000, 100_000];

const EVENTS_PER_TURN = 4;
/** Turns of one request. */
const FILLED_AT_ONCE = 1_000;
/** Of the largest session, in the time of the smallest. */
const FLAT = 1.5;

type Timed = Readonly<Record<"open" | "context", { readonly ms: number[]; readonly rows: number[] }>>;

/**
 * Opens sessions of several lengths in an object that has just begun, and builds a model's input from them, each with and
 * without a summary of all but the last turn: whole calls, from outside, the lengths in turn.
 */
export async function openMeasures(runs: number, sizes: readonly number[]): Promise<Measure[]> {
  const worker = await startWorker("wrangler.toml", "bench/workers/open.js", {
    ROOT_KEY: "bench",
    SIGNING_KEY: "bench",
    ENCRYPTION_KEY: "bench",
  });
  try {
    const sessions = sizes.flatMap((events) =>
      [false, true].map((summarised) => ({ events, summarised, id: `s${events}${summarised ? "s" : ""}` })),
    );
    for (const session of sessions) await fill(worker, session);
    const times = new Map<string, Timed>();
    for (let run = 0; run <= runs; run += 1) {
      for (const { id } of sessions) {
        const known = times.get(id) ?? { open: { ms: [], rows: [] }, context: { ms: [], rows: [] } };
        times.set(id, known);
        for (const what of ["open", "context"] as const) {
          const { ms, rows } = await cold(worker, id, what);
          if (run === 0) continue;
          known[what].ms.push(ms);
          known[what].rows.push(rows);
        }
      }
    }
    const [smallest] = sessions;
    const first = smallest && times.get(smallest.id);
    return sessions.flatMap(({ id, events, summarised }) => {
      const timed = times.get(id);
      if (!timed || !first) return [];
      const label = `${events.toLocaleString("en-US")} events${summarised ? ", summarised" : ""}`;
      return (["open", "context"] as const).flatMap((what) => {
        const isFlat = what === "open" || summarised;
        const goal: Goal = { value: quantile(first[what].ms, 0.5) * FLAT, bound: "most" };
        return [
          {
            name: `${label}: ${what}`,
            unit: "ms",
            ...(isFlat ? { goal } : {}),
            values: { product: timed[what].ms },
          },
          { name: "  rows read", unit: "", values: { product: timed[what].rows } },
        ];
      });
    });
  } finally {
    await worker.stop();
  }
}

interface FilledSession {
  readonly id: string;
  readonly events: number;
  readonly summarised: boolean;
}

async function fill(worker: WorkerProcess, { id, events, summarised }: FilledSession): Promise<void> {
  await call(worker, id, "create");
  const turns = Math.ceil(events / EVENTS_PER_TURN);
  for (let left = turns; left > 0; left -= FILLED_AT_ONCE) {
    const isLast = left <= FILLED_AT_ONCE;
    await call(worker, id, "fill", {
      turns: Math.min(left, FILLED_AT_ONCE),
      summarised: summarised && isLast,
    });
  }
}

/** One call to an object that has just begun. */
async function cold(worker: WorkerProcess, id: string, what: string): Promise<{ ms: number; rows: number }> {
  await call(worker, id, "evict");
  const began = performance.now();
  await call(worker, id, what);
  const ms = performance.now() - began;
  return { ms, rows: Number(await call(worker, id, "rows")) };
}

async function call(worker: WorkerProcess, id: string, action: string, body: object = {}): Promise<unknown> {
  const request = { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`${worker.url}/${action}?session=${id}`, request);
  const text = await response.text();
  if (!response.ok || text.includes('"ok":false')) throw new Error(`${action}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}
