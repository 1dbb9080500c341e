import type { AgentDefinition } from "../runtime/protocol/agent-definition.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { conflict, numberBefore, toPage } from "./pages.ts";
import type { AgentView, Page, PageQuery, Repeatable } from "./tenant-management-api.ts";

interface AgentRow extends Record<string, SqlStorageValue> {
  id: string;
  version: number;
  definition: string;
  created_at: number;
}

/** The agent of sessions that name none. */
export const DEFAULT_AGENT = "default";

/** The tenant's agents: every version of each, for sessions that pin one. */
export class AgentStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Version 1. Reads 1 row, writes 1. @throws id_taken, idempotency_mismatch */
  create(input: { id: string; definition: AgentDefinition } & Repeatable, at: number): AgentView {
    const { id, definition, repeatable } = input;
    const first = this.#find(id, 1);
    if (!first) return this.#insert(id, 1, definition, at);
    if (repeatable && first.definition === JSON.stringify(definition)) return view(first);
    throw conflict("agent", repeatable);
  }

  /** The next version; the newest one when it has this very definition. Reads 1 row, writes 1. @throws not_found */
  change(id: string, definition: AgentDefinition, at: number): AgentView {
    const newest = this.#newest(id);
    if (newest.definition === JSON.stringify(definition)) return view(newest);
    return this.#insert(id, newest.version + 1, definition, at);
  }

  /** The newest version. Reads 1 row. @throws not_found */
  newest(id: string): AgentView {
    return view(this.#newest(id));
  }

  /** One version. Reads 1 row. @throws not_found */
  version(id: string, version: number): AgentView {
    const row = this.#find(id, version);
    if (!row) throw unknownAgent();
    return view(row);
  }

  /** The newest version of each agent, by id. Reads every version of the agents of the page. */
  list(page: PageQuery): Page<AgentView> {
    const query = `SELECT * FROM agents AS agent WHERE id > ?
      AND version = (SELECT max(version) FROM agents WHERE id = agent.id) ORDER BY id LIMIT ?`;
    const rows = this.#sql.exec<AgentRow>(query, page.cursor ?? "", page.limit + 1).toArray();
    return toPage(rows, page, view, ({ id }) => id);
  }

  /** Newest first. Reads the rows of the page and 1 more. @throws not_found */
  listVersions(id: string, page: PageQuery): Page<AgentView> {
    this.#newest(id);
    const query = "SELECT * FROM agents WHERE id = ? AND version < ? ORDER BY version DESC LIMIT ?";
    const rows = this.#sql.exec<AgentRow>(query, id, numberBefore(page), page.limit + 1).toArray();
    return toPage(rows, page, view, ({ version }) => String(version));
  }

  /** Definitions are stored as JSON text: lone surrogates in prompts survive that way. */
  #insert(id: string, version: number, definition: AgentDefinition, at: number): AgentView {
    const insert = "INSERT INTO agents (id, version, definition, created_at) VALUES (?, ?, ?, ?)";
    this.#sql.exec(insert, id, version, JSON.stringify(definition), at);
    return { id, version, definition, createdAt: at };
  }

  #newest(id: string): AgentRow {
    const query = "SELECT * FROM agents WHERE id = ? ORDER BY version DESC LIMIT 1";
    const [row] = this.#sql.exec<AgentRow>(query, id).toArray();
    if (!row) throw unknownAgent();
    return row;
  }

  #find(id: string, version: number): AgentRow | undefined {
    const query = "SELECT * FROM agents WHERE id = ? AND version = ?";
    return this.#sql.exec<AgentRow>(query, id, version).toArray()[0];
  }
}

function view({ id, version, definition, created_at }: AgentRow): AgentView {
  return { id, version, definition: JSON.parse(definition) as AgentDefinition, createdAt: created_at };
}

function unknownAgent(): LightAgentError {
  return new LightAgentError("not_found", "There is no such agent.");
}
