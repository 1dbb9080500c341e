import type { MemoryApi } from "../durable/memory-api.ts";
import type { SessionApi } from "../durable/session-api.ts";
import type { DirectoryName, TenantApi } from "../durable/tenant-management-api.ts";
import type { WorkspaceApi } from "../durable/workspace-api.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { Environment, Fetches } from "./environment.ts";

// The one place where Durable Objects get their names. Ids are of a closed alphabet without `:` and `!`, and the
// tenant comes from a verified credential, so no name of one tenant can equal one of another.

const DIRECTORY: DirectoryName = "!root";

/** The Session object of an id. It answers `not_found` when there is no such session, and then stores nothing. */
export function sessionObject(
  environment: Environment,
  tenant: string,
  session: string,
): SessionApi & Fetches {
  return environment.SESSION.getByName(`${tenant}:${session}`);
}

/** The Workspace object of an id. It answers `not_found` when there is no such workspace, and then stores nothing. */
export function workspaceObject(
  environment: Environment,
  tenant: string,
  workspace: string,
): WorkspaceApi & Fetches {
  return environment.WORKSPACE.getByName(`${tenant}:${workspace}`);
}

/** What an agent remembers of somebody. It answers as an empty one where there is nothing, and then stores nothing. */
export function memoryObject(
  environment: Environment,
  tenant: string,
  agent: string,
  { kind, id }: Principal,
): MemoryApi {
  return environment.MEMORY.getByName(`${tenant}:${agent}:${kind}:${id}`);
}

/** The tenant's own object. It answers `not_found` when there is no such tenant, and then stores nothing. */
export function tenantObject(environment: Environment, tenant: string): TenantApi {
  return environment.TENANT.getByName(tenant);
}

/** The directory of tenants: a Tenant object of a name that no tenant can have. */
export function directoryObject(environment: Environment): TenantApi {
  return environment.TENANT.getByName(DIRECTORY);
}
