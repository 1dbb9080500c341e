import { deployment } from "../deployment.ts";
import { traceOf } from "../runtime/protocol/error-trace.ts";
import { LightAgentError, isLightAgentError } from "../runtime/protocol/errors.ts";
import { DEFAULT_AGENT } from "./agent-store.ts";
import { answer } from "../runtime/protocol/answer.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import { hasSchema, migrate } from "./migrations.ts";
import { conflict } from "./pages.ts";
import type { Act, DirectoryName, NewTenant, TenantView } from "./tenant-management-api.ts";
import { DIRECTORY_MIGRATIONS, TENANT_MIGRATIONS } from "./tenant-migrations.ts";
import { tenantView } from "./tenant-record.ts";
import type { TenantBounds, TenantRecord } from "./tenant-record.ts";
import type { TenantStores } from "./tenant-stores.ts";

const DIRECTORY: DirectoryName = "!root";

/**
 * The one way into a Tenant object. Nothing is read or written for a tenant that does not exist, every write is a
 * transaction, and a change brings its line of the audit log with it. What a body throws becomes the answer.
 */
export class TenantEntry {
  readonly #name: string | undefined;
  readonly #storage: DurableObjectStorage;
  readonly #stores: TenantStores;

  constructor({ id, storage }: DurableObjectState, stores: TenantStores) {
    this.#name = id.name;
    this.#storage = storage;
    this.#stores = stores;
  }

  /**
   * Creates the tenant: the only way in that writes for a tenant that does not exist. The object's own name must be the
   * tenant's, so that no caller can make one tenant's object another's.
   * @throws id_taken, idempotency_mismatch
   */
  create({ id, name, key, repeatable }: NewTenant, act: Act): Promise<Answer<TenantView>> {
    return answer(() => {
      if (id !== this.#name || id === DIRECTORY) throw unknownTenant();
      const { records, keys, agents } = this.#stores;
      const existing = hasSchema(this.#storage.sql) ? records.find() : undefined;
      if (existing) {
        const same = existing.name === name && existing.deletedAt === null && keys.has(key.id, key.hash);
        if (repeatable && same) return tenantView(existing);
        throw conflict("tenant", repeatable);
      }
      migrate(this.#storage, TENANT_MIGRATIONS);
      return this.#audited(act, "tenant.create", `tenant:${id}`, () => {
        keys.create({ ...key, repeatable }, Date.now());
        agents.create({ id: DEFAULT_AGENT, definition: {}, repeatable }, Date.now());
        return tenantView(records.create(id, name, Date.now()));
      });
    }, report);
  }

  /** A question: writes nothing. */
  read<T>(body: (record: TenantRecord) => T): Promise<Answer<T>> {
    return answer(() => body(this.#open()), report);
  }

  /** For what is no change that somebody asked for: the accounts of turns. */
  write<T>(body: (bounds: TenantBounds) => T): Promise<Answer<T>> {
    return answer(() => {
      const bounds = boundsOf(this.#open());
      return this.#storage.transactionSync(() => body(bounds));
    }, report);
  }

  /** A change, with its line in the audit log; a refusal is recorded with its code. */
  change<T>(act: Act, action: string, target: string, body: (bounds: TenantBounds) => T): Promise<Answer<T>> {
    return answer(() => {
      const bounds = boundsOf(this.#open());
      return this.#audited(act, action, target, () => body(bounds));
    }, report);
  }

  /** A read or write of the directory of tenants, which exists from its first use. */
  inDirectory<T>(body: () => T): Promise<Answer<T>> {
    return answer(() => {
      if (this.#name !== DIRECTORY) throw unknownTenant();
      migrate(this.#storage, DIRECTORY_MIGRATIONS);
      return this.#storage.transactionSync(body);
    }, report);
  }

  /** The tenant, also when it is deleted and its objects may not be gone yet. */
  record(): TenantRecord | undefined {
    if (!hasSchema(this.#storage.sql)) return undefined;
    migrate(this.#storage, TENANT_MIGRATIONS);
    return this.#stores.records.find();
  }

  /** @throws not_found for a tenant that was never created or is deleted; unavailable for a later version's storage */
  #open(): TenantRecord {
    if (this.#name === DIRECTORY || !hasSchema(this.#storage.sql)) throw unknownTenant();
    migrate(this.#storage, TENANT_MIGRATIONS);
    const record = this.#stores.records.find();
    if (!record || record.deletedAt !== null) throw unknownTenant();
    return record;
  }

  /** Both or neither: the line of a change that failed for no known reason is rolled back with it. */
  #audited<T>({ by, keyId, requestId }: Act, action: string, target: string, body: () => T): T {
    const { audit } = this.#stores;
    const entry = { at: Date.now(), by, keyId, action, target, requestId };
    try {
      return this.#storage.transactionSync(() => {
        const value = body();
        audit.append({ ...entry, result: "ok" });
        return value;
      });
    } catch (caught) {
      if (isLightAgentError(caught)) audit.append({ ...entry, result: caught.code });
      throw caught;
    }
  }
}

/** What bounds a tenant: the deployment's limits with its own overrides. */
function boundsOf({ limits, budget }: TenantRecord): TenantBounds {
  return { limits: { ...deployment.limits, ...limits }, overrides: limits, budget };
}

function unknownTenant(): LightAgentError {
  return new LightAgentError("not_found", "There is no such tenant.");
}

/** One line of the operator's log. */
export function report(caught: unknown): void {
  console.error(JSON.stringify({ event: "tenant_error", ...traceOf(caught) }));
}
