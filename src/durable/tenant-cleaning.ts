import { SYSTEM } from "../runtime/protocol/principal.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { Answer } from "./answer.ts";
import type { TenantStores } from "./tenant-stores.ts";

/** The objects of a tenant that go with it. */
export interface TenantBindings {
  readonly SESSION: { getByName(name: string): { remove(by: Principal): Promise<Answer<null>> } };
  readonly WORKSPACE: { getByName(name: string): { remove(): Promise<Answer<null>> } };
}

/** Objects that one alarm deletes, so that an alarm is short however large the tenant is. */
const BATCH = 50;

/**
 * Deletes some of what a deleted tenant has; true when nothing is left. An object that answers that it does not
 * exist is gone, whether it was ever created or not.
 * @throws what an object throws that does not answer: the next alarm goes on
 */
export async function cleanTenant(
  tenant: string,
  bindings: TenantBindings,
  { sessions, workspaces }: TenantStores,
): Promise<boolean> {
  const page = { limit: BATCH, cursor: null };
  const left = sessions.list(page, 0).data;
  for (const { id } of left) {
    gone(await bindings.SESSION.getByName(`${tenant}:${id}`).remove(SYSTEM));
    sessions.remove(id);
  }
  if (left.length > 0) return false;
  const files = workspaces.list(page).data;
  for (const { id } of files) {
    gone(await bindings.WORKSPACE.getByName(`${tenant}:${id}`).remove());
    workspaces.remove(id);
  }
  return files.length === 0;
}

function gone(answer: Answer<null>): void {
  if (!answer.ok && answer.error.code !== "not_found")
    throw new TypeError(`Not removed: ${answer.error.code}`);
}
