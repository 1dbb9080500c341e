import { LightAgentError } from "../runtime/protocol/errors.ts";
import { numberBefore, toPage } from "./pages.ts";
import type { TurnReport } from "./tenant-api.ts";
import type { Page, PageQuery, SessionSummary } from "./tenant-management-api.ts";

/** A session as the index holds it. */
export interface SessionRow extends Record<string, SqlStorageValue> {
  number: number;
  id: string;
  digest: string;
  agent: string;
  agent_version: number;
  workspace: string;
  title: string;
  status: string;
  turn: number;
  head: number;
  created_at: number;
  updated_at: number;
  deleted: number;
}

interface ListedRow extends SessionRow {
  /** Whether it holds a lease; null without one. */
  running: number | null;
}

/** What a session is entered with. */
export interface SessionEntry {
  readonly id: string;
  readonly digest: string;
  readonly agent: string;
  readonly agentVersion: number;
  readonly workspace: string;
  readonly title: string;
}

/** The tenant's sessions. A deleted one keeps its row, so that its id is never used again. */
export class SessionIndexStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The session's row, also of a deleted one. Reads 1 row. */
  find(id: string): SessionRow | undefined {
    return this.#sql.exec<SessionRow>("SELECT * FROM sessions WHERE id = ?", id).toArray()[0];
  }

  /** Writes 2 rows. */
  insert(entry: SessionEntry, at: number): void {
    const { id, digest, agent, agentVersion, workspace, title } = entry;
    this.#sql.exec(
      `INSERT INTO sessions (id, digest, agent, agent_version, workspace, title, status, turn, head, created_at,
        updated_at, deleted) VALUES (?, ?, ?, ?, ?, ?, 'idle', 0, 0, ?, ?, 0)`,
      id,
      digest,
      agent,
      agentVersion,
      workspace,
      title,
      at,
      at,
    );
  }

  /**
   * Newest first. Reads the rows of the page, a lease for each, and the rows of deleted sessions between them.
   * @param now A session with a lease that lasts beyond it is running
   */
  list(page: PageQuery, now: number): Page<SessionSummary> {
    const query = `SELECT sessions.*, leases.expires_at > ? AS running FROM sessions
      LEFT JOIN leases ON leases.session = sessions.id
      WHERE number < ? AND deleted = 0 ORDER BY number DESC LIMIT ?`;
    const rows = this.#sql.exec<ListedRow>(query, now, numberBefore(page), page.limit + 1).toArray();
    return toPage(rows, page, view, ({ number }) => String(number));
  }

  /** Reads 1 row, writes 1. @throws not_found */
  rename(id: string, title: string, at: number): void {
    this.#require(id);
    this.#sql.exec("UPDATE sessions SET title = ?, updated_at = ? WHERE id = ?", title, at, id);
  }

  /**
   * Takes over what a session reports, unless it has reported as much or more before; false then.
   * Reads 1 row, writes 1.
   */
  report({ session, turn, index }: TurnReport): boolean {
    const row = this.find(session);
    if (!row || row.head >= index.head) return false;
    const { agentVersion, status, head } = index;
    // A report that was under way while the session was renamed knows the name before.
    const title = index.updatedAt >= row.updated_at ? index.title : row.title;
    const updatedAt = Math.max(index.updatedAt, row.updated_at);
    const update = `UPDATE sessions SET turn = ?, title = ?, agent_version = ?, status = ?, head = ?, updated_at = ?
      WHERE id = ?`;
    this.#sql.exec(update, turn, title, agentVersion, status, head, updatedAt, session);
    return true;
  }

  /** Marks it as deleted; false when it was. Reads 1 row, writes 1. @throws not_found for one that never was */
  remove(id: string): boolean {
    const row = this.find(id);
    if (!row) throw unknownSession();
    if (row.deleted) return false;
    this.#sql.exec("UPDATE sessions SET deleted = 1 WHERE id = ?", id);
    return true;
  }

  #require(id: string): void {
    const row = this.find(id);
    if (!row || row.deleted) throw unknownSession();
  }
}

function view(row: ListedRow): SessionSummary {
  return {
    id: row.id,
    agent: row.agent,
    agentVersion: row.agent_version,
    workspace: row.workspace,
    title: row.title,
    status: row.running ? "running" : row.status === "waiting" ? "waiting" : "idle",
    head: row.head,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function unknownSession(): LightAgentError {
  return new LightAgentError("not_found", "There is no such session.");
}
