import { EMPTY_FOLD } from "../runtime/protocol/session-fold.ts";
import type { SessionFold } from "../runtime/protocol/session-fold.ts";
import type { StoredPrompt } from "./prompt-store.ts";
import type { UsageTotals } from "./usage-totals.ts";

/** A turn as it is stored. */
export interface TurnRow extends Record<string, SqlStorageValue> {
  turn: number;
  first_seq: number;
  prompts: string;
  preview: string;
  model: string | null;
  workspace_version: number | null;
  status: string;
  fold: string;
  usage: string;
}

/** How a turn began. */
export interface TurnBeginning {
  readonly turn: number;
  readonly firstSeq: number;
  /** The `seq` at which the turn before ended; 0 for the first one. */
  readonly endBefore: number;
  readonly preview: string;
  readonly workspaceVersion: number | null;
}

/** A turn as its row begins. */
export interface TurnStart {
  readonly turn: number;
  readonly firstSeq: number;
  readonly prompt: StoredPrompt;
  readonly preview: string;
  readonly model: string | undefined;
  /** The fold before the turn's first event. */
  readonly fold: SessionFold;
  readonly usage: UsageTotals;
}

/** What the row of an ended turn adds. */
export interface TurnEnd {
  readonly turn: number;
  readonly prompts: readonly StoredPrompt[];
  readonly status: string;
  /** The fold after the turn's `agent_stop`. */
  readonly fold: SessionFold;
  readonly usage: UsageTotals;
  readonly workspaceVersion: number | null;
}

/** Where the log was folded up to last: opening a session starts here, however long the log is. */
export interface FoldPoint {
  readonly fold: SessionFold;
  readonly usage: UsageTotals;
  readonly model: string | undefined;
}

/** One row per turn, written when it begins and when it ends: the points from which the log can be folded on. */
export class TurnStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Writes 1 row. */
  begin({ turn, firstSeq, prompt, preview, model, fold, usage }: TurnStart): void {
    this.#sql.exec(
      "INSERT INTO turns (turn, first_seq, prompts, preview, model, status, fold, usage) VALUES (?, ?, ?, ?, ?, 'running', ?, ?)",
      turn,
      firstSeq,
      JSON.stringify([prompt]),
      preview,
      model ?? null,
      JSON.stringify(fold),
      JSON.stringify(usage),
    );
  }

  /** Writes 1 row. */
  end({ turn, prompts, status, fold, usage, workspaceVersion }: TurnEnd): void {
    this.#sql.exec(
      "UPDATE turns SET prompts = ?, status = ?, fold = ?, usage = ?, workspace_version = ? WHERE turn = ?",
      JSON.stringify(prompts),
      status,
      JSON.stringify(fold),
      JSON.stringify(usage),
      workspaceVersion,
      turn,
    );
  }

  /** Reads 1 row; undefined before the first turn. */
  last(): FoldPoint | undefined {
    const query = "SELECT * FROM turns ORDER BY turn DESC LIMIT 1";
    const [row] = this.#sql.exec<TurnRow>(query).toArray();
    if (!row) return undefined;
    // A row of an earlier release lacks what the fold has learned since.
    const fold = { ...EMPTY_FOLD, ...(JSON.parse(row.fold) as SessionFold) };
    return { fold, usage: JSON.parse(row.usage) as UsageTotals, model: row.model ?? undefined };
  }

  /** What is remembered of a prompt that a turn took: a scan of the turns, newest first. Reads up to every row. */
  findPrompt(promptId: string): StoredPrompt | undefined {
    // Ids are of a closed alphabet, so a quoted id occurs in the JSON text only as a whole string.
    const query = "SELECT prompts FROM turns WHERE instr(prompts, ?) > 0 ORDER BY turn DESC LIMIT 1";
    const [row] = this.#sql.exec<{ prompts: string }>(query, JSON.stringify(promptId)).toArray();
    const prompts = row ? (JSON.parse(row.prompts) as StoredPrompt[]) : [];
    return prompts.find((prompt) => prompt.promptId === promptId);
  }

  /** What the row of a running turn remembers of the prompt that opened it. Reads 1 row. */
  opener(turn: number): StoredPrompt[] {
    const [row] = this.#sql
      .exec<{ prompts: string }>("SELECT prompts FROM turns WHERE turn = ?", turn)
      .toArray();
    return row ? (JSON.parse(row.prompts) as StoredPrompt[]) : [];
  }

  /** The turns before one, newest first, at most `limit`. Reads two rows for each. */
  beginnings(before: number, limit: number): TurnBeginning[] {
    const query = `SELECT turns.turn, turns.first_seq AS firstSeq, turns.preview,
      turns.workspace_version AS workspaceVersion, coalesce(json_extract(earlier.fold, '$.head'), 0) AS endBefore
      FROM turns LEFT JOIN turns AS earlier ON earlier.turn = turns.turn - 1
      WHERE turns.turn < ? ORDER BY turns.turn DESC LIMIT ?`;
    type Row = TurnBeginning & Record<string, SqlStorageValue>;
    return this.#sql.exec<Row>(query, before, limit).toArray();
  }

  /** The workspace's version at the beginning of the first later turn for which it is known. Reads up to that row. */
  versionAfter(turn: number): number | null {
    const query = `SELECT workspace_version FROM turns
      WHERE turn > ? AND workspace_version IS NOT NULL ORDER BY turn LIMIT 1`;
    return this.#sql.exec<{ workspace_version: number }>(query, turn).toArray()[0]?.workspace_version ?? null;
  }

  /** The last turn's number; 0 without one. Reads 1 row. */
  head(): number {
    return this.#sql.exec<{ head: number }>("SELECT coalesce(max(turn), 0) AS head FROM turns").one().head;
  }

  /** The rows after a turn up to another. Reads them and at most one more. */
  rows(after: number, through: number): Iterable<TurnRow> {
    const query = "SELECT * FROM turns WHERE turn > ? AND turn <= ? ORDER BY turn";
    return this.#sql.exec<TurnRow>(query, after, through);
  }

  /** Adds a row that another session has had. Writes 1 row. */
  put(row: TurnRow): void {
    const query = `INSERT INTO turns (turn, first_seq, prompts, preview, model, workspace_version, status, fold, usage)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    const { turn, first_seq, prompts, preview, model, workspace_version, status, fold, usage } = row;
    this.#sql.exec(query, turn, first_seq, prompts, preview, model, workspace_version, status, fold, usage);
  }

  /** Removes every turn: the session is deleted. */
  clear(): void {
    this.#sql.exec("DELETE FROM turns");
  }
}
