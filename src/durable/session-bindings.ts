import type { ModelPace } from "../runtime/model/model-call.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { inTime } from "./in-time.ts";
import { memoryKey, memoryOwner } from "./memory-api.ts";
import type { MemoryApi } from "./memory-api.ts";
import { ObjectStorage } from "./object-storage.ts";
import type { SessionKin } from "./session-api.ts";
import type { SessionEnvironment } from "./session-keeper.ts";
import { pacerName } from "./tenant-api.ts";
import type { SkillLibrary, TenantTurns } from "./tenant-api.ts";
import type { WorkspaceApi } from "./workspace-api.ts";

/** What a session of a tenant reaches outside of itself. The tenant is the session's own, so no name leads elsewhere. */
export class SessionBindings {
  readonly #env: SessionEnvironment;

  constructor(env: SessionEnvironment) {
    this.#env = env;
  }

  /** The tenant's object; each call fails with `unavailable` when no answer comes. */
  tenant(id: string): TenantTurns {
    const tenant = this.#env.TENANT.getByName(id);
    return {
      beginTurn: async (lease) => inTime(tenant.beginTurn(lease)),
      endTurn: async (report) => inTime(tenant.endTurn(report)),
      keyStanding: async (keyId) => inTime(tenant.keyStanding(keyId)),
    };
  }

  /** The tenant's library of skills. */
  library(tenant: string): SkillLibrary {
    return this.#env.TENANT.getByName(tenant);
  }

  /** Paces the model calls of all the tenant's sessions. It is another object than the tenant's, which no call waits for. */
  pace(tenant: string, perMinute: number): ModelPace {
    const pacer = this.#env.TENANT.getByName(pacerName(tenant));
    return {
      reserve: async (model) => unwrap(await inTime(pacer.reserveCall(model, perMinute))),
      giveBack: (model, at) => void inTime(pacer.returnCall(model, at)).catch(() => undefined),
    };
  }

  workspace({ tenant, workspace }: { readonly tenant: string; readonly workspace: string }): WorkspaceApi {
    return this.#env.WORKSPACE.getByName(`${tenant}:${workspace}`);
  }

  /** What an agent remembers of somebody. */
  memories(
    { tenant, agent }: { readonly tenant: string; readonly agent: string },
    owner: Principal,
  ): MemoryApi {
    return this.#env.MEMORY.getByName(`${tenant}:${memoryKey(agent, memoryOwner(owner))}`);
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
