import type { Usage } from "../runtime/protocol/usage.ts";
import { toPage } from "./pages.ts";
import type { UsageTotal } from "./tenant-api.ts";
import type { Page, PageQuery, UsageSum } from "./tenant-management-api.ts";

interface Counts extends Record<string, SqlStorageValue> {
  input: number;
  output: number;
  cached_input: number;
  reasoning: number;
  cost: number;
}
interface SumRow extends Counts {
  day: string;
  agent: string;
  model: string;
}

const COLUMNS = ["input", "output", "cached_input", "reasoning", "cost"] as const;
const NOTHING: Counts = { input: 0, output: 0, cached_input: 0, reasoning: 0, cost: 0 };

/**
 * Tokens and costs. Sessions report their totals, never differences, so a report that comes twice or late counts
 * once; the sums by day, agent and model move by what a total has grown.
 */
export class UsageStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Takes over a session's total. Reads 2 rows, writes 2; none when it has not grown. */
  report(session: string, total: UsageTotal): void {
    const { day, agent, model } = total;
    const key = [session, day, agent, model];
    const known =
      this.#sql
        .exec<Counts>(
          "SELECT * FROM usage_of_sessions WHERE session = ? AND day = ? AND agent = ? AND model = ?",
          ...key,
        )
        .toArray()[0] ?? NOTHING;
    const reported = countsOf(total);
    // Totals only grow: a smaller one is a report that comes late.
    const grown = COLUMNS.map((column) => Math.max(0, reported[column] - known[column]));
    if (grown.every((count) => count === 0)) return;
    const totals = COLUMNS.map((column, index) => known[column] + (grown[index] ?? 0));
    this.#sql.exec(
      "INSERT OR REPLACE INTO usage_of_sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...key,
      ...totals,
    );
    this.#sql.exec(
      `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (day, agent, model) DO UPDATE SET
        ${COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ")}`,
      day,
      agent,
      model,
      ...grown,
    );
  }

  /** Tokens of the days from `from` to `to`, both included. Reads a row per day, agent and model. */
  tokens(from: string, to: string): number {
    const query = "SELECT coalesce(sum(input + output), 0) AS tokens FROM usage WHERE day BETWEEN ? AND ?";
    return this.#sql.exec<{ tokens: number }>(query, from, to).one().tokens;
  }

  /** By day, agent and model. Reads the rows of the page and 1 more. */
  list({ from, to }: { from: string; to: string }, page: PageQuery): Page<UsageSum> {
    const query = `SELECT * FROM usage WHERE day BETWEEN ? AND ? AND (day, agent, model) > (?, ?, ?)
      ORDER BY day, agent, model LIMIT ?`;
    const rows = this.#sql
      .exec<SumRow>(query, from, to, ...decodeCursor(page.cursor), page.limit + 1)
      .toArray();
    return toPage(rows, page, view, encodeCursor);
  }
}

/** A report in the form of the columns. */
function countsOf({ usage, cost }: { usage: Usage; cost: number }): Counts {
  const { input, output, cachedInput, reasoning } = usage;
  return { input, output, cached_input: cachedInput, reasoning, cost };
}

function view({ day, agent, model, input, output, cached_input, reasoning, cost }: SumRow): UsageSum {
  return { day, agent, model, usage: { input, output, cachedInput: cached_input, reasoning }, cost };
}

/** A model's name may hold any character, a cursor only some: so each UTF-16 unit of it is four hex digits. */
function encodeCursor({ day, agent, model }: SumRow): string {
  let units = "";
  for (let index = 0; index < model.length; index += 1) {
    units += model.charCodeAt(index).toString(16).padStart(4, "0");
  }
  return `${day}.${agent}.${units}`;
}

function decodeCursor(cursor: string | null): [day: string, agent: string, model: string] {
  const [day = "", agent = "", units = ""] = (cursor ?? "").split(".");
  const model = units.replaceAll(/.{4}/g, (unit) => String.fromCharCode(Number.parseInt(unit, 16)));
  return [day, agent, model];
}
