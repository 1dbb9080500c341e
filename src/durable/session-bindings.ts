import { ObjectStorage } from "./object-storage.ts";
import type { SessionKin } from "./session-api.ts";
import type { SessionEnvironment } from "./session-keeper.ts";
import type { TenantTurns } from "./tenant-api.ts";
import type { WorkspaceApi } from "./workspace-api.ts";

/** What a session of a tenant reaches outside of itself. The tenant is the session's own, so no name leads elsewhere. */
export class SessionBindings {
  readonly #env: SessionEnvironment;

  constructor(env: SessionEnvironment) {
    this.#env = env;
  }

  tenant(id: string): TenantTurns {
    return this.#env.TENANT.getByName(id);
  }

  workspace({ tenant, workspace }: { readonly tenant: string; readonly workspace: string }): WorkspaceApi {
    return this.#env.WORKSPACE.getByName(`${tenant}:${workspace}`);
  }

  session(tenant: string, id: string): SessionKin {
    return this.#env.SESSION.getByName(`${tenant}:${id}`);
  }

  /** What a session has put into R2. */
  objects(tenant: string, session: string): ObjectStorage {
    return new ObjectStorage(this.#env.FILES, `t/${tenant}/s/${session}/`);
  }

  /** What of it are artifacts. */
  artifacts(tenant: string, session: string): ObjectStorage {
    return new ObjectStorage(this.#env.FILES, `t/${tenant}/s/${session}/a/`);
  }
}
