import type { WaitingPrompt } from "../runtime/protocol/waiting-prompt.ts";

interface PromptRow extends Record<string, SqlStorageValue> {
  id: string;
  state: string;
  body: string;
}

/** What a row of `prompts` remembers of a prompt: all of it while it waits, its digest and receipt afterwards. */
export type StoredPrompt = Pick<WaitingPrompt, "promptId" | "digest" | "receipt">;

/** Prompts that wait, that a running turn took in, or that were dropped (a tombstone, so that its id stays known). */
export class PromptStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Writes 1 row. */
  insert(prompt: WaitingPrompt): void {
    const place = "(SELECT coalesce(max(place), 0) + 1 FROM prompts)";
    const query = `INSERT INTO prompts (id, place, state, body) VALUES (?, ${place}, 'waiting', ?)`;
    this.#sql.exec(query, prompt.promptId, JSON.stringify(prompt));
  }

  /** Remembers a prompt that another session has dropped. Writes 1 row. */
  insertDropped(prompt: StoredPrompt): void {
    const query = "INSERT INTO prompts (id, place, state, body) VALUES (?, 0, 'dropped', ?)";
    this.#sql.exec(query, prompt.promptId, JSON.stringify(prompt));
  }

  /** Writes 1 row. */
  delete(promptId: string): void {
    this.#sql.exec("DELETE FROM prompts WHERE id = ?", promptId);
  }

  /** Keeps the id, its digest and its receipt. Writes 1 row. */
  drop(promptId: string): void {
    const stored = this.find(promptId);
    if (!stored) return;
    const { digest, receipt } = stored;
    const body = JSON.stringify({ promptId, digest, receipt });
    this.#sql.exec("UPDATE prompts SET state = 'dropped', body = ? WHERE id = ?", body, promptId);
  }

  /** Reads 1 row. */
  find(promptId: string): StoredPrompt | undefined {
    const [row] = this.#sql
      .exec<PromptRow>("SELECT id, state, body FROM prompts WHERE id = ?", promptId)
      .toArray();
    return row && (JSON.parse(row.body) as StoredPrompt);
  }

  /** All that wait, and those that the open turn took in, in the order of acceptance. Reads every row once. */
  undropped(): WaitingPrompt[] {
    const query = "SELECT id, state, body FROM prompts WHERE state = 'waiting' ORDER BY place";
    return this.#sql
      .exec<PromptRow>(query)
      .toArray()
      .map((row) => JSON.parse(row.body) as WaitingPrompt);
  }

  /** Removes every prompt: the session is deleted. */
  clear(): void {
    this.#sql.exec("DELETE FROM prompts");
  }
}
