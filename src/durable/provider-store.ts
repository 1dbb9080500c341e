import { LightAgentError } from "../runtime/protocol/errors.ts";
import { toPage } from "./pages.ts";
import type { SealedProvider } from "./tenant-api.ts";
import type { Page, PageQuery, ProviderView } from "./tenant-management-api.ts";

interface ProviderRow extends Record<string, SqlStorageValue> {
  id: string;
  base_url: string;
  dialect: SealedProvider["dialect"];
  /** As JSON. */
  compat: string;
  sealed: string;
  created_at: number;
}

/** The tenant's own model providers. Their keys are here as they were sealed, and nobody here can open them. */
export class ProviderStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores a provider in place of what was under its id. Reads all rows, at most `max`; writes 1. @throws too_many_providers */
  put({ id, baseUrl, dialect, compat, sealed }: SealedProvider, max: number, at: number): ProviderView {
    const known = this.all();
    if (known.length >= max && !known.some((other) => other.id === id)) {
      const details = { limit: "modelProviders", value: max };
      throw new LightAgentError(
        "too_many_providers",
        "The tenant has as many model providers as it may.",
        details,
      );
    }
    this.#sql.exec(
      "INSERT OR REPLACE INTO providers (id, base_url, dialect, compat, sealed, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      baseUrl,
      dialect,
      JSON.stringify(compat),
      sealed,
      at,
    );
    return { id, baseUrl, dialect, compat, createdAt: at };
  }

  /** By id. Reads the rows of the page. */
  list(page: PageQuery): Page<ProviderView> {
    const query = "SELECT * FROM providers WHERE id > ? ORDER BY id LIMIT ?";
    const rows = this.#sql.exec<ProviderRow>(query, page.cursor ?? "", page.limit + 1).toArray();
    return toPage(
      rows,
      page,
      (row) => {
        const { sealed: _sealed, ...view } = provider(row);
        return { ...view, createdAt: row.created_at };
      },
      ({ id }) => id,
    );
  }

  /** All of them, for a turn that begins. Reads all rows: `modelProviders` at most. */
  all(): SealedProvider[] {
    const rows = this.#sql.exec<ProviderRow>("SELECT * FROM providers ORDER BY id").toArray();
    return rows.map(provider);
  }

  /** Forgets all keys. Writes a row for each. */
  clear(): void {
    this.#sql.exec("DELETE FROM providers");
  }

  /** Reads 1 row, writes 1. @throws not_found */
  remove(id: string): void {
    const known = this.#sql.exec("SELECT id FROM providers WHERE id = ?", id).toArray().length > 0;
    if (!known) throw new LightAgentError("not_found", "There is no such provider.");
    this.#sql.exec("DELETE FROM providers WHERE id = ?", id);
  }
}

function provider({ id, base_url, dialect, compat, sealed }: ProviderRow): SealedProvider {
  return { id, baseUrl: base_url, dialect, compat: JSON.parse(compat) as SealedProvider["compat"], sealed };
}
