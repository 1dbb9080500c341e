import type { ModelEnvironment } from "../deployment.ts";
import type { MemoryApi } from "../durable/memory-api.ts";
import type { SessionApi } from "../durable/session-api.ts";
import type { TenantApi } from "../durable/tenant-management-api.ts";
import type { WorkspaceApi } from "../durable/workspace-api.ts";

/** What a stub of a Durable Object has beside its methods. */
export interface Fetches {
  fetch(request: Request): Promise<Response>;
}

/**
 * The Durable Objects of one class, seen through the interface that routes call. The platform's own type derives
 * every method's type again and gives up on records of unknown values.
 */
export interface ObjectNamespace<Api> {
  getByName(name: string): Api & Fetches;
}

/** What the Worker finds in its environment. A setting that is not set may also be an empty string. */
export interface Environment extends ModelEnvironment {
  readonly SESSION: ObjectNamespace<SessionApi>;
  readonly TENANT: ObjectNamespace<TenantApi>;
  readonly WORKSPACE: ObjectNamespace<WorkspaceApi>;
  readonly MEMORY: ObjectNamespace<MemoryApi>;
  readonly ROOT_KEY?: string;
  readonly SIGNING_KEY?: string;
  readonly ENCRYPTION_KEY?: string;
  readonly ALLOWED_ORIGINS?: string;
}
