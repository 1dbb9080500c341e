import { PEER } from "./comparison.ts";
import type { Comparison, Goal } from "./comparison.ts";
import type { Spread } from "./statistics.ts";

/** Rows of cells as text, each column as wide as its widest cell: the first to the left, the others to the right. */
function renderTable(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? "";
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("   ")
      .trimEnd();
  return rows.map(line).join("\n");
}

/** The comparisons as a table: medians with their spread, the product as a multiple of the others, goals. */
export function comparisonTable(comparisons: readonly Comparison[], servers: readonly string[]): string {
  const [, ...others] = servers;
  const head = ["", ...servers, ...others.map((server) => `÷ ${server}`), "goal", ""];
  const rows = comparisons.map(({ name, unit, servers: spreads, ratios, goal, reached }) => [
    unit === "" ? name : `${name}, ${unit}`,
    ...servers.map((server) => spreadText(spreads[server])),
    ...others.map((server) => ratioText(ratios[server])),
    goalText(goal),
    reached === null ? "" : reached ? "reached" : "short",
  ]);
  return renderTable([head, ...rows]);
}

function spreadText(spread: Spread | undefined): string {
  if (!spread) return "–";
  const { median, min, max } = spread;
  return min === max ? numberText(median) : `${numberText(median)} (${numberText(min)}–${numberText(max)})`;
}

/** Three digits that count, thousands apart. */
export function numberText(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function ratioText(ratio: number | undefined): string {
  return ratio === undefined || !Number.isFinite(ratio) ? "–" : `${numberText(ratio)}×`;
}

function goalText(goal: Goal | null): string {
  if (!goal) return "";
  if ("value" in goal) return `≤ ${numberText(goal.value)}`;
  return `${goal.bound === "least" ? "≥" : "≤"} ${numberText(goal.timesPeer)}× ${PEER}`;
}
