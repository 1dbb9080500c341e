import type { SkillEntry, SkillProblem } from "../runtime/context/skills/skill.ts";
import type { AgentDefinition, Budget } from "../runtime/protocol/agent-definition.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { Compacted } from "../runtime/agent/compaction-desk.ts";
import type { OpenRequest } from "../runtime/agent/request-desk.ts";
import type {
  AnswerBody,
  CompactBody,
  DecisionBody,
  InterruptBody,
  InterruptReceipt,
  PromptBody,
  PromptReceipt,
  RestoreBody,
  SessionState,
} from "../runtime/protocol/frames.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { ModelMessage } from "../runtime/protocol/model-messages.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import type { Checkpoint } from "./checkpoints.ts";
import type { PastPage, PastPoint } from "./session-past.ts";
import type { TurnTrace } from "./session-trace.ts";
import type { PinnedLibrary, WorkspaceSkills } from "./tenant-api.ts";
import type { Page, PageQuery } from "./tenant-management-api.ts";

/** Who calls, as the Worker verified it. Travels to the Session object in the header `x-light-agent-caller`. */
export interface Caller {
  readonly tenant: string;
  readonly principal: Principal;
  readonly scopes: readonly ("read" | "prompt" | "decide")[];
  /** When the credential ends, in ms since the epoch; absent for API keys. */
  readonly expiresAt?: number;
  /** The API key behind the credential, to ask again whether it still stands. */
  readonly keyId: string;
}

export const CALLER_HEADER = "x-light-agent-caller";

/** Up to where a fork's log is another session's: artifacts of those events are stored with that session. */
export interface Origin {
  readonly session: string;
  readonly throughSeq: number;
}

/** Where a fork's past and its branch begin. */
export interface ForkOrigin {
  /** The session that it is a fork of. */
  readonly session: string;
  /** The last event and the last turn that it has of it; 0 for none. */
  readonly through: PastPoint;
  /** The branch of the workspace that its own begins from, and at which version. */
  readonly branch: string;
  readonly version: number;
}

/** A point of a session at which it can be forked, and what a fork there begins with. */
export interface ForkPoint {
  readonly from: ForkOrigin;
  /** In ascending order of `throughSeq`. */
  readonly origins: readonly Origin[];
  readonly settings: Pick<
    CreateSession,
    | "agent"
    | "agentVersion"
    | "definition"
    | "followAgent"
    | "skills"
    | "workspaceSkills"
    | "workspace"
    | "title"
    | "metadata"
    | "budget"
  >;
}

export interface CreateSession {
  readonly tenant: string;
  readonly id: string;
  readonly agent: string;
  readonly agentVersion: number;
  readonly definition: AgentDefinition;
  /** Each turn begins with the agent's newest version. */
  readonly followAgent?: boolean;
  readonly workspace: string;
  /** The branch of the workspace; the main one without it. */
  readonly branch?: string;
  /** For a fork: whose events the first ones of its log are, in ascending order of `throughSeq`. */
  readonly origins?: readonly Origin[];
  /** What the session has pinned of the tenant's library of skills, and of the workspace's once a turn has begun. */
  readonly skills?: PinnedLibrary;
  readonly workspaceSkills?: WorkspaceSkills;
  readonly title: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly budget?: Budget;
  /** The tenant's overrides of limits. */
  readonly limits: Partial<Limits>;
  readonly by: Principal;
}

export interface UpdateSession {
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly budget?: Budget;
  readonly followAgent?: boolean;
}

export interface QueuedPrompt {
  readonly promptId: string;
  readonly mode: string;
  readonly preview: string;
  readonly by: Principal;
  readonly at: number;
}

/** The skills of a session. */
export interface SkillsReport {
  readonly skills: readonly SkillEntry[];
  readonly problems: readonly SkillProblem[];
}

