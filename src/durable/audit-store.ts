import type { Principal } from "../runtime/protocol/principal.ts";
import { numberBefore, toPage } from "./pages.ts";
import type { AuditEntry } from "./tenant-api.ts";
import type { AuditRow, Page, PageQuery } from "./tenant-management-api.ts";

interface Row extends Record<string, SqlStorageValue> {
  number: number;
  at: number;
  by_kind: Principal["kind"];
  by_id: string;
  key_id: string | null;
  action: string;
  target: string;
  result: string;
  request_id: string | null;
}

/** The tenant's audit log: rows are added, never changed. */
export class AuditStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Writes 1 row. */
  append({ at, by, keyId, action, target, result, requestId }: AuditEntry): void {
    this.#sql.exec(
      `INSERT INTO audit (at, by_kind, by_id, key_id, action, target, result, request_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      at,
      by.kind,
      by.id,
      keyId ?? null,
      action,
      target,
      result,
      requestId ?? null,
    );
  }

  /** Newest first. Reads the rows of the page and 1 more. */
  list(page: PageQuery): Page<AuditRow> {
    const query = "SELECT * FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?";
    const rows = this.#sql.exec<Row>(query, numberBefore(page), page.limit + 1).toArray();
    return toPage(rows, page, view, ({ number }) => String(number));
  }
}

function view(row: Row): AuditRow {
  return {
    number: row.number,
    at: row.at,
    by: { kind: row.by_kind, id: row.by_id },
    ...(row.key_id !== null && { keyId: row.key_id }),
    action: row.action,
    target: row.target,
    result: row.result,
    ...(row.request_id !== null && { requestId: row.request_id }),
  };
}
