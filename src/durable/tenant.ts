import { DurableObject } from "cloudflare:workers";
import { ulid } from "ulid";
import { ModelRateLimiter } from "../runtime/guard/model-rate-limiter.ts";
import type { AgentDefinition } from "../runtime/protocol/agent-definition.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { answer } from "../runtime/protocol/answer.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import { DirectoryStore } from "./directory-store.ts";
import { memoryKey, memoryOwner } from "./memory-api.ts";
import type { Removal } from "./removal-store.ts";
import { admitSession } from "./session-admission.ts";
import type { SealedProvider, TurnLease, TurnReport } from "./tenant-api.ts";
import { condemnMemories, condemnSome, erase, eraseSome } from "./tenant-cleaning.ts";
import type { TenantBindings } from "./tenant-cleaning.ts";
import { TenantEntry, report } from "./tenant-entry.ts";
import type {
  Act,
  NewKey,
  NewTenant,
  PageQuery,
  Repeatable,
  SessionRequest,
  StoredSkill,
  TenantApi,
  TenantSettings,
  WorkspaceRequest,
} from "./tenant-management-api.ts";
import { tenantView } from "./tenant-record.ts";
import { openTenantStores } from "./tenant-stores.ts";
import type { TenantStores } from "./tenant-stores.ts";
import { TenantTurnLedger } from "./tenant-turns.ts";

/** An alarm that could not finish comes again after so long. */
const CLEAN_AGAIN_MS = 30_000;

/**
 * The Tenant object: one per tenant, named as the tenant. Keys, agents, the index of sessions and workspaces, turn
 * leases, usage, audit. It holds no behaviour of its own: each method opens the tenant and makes one call on a store
 * or ledger, and a change brings its line of the audit log in the same transaction.
 */
export class Tenant extends DurableObject<TenantBindings> implements TenantApi {
  readonly #stores: TenantStores;
  readonly #directory: DirectoryStore;
  readonly #entry: TenantEntry;
  readonly #turns: TenantTurnLedger;
  readonly #pace = new ModelRateLimiter(Date.now);

  constructor(ctx: DurableObjectState, env: TenantBindings) {
    super(ctx, env);
    this.#stores = openTenantStores(ctx.storage.sql);
    this.#directory = new DirectoryStore(ctx.storage.sql);
    this.#entry = new TenantEntry(ctx, this.#stores);
    this.#turns = new TenantTurnLedger(this.#stores, Date.now);
  }

  create(tenant: NewTenant, act: Act) {
    return this.#entry.create(tenant, act);
  }

  describe() {
    return this.#entry.read(tenantView);
  }

  update(patch: Partial<TenantSettings>, act: Act) {
    return this.#entry.change(act, "tenant.update", `tenant:${this.ctx.id.name}`, () =>
      tenantView(this.#stores.records.update(patch)),
    );
  }

