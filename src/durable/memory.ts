import { DurableObject } from "cloudflare:workers";
import { checkMemory } from "../runtime/context/memory/memory-index.ts";
import type { MemorySearch, NewMemory } from "../runtime/context/memory/memory-index.ts";
import { answer, unwrap } from "../runtime/protocol/answer.ts";
import { traceOf } from "../runtime/protocol/error-trace.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { inTime } from "./in-time.ts";
import type { MemoryApi, MemoryDirectory } from "./memory-api.ts";
import { MEMORY_MIGRATIONS } from "./memory-migrations.ts";
import { MemoryStore } from "./memory-store.ts";
import { hasSchema, migrate } from "./migrations.ts";
import type { PageQuery } from "./tenant-management-api.ts";

interface MemoryBindings {
  readonly TENANT: { getByName(name: string): MemoryDirectory };
}

/**
 * The Memory object: one per tenant, agent and user, named `<tenant>:<agent>:<kind>:<user>`. It exists from its first
 * memory on, and its tenant knows of it before it does.
 */
export class Memory extends DurableObject<MemoryBindings> implements MemoryApi {
  readonly #store: MemoryStore;
  /** How often it was deleted while it is in memory: what was on its way then comes too late. */
  #removals = 0;

  constructor(ctx: DurableObjectState, env: MemoryBindings) {
    super(ctx, env);
    this.#store = new MemoryStore(ctx.storage.sql);
  }

  upsert(memory: NewMemory, most: number) {
    return answer(async () => {
      checkMemory(memory);
      await this.#enter();
      return this.ctx.storage.transactionSync(() => this.#store.upsert(memory, most, Date.now()));
    }, report);
  }

  search(query: string, options: MemorySearch) {
    return answer(() => (this.#exists() ? this.#store.search(query, options) : []), report);
  }

  list(page: PageQuery) {
    return answer(() => (this.#exists() ? this.#store.list(page) : { data: [], next: null }), report);
  }

  forget(id: string) {
    return answer(
      () => this.#exists() && this.ctx.storage.transactionSync(() => this.#store.remove(id)),
      report,
    );
  }

  remove() {
    return answer(async () => {
      this.#removals += 1;
      await this.ctx.storage.deleteAll();
      return null;
    }, report);
  }

  #exists(): boolean {
    const exists = hasSchema(this.ctx.storage.sql);
    if (exists) migrate(this.ctx.storage, MEMORY_MIGRATIONS);
    return exists;
  }

  async #enter(): Promise<void> {
    if (this.#exists()) return;
    const { name = "" } = this.ctx.id;
    const [tenant = "", agent = "", ...owner] = name.split(":");
    const removals = this.#removals;
    unwrap(await inTime(this.env.TENANT.getByName(tenant).enterMemory(agent, owner.join(":"))));
    if (this.#removals > removals)
      throw new LightAgentError("unavailable", "The memories were just deleted.");
    migrate(this.ctx.storage, MEMORY_MIGRATIONS);
  }
}

/** One line of the operator's log. */
function report(caught: unknown): void {
  console.error(JSON.stringify({ event: "memory_error", ...traceOf(caught) }));
}
