import type { SkillGroup, SkillText } from "../runtime/context/skills/skill-set.ts";
import type { ModelTally, RestingModel } from "../runtime/model/router/model-health.ts";
import type { AgentDefinition, Dialect, ModelCompat } from "../runtime/protocol/agent-definition.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { Role } from "../runtime/protocol/role.ts";
import type { Usage } from "../runtime/protocol/usage.ts";
import type { Answer } from "../runtime/protocol/answer.ts";

/** A turn asks to run. `admit` is false for prompts that were accepted already: they are never refused. */
export interface TurnLease {
  readonly session: string;
  readonly turn: number;
  readonly admit: boolean;
  /** The turn had begun before: its prompt was counted then. */
  readonly resumes?: boolean;
  /** For a session that follows its agent: the version that it has. */
  readonly follows?: { readonly agent: string; readonly version: number };
}

/** A version of an agent, and what it names of the library as that is now. */
export interface PinnedAgent {
  readonly version: number;
  readonly definition: AgentDefinition;
  readonly skills?: PinnedLibrary;
}

/** A tenant's own model provider: its key is sealed under the deployment's `ENCRYPTION_KEY`. */
export interface SealedProvider {
  readonly id: string;
  readonly baseUrl: string;
  readonly dialect: Dialect;
  readonly compat: ModelCompat;
  readonly sealed: string;
}

/** A version of a skill of the tenant's library, without its text. */
export interface LibrarySkill {
  readonly name: string;
  readonly description: string;
  readonly dependencies: readonly string[];
  readonly version: number;
  /** Lower-case hex SHA-256 of its texts: what a session has pinned is found by it. */
  readonly digest: string;
}

/** What a session has pinned of the library: all that its agent names and what that depends on. */
export interface PinnedLibrary {
  readonly skills: readonly LibrarySkill[];
  /** Names that the library does not have. */
  readonly missing: readonly string[];
}

/** The skills of a session's workspace as they were when its first turn began. */
export type WorkspaceSkills = Pick<SkillGroup, "entries" | "problems">;

/** What a Session object asks of its Tenant object when a skill is loaded. */
export interface SkillLibrary {
  /** @throws not_found once the version is kept no more */
  skillText(name: string, digest: string): Promise<Answer<SkillText>>;
  /** @throws not_found, path_not_found */
  skillFile(name: string, digest: string, path: string): Promise<Answer<string>>;
}

/** What a turn may know and use as it begins. */
export interface TurnLeave {
  readonly providers: readonly SealedProvider[];
  readonly resting: readonly RestingModel[];
  /** Tokens that the tenant's budget has left for it; null without a budget. */
  readonly tokensLeft: number | null;
}

/** What a turn begins with: for a session that follows its agent also the newest version, when it has another. */
export interface TurnBeginning extends TurnLeave {
  readonly agent?: PinnedAgent;
}

/** Absolute totals of one session on one day (UTC) with one model, so that reporting twice counts once. */
export interface UsageTotal {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly agent: string;
  readonly model: string;
  readonly usage: Usage;
  /** Millionths of a US dollar. */
  readonly cost: number;
}

/** One line of the tenant's audit log: never with prompt text, arguments or secrets. */
export interface AuditEntry {
  readonly at: number;
  readonly by: Principal;
  /** The API key behind the credential, where there was one. */
  readonly keyId?: string;
  /** `<resource>.<verb>`, for instance `session.interrupt`. */
  readonly action: string;
  /** `<resource>:<id>` */
  readonly target: string;
  /** `ok`, or the code of the error that refused it. */
  readonly result: string;
  readonly requestId?: string;
}

/** A line of the audit log that an event of a session stands for. */
export interface SessionAct extends AuditEntry {
  readonly seq: number;
}

/** The `seq` up to which the tenant knows what people did to a session. Behind `auditAfter` it asks for what is between. */
export interface Heard {
  readonly heard: number;
}

/**
 * A turn's end, that it waits, or what has become of the session since. A repeated or late report changes nothing: it is recognised by
 * its head.
 */
export interface TurnReport {
  readonly session: string;
  readonly turn: number;
  /** `turn` is over and the session goes on at once with a further one, whose lease this renews. */
  readonly continues: boolean;
  readonly usage: readonly UsageTotal[];
  /** What came of its model calls since the last report. */
  readonly models: readonly ModelTally[];
  /** For the tenant's index of sessions. */
  readonly index: {
    readonly title: string;
    readonly agentVersion: number;
    readonly status: string;
    readonly head: number;
    readonly updatedAt: number;
  };
  /** The `seq` after which `audit` begins; it goes up to the index's head. */
  readonly auditAfter: number;
  /** What people did to the session: prompts, interrupts, decisions. */
  readonly audit: readonly SessionAct[];
}

/** The object that paces the model calls of a tenant; it keeps nothing. Its name is {@link pacerName}. */
export interface ModelPacer {
  /** Takes a place for a call. @returns when it may begin, in ms since the epoch */
  reserveCall(model: string, perMinute: number): Promise<Answer<number>>;
  /** The call that was to begin at that time does not. */
  returnCall(model: string, at: number): Promise<Answer<null>>;
}

/** `!` is in no tenant's id, so that this is no tenant's object. */
export function pacerName(tenant: string): string {
  return `${tenant}!pace`;
}

/** What a Session object asks of its Tenant object: at most two calls a turn, and whether a socket's key stands. */
export interface TenantTurns {
  /**
   * Takes or renews the lease of a running turn and counts the prompt.
   * @throws rate_limited, too_many_turns (details.retryAfterMs), budget_exceeded
   */
  beginTurn(lease: TurnLease): Promise<Answer<TurnBeginning>>;
  /** Ends the lease, records usage, the index and the audit. Safe to repeat. */
  endTurn(report: TurnReport): Promise<Answer<Heard>>;
  /** The role of a key that is neither unknown nor revoked. @throws unauthorized */
  keyStanding(keyId: string): Promise<Answer<{ readonly role: Role }>>;
}