  remove(act: Act) {
    return this.#entry.change(act, "tenant.delete", `tenant:${this.ctx.id.name}`, () => {
      this.#stores.records.update({ deletedAt: Date.now() });
      this.#stores.providers.clear();
      // Takes effect at once, so that the mark and the alarm that acts on it are one transaction.
      void this.ctx.storage.setAlarm(Date.now());
      return null;
    });
  }

  verifyKey(keyId: string, hash: string) {
    return this.#entry.read(() => this.#stores.keys.verify(keyId, hash));
  }

  keyStanding(keyId: string) {
    return this.#entry.read(() => this.#stores.keys.standing(keyId));
  }

  createKey(input: NewKey & Repeatable, act: Act) {
    return this.#entry.change(act, "key.create", `key:${input.id}`, () =>
      this.#stores.keys.create(input, Date.now()),
    );
  }

  listKeys(page: PageQuery) {
    return this.#entry.read(() => this.#stores.keys.list(page));
  }

  revokeKey(keyId: string, act: Act) {
    return this.#entry.change(act, "key.revoke", `key:${keyId}`, () => done(this.#stores.keys.revoke(keyId)));
  }

  putProvider(provider: SealedProvider, act: Act) {
    return this.#entry.change(act, "provider.put", `provider:${provider.id}`, ({ limits }) =>
      this.#stores.providers.put(provider, limits.modelProviders, Date.now()),
    );
  }

  listProviders(page: PageQuery) {
    return this.#entry.read(() => this.#stores.providers.list(page));
  }

  removeProvider(id: string, act: Act) {
    return this.#entry.change(act, "provider.delete", `provider:${id}`, () =>
      done(this.#stores.providers.remove(id)),
    );
  }

  listModels(page: PageQuery) {
    return this.#entry.read(() => this.#stores.models.list(page, Date.now()));
  }

  putSkill(skill: StoredSkill, act: Act) {
    return this.#entry.change(act, "skill.put", `skill:${skill.name}`, ({ limits }) =>
      this.#stores.skills.put(skill, limits, Date.now()),
    );
  }

  listSkills(page: PageQuery) {
    return this.#entry.read(() => this.#stores.skills.list(page));
  }

  skill(name: string) {
    return this.#entry.read(() => this.#stores.skills.newest(name));
  }

  removeSkill(name: string, act: Act) {
    return this.#entry.change(act, "skill.delete", `skill:${name}`, () =>
      done(this.#stores.skills.remove(name)),
    );
  }

  allowStorage(workspace: string, bytes: number, grows: boolean) {
    const { workspaces, storage } = this.#stores;
    return this.#entry.write(({ limits }) => {
      // One that is being deleted must not come back into the sum.
      if (workspaces.stateOf(workspace) !== "there")
        throw new LightAgentError("not_found", "There is no such workspace.");
      return storage.grant(workspace, bytes, grows, limits.storageBytes);
    });
  }

  enterMemory(agent: string, owner: string) {
    const { memories, removals } = this.#stores;
    return this.#entry.write(({ limits }) => {
      if (removals.has({ kind: "memory", id: memoryKey(agent, owner) })) {
        throw new LightAgentError("unavailable", "Earlier memories are being deleted.");
      }
      return done(memories.enter(agent, owner, limits.memoryOwners));
    });
  }

  /** The marks and the duty to tell the objects are one transaction, as for all that is deleted. */
  async removeMemories(principal: Principal, agent: string | null, act: Act) {
    const owner = memoryOwner(principal);
    const marked = await this.#entry.change(act, "memory.delete", `user:${principal.id}`, () => {
      const { memories } = this.#stores;
      const known = memories.agentsOf(owner).filter((name) => agent === null || name === agent);
      for (const name of known) condemnMemories(name, owner, this.#stores);
      if (known.length > 0) void this.ctx.storage.setAlarm(Date.now() + CLEAN_AGAIN_MS);
      return null;
    });
    // What does not answer now is told again by the alarm.
    if (marked.ok) await eraseSome(String(this.ctx.id.name), this.env, this.#stores).catch(report);
    return marked;
  }

  skillText(name: string, digest: string) {
    return this.#entry.read(() => this.#stores.skills.text(name, digest));
  }

  skillFile(name: string, digest: string, path: string) {
    return this.#entry.read(() => this.#stores.skills.file(name, digest, path));
  }

  createAgent(input: { id: string; definition: AgentDefinition } & Repeatable, act: Act) {
    return this.#entry.change(act, "agent.create", `agent:${input.id}`, () =>
      this.#stores.agents.create(input, Date.now()),
    );
  }

  changeAgent(id: string, definition: AgentDefinition, act: Act) {
    return this.#entry.change(act, "agent.update", `agent:${id}`, () =>
      this.#stores.agents.change(id, definition, Date.now()),
    );
  }

  agent(id: string) {
    return this.#entry.read(() => this.#stores.agents.newest(id));
  }

  listAgents(page: PageQuery) {
    return this.#entry.read(() => this.#stores.agents.list(page));
  }

  listAgentVersions(id: string, page: PageQuery) {
    return this.#entry.read(() => this.#stores.agents.listVersions(id, page));
  }

  admitSession(request: SessionRequest, act: Act) {
    return this.#entry.change(act, "session.create", `session:${request.id}`, (bounds) =>
      admitSession(this.#stores, request, bounds, Date.now(), ulid),
    );
  }

  listSessions(page: PageQuery) {
    return this.#entry.read(() => this.#stores.sessions.list(page, Date.now()));
  }

  noteSession(id: string, { title }: { title: string }, act: Act) {
    return this.#entry.change(act, "session.update", `session:${id}`, () =>
      done(this.#stores.sessions.rename(id, title, Date.now())),
    );
  }

  removeSession(id: string, act: Act) {
    const { sessions, records, leases } = this.#stores;
    return this.#erase({ kind: "session", id }, act, () => {
      const removed = sessions.remove(id);
      if (removed) records.countSessions(-1);
      leases.release(id);
      return removed;
    });
  }

  admitWorkspace(request: WorkspaceRequest, act: Act) {
    return this.#entry.change(act, "workspace.create", `workspace:${request.id}`, () => ({
      fresh: this.#stores.workspaces.admit(request, Date.now()),
    }));
  }

  listWorkspaces(page: PageQuery) {
    return this.#entry.read(() => this.#stores.workspaces.list(page));
  }

  removeWorkspace(id: string, act: Act) {
    return this.#erase({ kind: "workspace", id }, act, () => this.#stores.workspaces.remove(id));
  }

  /**
   * Deletes something that has an object of its own: the mark, the duty to tell the object and the alarm that sees to it
   * are one transaction, so that whoever dies then, the object goes.
   * @param mark false when it was deleted before
   */
  async #erase(removal: Removal, act: Act, mark: () => boolean): Promise<Answer<null>> {
    const { kind, id } = removal;
    const { removals } = this.#stores;
    const marked = await this.#entry.change(act, `${kind}.delete`, `${kind}:${id}`, () => {
      if (mark()) removals.add(removal);
      else if (!removals.has(removal)) throw new LightAgentError("not_found", `There is no such ${kind}.`);
      void this.ctx.storage.setAlarm(Date.now() + CLEAN_AGAIN_MS);
      return null;
    });
    if (marked.ok) {
      const told = erase(String(this.ctx.id.name), removal, this.env, this.#stores);
      // The alarm tells it again.
      await told.catch(report);
    }
    return marked;
  }

  usage(range: { from: string; to: string }, page: PageQuery) {
    return this.#entry.read(() => this.#stores.usage.list(range, page));
  }

  audit(page: PageQuery) {
    return this.#entry.read(() => this.#stores.audit.list(page));
  }

  record(action: string, target: string, act: Act) {
    return this.#entry.change(act, action, target, () => null);
  }

  beginTurn(lease: TurnLease) {
    return this.#entry.write((bounds) => this.#turns.begin(lease, bounds));
  }

  endTurn(turn: TurnReport) {
    return this.#entry.write((bounds) => this.#turns.end(turn, bounds));
  }

  reserveCall(model: string, perMinute: number) {
    return answer(() => this.#pace.reserve(model, perMinute), report);
  }

  returnCall(model: string, at: number) {
    return answer(() => done(this.#pace.giveBack(model, at)), report);
  }

  enterTenant(tenant: { id: string; name: string }) {
    return this.#entry.inDirectory(() => done(this.#directory.enter(tenant, Date.now())));
  }

  renameTenant(tenant: { id: string; name: string }) {
    return this.#entry.inDirectory(() => done(this.#directory.rename(tenant)));
  }

  forgetTenant(id: string) {
    return this.#entry.inDirectory(() => done(this.#directory.forget(id)));
  }

  listTenants(page: PageQuery) {
    return this.#entry.inDirectory(() => this.#directory.list(page));
  }

  /** Goes on telling objects that they are deleted, all of them for a deleted tenant, a part at a time. */
  override async alarm(): Promise<void> {
    await answer(async () => {
      const record = this.#entry.record();
      if (!record) return;
      // Set before the work: an alarm that dies half-way is followed by another.
      await this.ctx.storage.setAlarm(Date.now() + CLEAN_AGAIN_MS);
      const isWhole = record.deletedAt === null || condemnSome(this.#stores);
      const told = await eraseSome(record.id, this.env, this.#stores);
      if (isWhole && told) await this.ctx.storage.deleteAlarm();
      else if (!isWhole) await this.ctx.storage.setAlarm(Date.now());
    }, report);
  }
}

/** What a method answers that has nothing to say. */
function done(_: void): null {
  return null;
}
