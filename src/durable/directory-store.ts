import { conflict, toPage } from "./pages.ts";
import type { Page, PageQuery, TenantSummary } from "./tenant-management-api.ts";

interface TenantRow extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  created_at: number;
  deleted: number;
}

/** The directory of tenants. A deleted one keeps its row, so that its id is never used again. */
export class DirectoryStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Reads 1 row, writes 1; none for a tenant that is listed. @throws id_taken */
  enter(tenant: { id: string; name: string }, at: number): void {
    const [row] = this.#sql.exec<TenantRow>("SELECT * FROM tenants WHERE id = ?", tenant.id).toArray();
    if (row?.deleted) throw conflict("tenant", false);
    if (row) return;
    this.#sql.exec(
      "INSERT INTO tenants (id, name, created_at, deleted) VALUES (?, ?, ?, 0)",
      tenant.id,
      tenant.name,
      at,
    );
  }

  /** Writes 1 row. */
  rename({ id, name }: { id: string; name: string }): void {
    this.#sql.exec("UPDATE tenants SET name = ? WHERE id = ?", name, id);
  }

  /** Writes 1 row. */
  forget(id: string): void {
    this.#sql.exec("UPDATE tenants SET deleted = 1 WHERE id = ?", id);
  }

  /** By id. Reads the rows of the page and those of deleted tenants between them. */
  list(page: PageQuery): Page<TenantSummary> {
    const query = "SELECT * FROM tenants WHERE id > ? AND deleted = 0 ORDER BY id LIMIT ?";
    const rows = this.#sql.exec<TenantRow>(query, page.cursor ?? "", page.limit + 1).toArray();
    return toPage(rows, page, view, ({ id }) => id);
  }
}

function view({ id, name, created_at }: TenantRow): TenantSummary {
  return { id, name, createdAt: created_at };
}
