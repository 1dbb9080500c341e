import { SYSTEM } from "../runtime/protocol/principal.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import { inTime } from "./in-time.ts";
import { memoryKey } from "./memory-api.ts";
import type { Removal } from "./removal-store.ts";
import type { TenantStores } from "./tenant-stores.ts";

/** The objects of a tenant that go with it. */
export interface TenantBindings {
  readonly SESSION: { getByName(name: string): { remove(by: Principal): Promise<Answer<null>> } };
  readonly WORKSPACE: { getByName(name: string): { remove(): Promise<Answer<null>> } };
  readonly MEMORY: { getByName(name: string): { remove(): Promise<Answer<null>> } };
}

/** Objects that one alarm deletes, so that an alarm is short however large the tenant is. */
const BATCH = 50;

/**
 * Tells an object that it is deleted, and forgets about it once it knows. One that answers that it does not exist is
 * gone, whether it was ever created or not.
 * @throws what an object throws that does not answer; it is told again by the next alarm
 */
export async function erase(
  tenant: string,
  removal: Removal,
  bindings: TenantBindings,
  { removals, storage }: TenantStores,
): Promise<void> {
  const name = `${tenant}:${removal.id}`;
  const told = await inTime(removing(removal, name, bindings));
  if (!told.ok && told.error.code !== "not_found") throw new TypeError(`Not removed: ${told.error.code}`);
  if (removal.kind === "workspace") storage.forget(removal.id);
  removals.settle(removal);
}

function removing({ kind }: Removal, name: string, bindings: TenantBindings): Promise<Answer<null>> {
  switch (kind) {
    case "session":
      return bindings.SESSION.getByName(name).remove(SYSTEM);
    case "workspace":
      return bindings.WORKSPACE.getByName(name).remove();
    case "memory":
      return bindings.MEMORY.getByName(name).remove();
  }
}

/**
 * Tells some of the objects that are deleted; true when none is left that knows nothing. One that does not answer holds
 * up no other.
 */
export async function eraseSome(
  tenant: string,
  bindings: TenantBindings,
  stores: TenantStores,
): Promise<boolean> {
  const some = stores.removals.some(BATCH);
  const told = await Promise.allSettled(some.map((removal) => erase(tenant, removal, bindings, stores)));
  return told.every(({ status }) => status === "fulfilled") && some.length < BATCH;
}

/** Marks what an agent remembers of somebody for removal. */
export function condemnMemories(
  agent: string,
  owner: string,
  { memories, removals }: Pick<TenantStores, "memories" | "removals">,
): void {
  memories.forget(agent, owner);
  removals.add({ kind: "memory", id: memoryKey(agent, owner) });
}

/** Marks some of what a deleted tenant has for removal; true when nothing was left. */
export function condemnSome({ sessions, workspaces, memories, removals }: TenantStores): boolean {
  const page = { limit: BATCH, cursor: null };
  const left = sessions.list(page, 0).data;
  for (const { id } of left) {
    sessions.remove(id);
    removals.add({ kind: "session", id });
  }
  const files = workspaces.list(page).data;
  for (const { id } of files) {
    workspaces.remove(id);
    removals.add({ kind: "workspace", id });
  }
  const remembered = memories.some(BATCH);
  for (const { agent, owner } of remembered) condemnMemories(agent, owner, { memories, removals });
  return left.length === 0 && files.length === 0 && remembered.length === 0;
}
