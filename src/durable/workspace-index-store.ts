import { LightAgentError } from "../runtime/protocol/errors.ts";
import { conflict, numberBefore, toPage } from "./pages.ts";
import type { Page, PageQuery, WorkspaceRequest, WorkspaceSummary } from "./tenant-management-api.ts";

interface WorkspaceRow extends Record<string, SqlStorageValue> {
  number: number;
  id: string;
  name: string;
  created_at: number;
  deleted: number;
}

/** The tenant's workspaces by name. A deleted one keeps its row, so that its id is never used again. */
export class WorkspaceIndexStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Enters a workspace; false when the same request did so before. Reads 1 row, writes 2.
   * @throws id_taken, idempotency_mismatch
   */
  admit({ id, name, repeatable }: WorkspaceRequest, at: number): boolean {
    const existing = this.#find(id);
    if (existing) {
      // Also without an idempotency key: whether the workspace itself was made, its own object knows.
      if (!existing.deleted && existing.name === name) return false;
      throw conflict("workspace", repeatable);
    }
    this.#sql.exec(
      "INSERT INTO workspaces (id, name, created_at, deleted) VALUES (?, ?, ?, 0)",
      id,
      name,
      at,
    );
    return true;
  }

  /** Whether there is a workspace of this id: `taken` also when it is deleted. Reads 1 row. */
  stateOf(id: string): "free" | "there" | "deleted" {
    const row = this.#find(id);
    if (!row) return "free";
    return row.deleted ? "deleted" : "there";
  }

  /** Newest first. Reads the rows of the page and those of deleted workspaces between them. */
  list(page: PageQuery): Page<WorkspaceSummary> {
    const query = "SELECT * FROM workspaces WHERE number < ? AND deleted = 0 ORDER BY number DESC LIMIT ?";
    const rows = this.#sql.exec<WorkspaceRow>(query, numberBefore(page), page.limit + 1).toArray();
    return toPage(rows, page, view, ({ number }) => String(number));
  }

  /** Marks it as deleted; false when it was. Reads 1 row, writes 1. @throws not_found for one that never was */
  remove(id: string): boolean {
    const row = this.#find(id);
    if (!row) throw new LightAgentError("not_found", "There is no such workspace.");
    if (row.deleted) return false;
    this.#sql.exec("UPDATE workspaces SET deleted = 1 WHERE id = ?", id);
    return true;
  }

  #find(id: string): WorkspaceRow | undefined {
    return this.#sql.exec<WorkspaceRow>("SELECT * FROM workspaces WHERE id = ?", id).toArray()[0];
  }
}

function view({ id, name, created_at }: WorkspaceRow): WorkspaceSummary {
  return { id, name, createdAt: created_at };
}
