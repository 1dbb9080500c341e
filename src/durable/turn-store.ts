import type { SessionFold } from "../runtime/protocol/session-fold.ts";
import type { StoredPrompt } from "./prompt-store.ts";
import type { UsageTotals } from "./usage-totals.ts";

interface TurnRow extends Record<string, SqlStorageValue> {
  turn: number;
  model: string | null;
  status: string;
  fold: string;
  usage: string;
  workspace_version: number | null;
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
    const query =
      "SELECT turn, model, status, fold, usage, workspace_version FROM turns ORDER BY turn DESC LIMIT 1";
    const [row] = this.#sql.exec<TurnRow>(query).toArray();
    if (!row) return undefined;
    const fold = JSON.parse(row.fold) as SessionFold;
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

  /** The `seq` of a turn's first event; undefined for a turn that never began. Reads 1 row. */
  firstSeq(turn: number): number | undefined {
    const query = "SELECT first_seq FROM turns WHERE turn = ?";
    return this.#sql.exec<{ first_seq: number }>(query, turn).toArray()[0]?.first_seq;
  }

  /** What the row of a running turn remembers of the prompt that opened it. Reads 1 row. */
  opener(turn: number): StoredPrompt[] {
    const [row] = this.#sql
      .exec<{ prompts: string }>("SELECT prompts FROM turns WHERE turn = ?", turn)
      .toArray();
    return row ? (JSON.parse(row.prompts) as StoredPrompt[]) : [];
  }
}
