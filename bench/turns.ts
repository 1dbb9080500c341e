import { measureTurn } from "./measured-turn.ts";
import type { MeasuredTurn } from "./measured-turn.ts";
import type { Benchmark, Figures } from "./rounds.ts";
import type { BenchServer } from "./servers/server.ts";
import { textFigures, wholeMs } from "./turn-figures.ts";

const STEPS = 20;
const CALLS = 5;

/** What a server adds to steps with tools, when neither the model nor the tool takes time. */
export const turns: Benchmark = {
  shown: [
    {
      key: "stepMs",
      name: "20 steps, one call each",
      unit: "ms per step",
      goal: { timesPeer: 0.33, bound: "most" },
    },
    { key: "stepRows", name: "  rows written", unit: "per step" },
    { key: "turnRows", name: "  rows written, whole turn", unit: "rows", goal: { value: 46, bound: "most" } },
    { key: "stepStatements", name: "  SQL statements", unit: "per step" },
    { key: "stepProcessor", name: "  processor time", unit: "ms per step" },
    {
      key: "tenRows",
      name: "10 steps, one call each: rows, whole turn",
      unit: "rows",
      goal: { value: 24, bound: "most" },
    },
    {
      key: "parallelMs",
      name: "20 steps, 5 calls each",
      unit: "ms per step",
      goal: { timesPeer: 0.33, bound: "most" },
    },
    { key: "parallelRows", name: "  rows written", unit: "per step" },
    { key: "fileMs", name: "20 steps, read_file of no file", unit: "ms per step" },
    { key: "filesMs", name: "20 steps, 5 × read_file of no file", unit: "ms per step" },
    { key: "elsewhere", name: "20 steps: rows in other objects", unit: "rows" },
  ],

  async round(server, last): Promise<Figures> {
    const one = await steps(server, 1, "instant");
    const many = await steps(server, CALLS, "instant");
    const ten = last ? await steps(server, 1, "instant", STEPS / 2) : null;
    return {
      stepMs: one.ms / STEPS,
      stepRows: one.billed.rows / STEPS,
      turnRows: one.billed.rows,
      stepStatements: one.billed.statements / STEPS,
      ...(one.processorMs === null ? {} : { stepProcessor: one.processorMs / STEPS }),
      ...(ten ? { tenRows: ten.billed.rows } : {}),
      parallelMs: many.ms / STEPS,
      parallelRows: many.billed.rows / STEPS,
      elsewhere: one.billedElsewhere.rows,
      ...(server.name === "product" ? await fileSteps(server) : {}),
    };
  },
};

/** The product with a tool of its own, which asks the workspace's object: no other server has one. */
async function fileSteps(server: BenchServer): Promise<Figures> {
  const one = await steps(server, 1, "read_file");
  const many = await steps(server, CALLS, "read_file");
  return { fileMs: one.ms / STEPS, filesMs: many.ms / STEPS };
}

async function steps(
  server: BenchServer,
  calls: number,
  tool: string,
  count = STEPS,
): Promise<MeasuredTurn & { ms: number }> {
  const measured = await measureTurn(server, { kind: "steps", steps: count, calls, tool }, tool);
  // The model gives its one delta when it has seen all steps.
  const { deltas } = textFigures(measured.turn, measured.dialect);
  if (deltas !== 1) throw new Error(`${server.name} did not come to the end of ${count} steps.`);
  return { ...measured, ms: wholeMs(measured.turn) };
}
