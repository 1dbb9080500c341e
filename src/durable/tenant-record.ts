import type { Limits } from "../runtime/protocol/limits.ts";
import { MetaStore } from "./meta-store.ts";
import type { TenantBudget, TenantSettings, TenantView } from "./tenant-management-api.ts";

/** The tenant itself as it is stored: a row of `meta`. */
export interface TenantRecord extends TenantView {
  readonly deletedAt: number | null;
}

/** What bounds a tenant: the limits in force, what it overrides of them, and its budget. */
export interface TenantBounds {
  readonly limits: Limits;
  readonly overrides: Partial<Limits>;
  readonly budget: TenantBudget;
}

/** Keys of the table `meta`. */
const META = {
  tenant: "tenant",
  /** How many sessions there are. */
  sessions: "sessions",
  /** The minute in which prompts are counted. */
  prompts: "prompts",
} as const;

/** When the minute of the tenant's prompts began, and how many there were since. */
export interface PromptCount {
  readonly since: number;
  readonly prompts: number;
}

/** The tenant's own values: what it is, and what is counted of it. */
export class TenantRecords {
  readonly #meta: MetaStore;

  constructor(sql: SqlStorage) {
    this.#meta = new MetaStore(sql);
  }

  /** The tenant, also a deleted one; undefined before it is created. Reads 1 row. */
  find(): TenantRecord | undefined {
    return this.#meta.get<TenantRecord>(META.tenant);
  }

  /** Writes 1 row. */
  create(id: string, name: string, at: number): TenantRecord {
    return this.#set({ id, name, limits: {}, budget: {}, createdAt: at, deletedAt: null });
  }

  /** Reads 1 row, writes 1. @throws TypeError before the tenant is created */
  update(patch: Partial<TenantSettings & Pick<TenantRecord, "deletedAt">>): TenantRecord {
    const record = this.find();
    if (!record) throw new TypeError("The tenant is not created.");
    return this.#set({ ...record, ...patch });
  }

  /** How many sessions there are. Reads 1 row. */
  sessionCount(): number {
    return this.#meta.get<number>(META.sessions) ?? 0;
  }

  /** Reads 1 row, writes 1. */
  countSessions(change: 1 | -1): void {
    this.#meta.set(META.sessions, this.sessionCount() + change);
  }

  /** Reads 1 row. */
  promptCount(): PromptCount {
    return this.#meta.get<PromptCount>(META.prompts) ?? { since: 0, prompts: 0 };
  }

  /** Writes 1 row. */
  setPromptCount(count: PromptCount): void {
    this.#meta.set(META.prompts, count);
  }

  #set(record: TenantRecord): TenantRecord {
    this.#meta.set(META.tenant, record);
    return record;
  }
}

/** What the world may see of a tenant. */
export function tenantView({ id, name, limits, budget, createdAt }: TenantView): TenantView {
  return { id, name, limits, budget, createdAt };
}
