import type { Limits } from "../runtime/protocol/limits.ts";
import type { ModelTally, RestingModel } from "../runtime/model/router/model-health.ts";
import { toPage } from "./pages.ts";
import type { ModelFigures, Page, PageQuery } from "./tenant-management-api.ts";

interface ModelRow extends Record<string, SqlStorageValue> {
  model: string;
  requests: number;
  successes: number;
  failures: number;
  input: number;
  output: number;
  failing: number;
  rests_until: number;
}

/** What the tenant's sessions found of each model: figures, and until when one that fails is left alone. */
export class ModelHealthStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Adds what one turn found. A model that fails too often in a row rests. Reads and writes 1 row per model. */
  add(
    tallies: readonly ModelTally[],
    limits: Pick<Limits, "breakerFailures" | "breakerRestMs">,
    at: number,
  ): void {
    for (const tally of tallies) {
      const query = "SELECT * FROM models WHERE model = ?";
      const before = this.#sql.exec<ModelRow>(query, tally.model).toArray()[0];
      const failing = (tally.successes > 0 ? 0 : (before?.failing ?? 0)) + tally.failing;
      const trips = tally.failing > 0 && failing >= limits.breakerFailures;
      const restsUntil = trips
        ? at + limits.breakerRestMs
        : tally.successes > 0
          ? 0
          : (before?.rests_until ?? 0);
      this.#sql.exec(
        "INSERT OR REPLACE INTO models (model, requests, successes, failures, input, output, failing, rests_until) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        tally.model,
        (before?.requests ?? 0) + tally.requests,
        (before?.successes ?? 0) + tally.successes,
        (before?.failures ?? 0) + tally.failures,
        (before?.input ?? 0) + tally.inputTokens,
        (before?.output ?? 0) + tally.outputTokens,
        failing,
        restsUntil,
      );
    }
  }

  /** Models that are to be left alone at `now`. Reads all rows: as many as the tenant has ever used. */
  resting(now: number): RestingModel[] {
    const query = "SELECT * FROM models WHERE rests_until > ?";
    const rows = this.#sql.exec<ModelRow>(query, now).toArray();
    return rows.map(({ model, rests_until }) => ({ model, until: rests_until }));
  }

  /** By model. Reads the rows of the page. */
  list(page: PageQuery, now: number): Page<ModelFigures> {
    const query = "SELECT * FROM models WHERE model > ? ORDER BY model LIMIT ?";
    const rows = this.#sql.exec<ModelRow>(query, page.cursor ?? "", page.limit + 1).toArray();
    return toPage(
      rows,
      page,
      (row) => figures(row, now),
      ({ model }) => model,
    );
  }
}

function figures(
  { model, requests, successes, failures, input, output, rests_until }: ModelRow,
  now: number,
): ModelFigures {
  const restsUntil = rests_until > now ? rests_until : null;
  return { model, requests, successes, failures, inputTokens: input, outputTokens: output, restsUntil };
}