export interface EventsPage {
  readonly events: readonly DurableEvent[];
  readonly head: number;
  /** The cursor for the next page; null when the page reached the head. */
  readonly next: number | null;
  readonly logId: string;
}

/**
 * The Session object's methods. Each answers `not_found` when the session was never created or is deleted, and then
 * writes nothing. Streams go through `fetch`, with `x-light-agent-caller`:
 * `GET https://session/ws?after=N` (upgrade), `GET https://session/stream?after=N&format=sse|ndjson&types=a,b&until=P`
 * (`until`: a promptId whose outcome ends the stream), `GET https://session/artifacts/<ref>` (Range honoured).
 */
export interface SessionApi {
  /**
   * Creates the session; the same input again answers with what exists, another `id_taken`. A fork is answered when it
   * has all of its past; until then, whatever happens, it goes on taking it over.
   */
  create(input: CreateSession, from?: ForkOrigin): Promise<Answer<SessionState>>;
  state(): Promise<Answer<SessionState>>;
  update(patch: UpdateSession): Promise<Answer<SessionState>>;
  remove(by: Principal): Promise<Answer<null>>;
  prompt(body: PromptBody, by: Principal): Promise<Answer<PromptReceipt>>;
  interrupt(body: InterruptBody, by: Principal): Promise<Answer<InterruptReceipt>>;
  /** Prompts that wait, in order. (`queue` is a name that the platform keeps for itself.) */
  waiting(): Promise<Answer<readonly QueuedPrompt[]>>;
  /** Withdraws a waiting prompt. @throws not_found when it does not wait */
  unqueue(promptId: string, by: Principal): Promise<Answer<null>>;
  /** The approvals and questions that are open. */
  requests(): Promise<Answer<readonly OpenRequest[]>>;
  /** @throws not_found, already_decided, invalid_request */
  decide(approvalId: string, body: DecisionBody, by: Principal): Promise<Answer<null>>;
  /** @throws not_found, already_decided */
  answerQuestion(inputId: string, body: AnswerBody, by: Principal): Promise<Answer<null>>;
  events(query: { after: number; limit: number; types?: readonly string[] }): Promise<Answer<EventsPage>>;
  messages(): Promise<Answer<readonly ModelMessage[]>>;
  /** Its skills, all of them or those that fit some words best, and what is wrong with others. */
  skills(query: string | null): Promise<Answer<SkillsReport>>;
  /** What a turn did; of the last one for null. (`trace` is a name that the platform keeps for itself.) @throws not_found */
  turnTrace(turn: number | null): Promise<Answer<TurnTrace>>;
  /** Newest first. */
  checkpoints(page: PageQuery): Promise<Answer<Page<Checkpoint>>>;
  /** Goes back to 0 or to an `agent_stop`. @throws busy while a turn runs or prompts wait, invalid_request */
  restore(body: RestoreBody, by: Principal): Promise<Answer<DurableEvent<"checkpoint_restore">>>;
  /**
   * Puts a summary in the place of an earlier part of the conversation.
   * @throws busy while a turn runs or prompts wait, or when one has come meanwhile; invalid_request when there is nothing
   */
  compact(body: CompactBody, by: Principal): Promise<Answer<Compacted>>;
  /**
   * Where a session that is to be made begins when it forks this one: at 0, at an `agent_stop`, or, for null, at the last
   * point between two turns. From now on this session keeps its artifacts as long as that one lives.
   * @throws invalid_request
   */
  forkPoint(fork: string, atSeq: number | null): Promise<Answer<ForkPoint>>;
}

/** What sessions ask of each other. Both answer for a deleted session too, as long as it stores something. */
export interface SessionKin {
  /** A part of the past, for a fork. @throws not_found also for a deleted session that does not know the fork */
  past(fork: string, after: PastPoint, through: PastPoint): Promise<Answer<PastPage>>;
  /** Whether the session still takes over another's past. @throws not_found once nothing is stored */
  copying(): Promise<Answer<boolean>>;
}
