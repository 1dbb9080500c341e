import { measureTurn } from "./measured-turn.ts";
import type { MeasuredTurn } from "./measured-turn.ts";
import { textScript } from "./model-script.ts";
import type { TextScript } from "./model-script.ts";
import type { Benchmark, Figures } from "./rounds.ts";
import type { BenchServer } from "./servers/server.ts";
import { textFigures } from "./turn-figures.ts";
import type { TextFigures } from "./turn-figures.ts";

const BURST = 2_000;
const PACED = 200;
const LONG = 600;
const PACE_MS = 5;

/** How one client sees a reply stream: throughput, what the server adds to a delta's way, bytes, rows, processor time. */
export const stream: Benchmark = {
  shown: [
    {
      key: "single",
      name: "2,000 deltas, one per TCP write",
      unit: "deltas/s",
      goal: { timesPeer: 10, bound: "least" },
    },
    {
      key: "twenty",
      name: "2,000 deltas, 20 per TCP write",
      unit: "deltas/s",
      goal: { timesPeer: 30, bound: "least" },
    },
    {
      key: "processor",
      name: "processor time of the first",
      unit: "ms",
      goal: { timesPeer: 0.1, bound: "most" },
    },
    { key: "twentyProcessor", name: "processor time of the second", unit: "ms" },
    {
      key: "first",
      name: "200 deltas 5 ms apart: prompt to first delta",
      unit: "ms",
      goal: { timesPeer: 0.5, bound: "most" },
    },
    { key: "p50", name: "  added to a delta, p50", unit: "ms", goal: { timesPeer: 0.5, bound: "most" } },
    { key: "p99", name: "  added to a delta, p99", unit: "ms", goal: { timesPeer: 1, bound: "most" } },
    {
      key: "pacedBytes",
      name: "bytes per delta, paced",
      unit: "bytes",
      goal: { timesPeer: 0.5, bound: "most" },
    },
    {
      key: "burstBytes",
      name: "bytes per delta, one per TCP write",
      unit: "bytes",
      goal: { timesPeer: 0.15, bound: "most" },
    },
    { key: "twentyBytes", name: "bytes per delta, 20 per TCP write", unit: "bytes" },
    { key: "allBytes", name: "all bytes of that turn, per delta", unit: "bytes" },
    { key: "rows", name: "rows written, 2,000 at once", unit: "rows", goal: { value: 4, bound: "most" } },
    { key: "pacedRows", name: "rows written, 200 paced", unit: "rows", goal: { value: 4, bound: "most" } },
    { key: "longRows", name: "rows written, 600 paced", unit: "rows", goal: { value: 4, bound: "most" } },
    { key: "elsewhere", name: "  of a turn, in other objects", unit: "rows" },
    { key: "alarms", name: "  alarms set and deleted, 200 paced", unit: "" },
    { key: "keyValue", name: "  keys put and deleted, 200 paced", unit: "" },
    { key: "statements", name: "  SQL statements, 200 paced", unit: "" },
  ],

  async round(server, last): Promise<Figures> {
    const single = await textTurn(server, textScript(BURST));
    const twenty = await textTurn(server, textScript(BURST, 20));
    const paced = await textTurn(server, textScript(PACED, 1, PACE_MS));
    const long = last ? await textTurn(server, textScript(LONG, 1, PACE_MS)) : null;
    return {
      single: single.figures.perSecond,
      twenty: twenty.figures.perSecond,
      ...(single.processorMs === null ? {} : { processor: single.processorMs }),
      ...(twenty.processorMs === null ? {} : { twentyProcessor: twenty.processorMs }),
      first: paced.figures.firstMs,
      p50: paced.figures.p50Ms,
      p99: paced.figures.p99Ms,
      pacedBytes: paced.figures.bytesPerDelta,
      burstBytes: single.figures.bytesPerDelta,
      twentyBytes: twenty.figures.bytesPerDelta,
      allBytes: twenty.figures.allBytesPerDelta,
      rows: single.billed.rows,
      pacedRows: paced.billed.rows,
      ...(long ? { longRows: long.billed.rows } : {}),
      elsewhere: paced.billedElsewhere.rows,
      alarms: paced.billed.alarms,
      keyValue: paced.billed.keyValue,
      statements: paced.billed.statements,
    };
  },
};

async function textTurn(
  server: BenchServer,
  script: TextScript,
): Promise<MeasuredTurn & { figures: TextFigures }> {
  const measured = await measureTurn(server, script, "instant");
  const figures = textFigures(measured.turn, measured.dialect);
  if (figures.deltas !== script.deltas) {
    throw new Error(`${server.name} delivered ${figures.deltas} of ${script.deltas} deltas.`);
  }
  return { ...measured, figures };
}
