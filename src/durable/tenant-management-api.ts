import type { AgentDefinition } from "../runtime/protocol/agent-definition.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { Role } from "../runtime/protocol/role.ts";
import type { Usage } from "../runtime/protocol/usage.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import type { MemoryDirectory } from "./memory-api.ts";
import type { TenantStorage } from "./workspace-api.ts";
import type {
  AuditEntry,
  LibrarySkill,
  ModelPacer,
  PinnedLibrary,
  SealedProvider,
  SkillLibrary,
  TenantTurns,
} from "./tenant-api.ts";

/** Who asks for a change, for the audit log. */
export interface Act {
  readonly by: Principal;
  /** The API key behind the credential; `root` for the root key. */
  readonly keyId: string;
  readonly requestId: string;
}

/** A part of a list. `cursor` is the `next` of the part before, null at the start. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | null;
}

/** One part of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  /** The cursor of the part that follows; null when this is the last. */
  readonly next: string | null;
}

/** A create whose id came from an `Idempotency-Key` says `repeatable`: the same again answers with the first. */
export interface Repeatable {
  readonly repeatable: boolean;
}

/** Tokens (input and output) that a tenant may use in a day or a month (UTC); a turn that begins beyond is refused. */
export interface TenantBudget {
  readonly dayTokens?: number;
  readonly monthTokens?: number;
}

/** What root may change of a tenant. */
export interface TenantSettings {
  readonly name: string;
  /** What replaces the deployment's limits, downwards only. */
  readonly limits: Partial<Limits>;
  readonly budget: TenantBudget;
}

/** A tenant as root sees it. */
export interface TenantView extends TenantSettings {
  readonly id: string;
  readonly createdAt: number;
}

/** A key as the Worker hands it over: it has the secret, the tenant never sees it. */
export interface NewKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** Lower-case hex SHA-256 of the secret; the secret itself is never stored. */
  readonly hash: string;
}

/** What a tenant is created with. */
export interface NewTenant extends Repeatable {
  readonly id: string;
  readonly name: string;
  readonly key: NewKey;
}

/** A key as it is listed. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
}

/** A tenant's own model provider as it is listed: without its key. */
export type ProviderView = Omit<SealedProvider, "sealed"> & { readonly createdAt: number };

/** What became of the tenant's calls of one model. */
export interface ModelFigures {
  readonly model: string;
  readonly requests: number;
  readonly successes: number;
  readonly failures: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** ms since the epoch; null for a model that does not rest. */
  readonly restsUntil: number | null;
}

/** A skill of the library as it is stored; the Worker has parsed it. */
export interface StoredSkill extends Omit<LibrarySkill, "version"> {
  /** Its SKILL.md. */
  readonly content: string;
  /** Its other files, by path relative to the skill's folder. */
  readonly files: Readonly<Record<string, string>>;
}

/** A skill of the library as it is listed: its newest version. */
export interface SkillView extends LibrarySkill {
  /** Of its other files. */
  readonly paths: readonly string[];
  readonly createdAt: number;
}

/** One version of an agent. */
export interface AgentView {
  readonly id: string;
  readonly version: number;
  readonly definition: AgentDefinition;
  readonly createdAt: number;
}

/** A session that is to be entered into the index. */
export interface SessionRequest extends Repeatable {
  readonly id: string;
  /** Digest of the request, so that the same id with another body is recognised. */
  readonly digest: string;
  readonly agent: string;
  /** The newest version without it. */
  readonly agentVersion?: number;
  /** A workspace of its own, with the session's id, without it. */
  readonly workspace: string | null;
  readonly title: string;
}

/** Leave to create a session: what it pins. */
export interface SessionAdmission {
  /** False when the same request was admitted before, so that the session may exist. */
  readonly fresh: boolean;
  readonly agent: AgentView;
  readonly workspace: string;
  readonly limits: Partial<Limits>;
  /** Of the library, as it is now; undefined where the agent names no skills. */
  readonly skills: PinnedLibrary | undefined;
}

/** A session as the tenant's index knows it: as of its last turn's end. */
export interface SessionSummary {
  readonly id: string;
  readonly agent: string;
  readonly agentVersion: number;
  readonly workspace: string;
  readonly title: string;
  readonly status: "idle" | "running" | "waiting";
  readonly head: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A workspace that is to be entered into the index. */
export interface WorkspaceRequest extends Repeatable {
  readonly id: string;
  readonly name: string;
}

/** A workspace as the index knows it. */
export interface WorkspaceSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/** Sums of one day (UTC), agent and model. */
export interface UsageSum {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly agent: string;
  readonly model: string;
  readonly usage: Usage;
  /** Millionths of a US dollar. */
  readonly cost: number;
}

/** A line of the audit log; numbers count up and have no gap. */
export interface AuditRow extends AuditEntry {
  readonly number: number;
}

/**
 * What the routes ask of a Tenant object. Every method answers `not_found` when the tenant was never created or is
 * deleted, and then writes nothing; every change stands in the audit log by the same transaction.
 */
export interface TenantManagement {
  /** Creates the tenant with its first admin key and the agent `default`. @throws id_taken, idempotency_mismatch */
  create(
    input: { id: string; name: string; key: NewKey } & Repeatable,
    act: Act,
  ): Promise<Answer<TenantView>>;
  describe(): Promise<Answer<TenantView>>;
  update(patch: Partial<TenantSettings>, act: Act): Promise<Answer<TenantView>>;
  /** No credential of the tenant works from now on; an alarm deletes its sessions and workspaces. */
  remove(act: Act): Promise<Answer<null>>;

  /** The key with this id and hash. @throws unauthorized */
  verifyKey(keyId: string, hash: string): Promise<Answer<KeyView>>;
  /** @throws id_taken, idempotency_mismatch */
  createKey(input: NewKey & Repeatable, act: Act): Promise<Answer<KeyView>>;
  listKeys(page: PageQuery): Promise<Answer<Page<KeyView>>>;
  revokeKey(keyId: string, act: Act): Promise<Answer<null>>;

  /** @throws too_many_providers */
  putProvider(provider: SealedProvider, act: Act): Promise<Answer<ProviderView>>;
  listProviders(page: PageQuery): Promise<Answer<Page<ProviderView>>>;
  /** @throws not_found */
  removeProvider(id: string, act: Act): Promise<Answer<null>>;
  listModels(page: PageQuery): Promise<Answer<Page<ModelFigures>>>;

  /** @throws too_many_skills */
  putSkill(skill: StoredSkill, act: Act): Promise<Answer<SkillView>>;
  listSkills(page: PageQuery): Promise<Answer<Page<SkillView>>>;
  /** The newest version. @throws not_found */
  skill(name: string): Promise<Answer<SkillView & Pick<StoredSkill, "content" | "files">>>;
  /** @throws not_found */
  removeSkill(name: string, act: Act): Promise<Answer<null>>;

  /** Deletes what an agent, or for null every agent, remembers of somebody. Safe to repeat. */
  removeMemories(owner: Principal, agent: string | null, act: Act): Promise<Answer<null>>;

  /** @throws id_taken, idempotency_mismatch */
  createAgent(
    input: { id: string; definition: AgentDefinition } & Repeatable,
    act: Act,
  ): Promise<Answer<AgentView>>;
  /** Makes a version; the definition that is in force already makes none. */
  changeAgent(id: string, definition: AgentDefinition, act: Act): Promise<Answer<AgentView>>;
  /** The newest version. */
  agent(id: string): Promise<Answer<AgentView>>;
  listAgents(page: PageQuery): Promise<Answer<Page<AgentView>>>;
  /** Newest first. */
  listAgentVersions(id: string, page: PageQuery): Promise<Answer<Page<AgentView>>>;

  /**
   * Enters a session into the index before its object is created.
   * @throws too_many_sessions, id_taken, idempotency_mismatch, not_found for an unknown agent
   */
  admitSession(request: SessionRequest, act: Act): Promise<Answer<SessionAdmission>>;
  /** Newest first. */
  listSessions(page: PageQuery): Promise<Answer<Page<SessionSummary>>>;
  noteSession(id: string, patch: { title: string }, act: Act): Promise<Answer<null>>;
  /** Takes the session out of the index for ever. Safe to repeat until the session's object is gone. */
  removeSession(id: string, act: Act): Promise<Answer<null>>;

  /** Enters a workspace into the index before its object is created. @throws id_taken, idempotency_mismatch */
  admitWorkspace(request: WorkspaceRequest, act: Act): Promise<Answer<{ readonly fresh: boolean }>>;
  /** Newest first. */
  listWorkspaces(page: PageQuery): Promise<Answer<Page<WorkspaceSummary>>>;
  removeWorkspace(id: string, act: Act): Promise<Answer<null>>;

  /** Sums of the days from `from` to `to`, both included, by day, agent and model. */
  usage(range: { from: string; to: string }, page: PageQuery): Promise<Answer<Page<UsageSum>>>;
  /** Newest first. */
  audit(page: PageQuery): Promise<Answer<Page<AuditRow>>>;
  /** Records what happened outside of this object. */
  record(action: string, target: string, act: Act): Promise<Answer<null>>;
}

/** What the directory of tenants keeps of each. */
export interface TenantSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/**
 * The directory of tenants: the Tenant object named {@link DirectoryName}, which no tenant's id can equal. It only
 * lists; the tenants' own objects are the truth.
 */
export interface TenantDirectory {
  /** Lists a tenant from now on; one that is listed stays as it is. @throws id_taken for one that was deleted */
  enterTenant(tenant: { id: string; name: string }): Promise<Answer<null>>;
  renameTenant(tenant: { id: string; name: string }): Promise<Answer<null>>;
  /** In the order of their ids. */
  listTenants(page: PageQuery): Promise<Answer<Page<TenantSummary>>>;
  forgetTenant(id: string): Promise<Answer<null>>;
}

/** The name of the directory's object: `!` is in no id. */
export type DirectoryName = "!root";

/** All of a Tenant object's methods. */
export interface TenantApi
  extends
    TenantTurns,
    TenantManagement,
    TenantDirectory,
    ModelPacer,
    SkillLibrary,
    MemoryDirectory,
    TenantStorage {}
