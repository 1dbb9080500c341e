// Made from the API's description: after a change, `npx vitest run --project workerd client-calls -u`.
// What calls and types are named stands in scripts/client-calls/call-names.ts.
import type { AgentDefinition } from "../src/runtime/protocol/agent-definition.ts";
import type { DurableEvent } from "../src/runtime/protocol/durable-events.ts";
import type { AnswerBody, CompactBody, DecisionBody, InterruptBody, InterruptReceipt, PromptBody, PromptReceipt, RestoreBody, SessionState } from "../src/runtime/protocol/frames.ts";
import type { EventStream } from "./event-stream.ts";
import type { Bytes, CallOptions, RestCall } from "./rest-call.ts";
import type { AgentVersion, ApiKey, ArchiveImport, ArchiveQuery, AuditEntry, BranchQuery, ChatBody, Checkpoint, Compaction, CreatedApiKey, CreatedTenant, DiffQuery, EventsPage, EventsQuery, FileEntry, FileSelection, FolderListing, FolderQuery, Health, MemoryQuery, MemoryRecord, Message, ModelFigures, ModelProvider, NewAgent, NewApiKey, NewFork, NewModelProvider, NewSession, NewSkill, NewTenant, NewToken, NewWorkspace, Page, PageQuery, QueuedPrompt, SearchBody, SearchResult, SessionChange, SessionSkills, SessionSummary, SessionToken, Skill, SkillQuery, SkillSummary, StoredSkill, Tenant, TenantChange, TenantSummary, TraceQuery, TurnTrace, UsageQuery, UsageSum, VersionsQuery, Workspace, WorkspaceChange, WorkspaceDiff, WorkspaceRestore, WorkspaceSummary, WorkspaceVersion } from "./rest-types.ts";

/** Every call of the API: ids in the order of the path, then the body, the query and options, as far as it has them. */
export interface RestCalls {
  /** Whether the Worker answers. It does so before it is configured, too. */
  health(options?: CallOptions): Promise<Health>;
  /** This description. */
  description(options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** Makes a tenant and its first admin key, whose text is shown this once. */
  createTenant(body: NewTenant, options?: CallOptions): Promise<CreatedTenant>;
  /** Lists the tenants. */
  tenants(query?: PageQuery, options?: CallOptions): Promise<Page<TenantSummary>>;
  /** A tenant with its overrides of limits and its budget. */
  tenant(tenant: string, options?: CallOptions): Promise<Tenant>;
  /** Changes a tenant's name, limits or budget. Limits of a session are those of when it was created. */
  changeTenant(tenant: string, body?: TenantChange, options?: CallOptions): Promise<Tenant>;
  /** Deletes a tenant with all that it has. Its id is never used again. */
  deleteTenant(tenant: string, options?: CallOptions): Promise<void>;
  /** Makes an API key for a tenant, for instance when its last admin key is lost. */
  createTenantKey(tenant: string, body: NewApiKey, options?: CallOptions): Promise<CreatedApiKey>;
  /** Makes an API key; its text is shown this once. */
  createKey(body: NewApiKey, options?: CallOptions): Promise<CreatedApiKey>;
  /** Lists the API keys that stand, without their texts. */
  keys(query?: PageQuery, options?: CallOptions): Promise<Page<ApiKey>>;
  /** Revokes an API key and every session token that it issued, everywhere within 15 minutes. */
  deleteKey(key: string, options?: CallOptions): Promise<void>;
  /** Stores a model provider of your own with its key; its models are `provider/model`. */
  putProvider(provider: string, body: NewModelProvider, options?: CallOptions): Promise<ModelProvider>;
  /** Forgets a provider and its key; a turn that runs keeps it to its end. */
  deleteProvider(provider: string, options?: CallOptions): Promise<void>;
  /** Lists the model providers of your own, without their keys. */
  providers(query?: PageQuery, options?: CallOptions): Promise<Page<ModelProvider>>;
  /** What became of the calls of each model, and which models rest. */
  models(query?: PageQuery, options?: CallOptions): Promise<Page<ModelFigures>>;
  /** Stores a skill (SKILL.md and its files) in the library. Sessions keep the version that they began with. */
  putSkill(skill: string, body: NewSkill, options?: CallOptions): Promise<StoredSkill>;
  /** The newest version of a skill of the library, with its texts. */
  skill(skill: string, options?: CallOptions): Promise<Skill>;
  /** Deletes a skill from the library. Sessions that have it can load it no more. */
  deleteSkill(skill: string, options?: CallOptions): Promise<void>;
  /** Lists the library, each skill in its newest version, without its texts. */
  skills(query?: PageQuery, options?: CallOptions): Promise<Page<SkillSummary>>;
  /** The skills of a session, or the three that fit the words of `query` best, and what is wrong with others. */
  sessionSkills(session: string, query?: SkillQuery, options?: CallOptions): Promise<SessionSkills>;
  /** Defines an agent: its version 1. */
  createAgent(body?: NewAgent, options?: CallOptions): Promise<AgentVersion>;
  /** Lists the agents, each in its newest version. */
  agents(query?: PageQuery, options?: CallOptions): Promise<Page<AgentVersion>>;
  /** The newest version of an agent. */
  agent(agent: string, options?: CallOptions): Promise<AgentVersion>;
  /** Makes a new version of an agent. Sessions keep the version that they began with. */
  changeAgent(agent: string, body?: AgentDefinition, options?: CallOptions): Promise<AgentVersion>;
  /** Lists the versions of an agent, newest first. */
  agentVersions(agent: string, query?: PageQuery, options?: CallOptions): Promise<Page<AgentVersion>>;
  /** What an agent remembers of the user (`x-user-id`): the latest first, or what fits the words of `query` best. */
  memories(agent: string, query?: MemoryQuery, options?: CallOptions): Promise<Page<MemoryRecord>>;
  /** Deletes all that an agent remembers of the user. */
  deleteMemories(agent: string, options?: CallOptions): Promise<void>;
  /** Deletes one thing that an agent remembers of the user. */
  deleteMemory(agent: string, memory: string, options?: CallOptions): Promise<void>;
  /** Deletes all that any agent remembers of the user. */
  deleteAllMemories(options?: CallOptions): Promise<void>;
  /** Creates a session. Without a workspace it gets one of its own. */
  createSession(body?: NewSession, options?: CallOptions): Promise<SessionState>;
  /** Lists the sessions, the newest first, as of their last turns. */
  sessions(query?: PageQuery, options?: CallOptions): Promise<Page<SessionSummary>>;
  /** The state of a session. */
  session(session: string, options?: CallOptions): Promise<SessionState>;
  /** Changes title, metadata or budget of a session. */
  changeSession(session: string, body?: SessionChange, options?: CallOptions): Promise<SessionState>;
  /** Stops and deletes a session. Its id is never used again; its workspace stays. */
  deleteSession(session: string, options?: CallOptions): Promise<void>;
  /** Prompts the session. The promptId makes it repeatable. */
  prompt(session: string, body: PromptBody, options?: CallOptions): Promise<PromptReceipt>;
  /** Stops the running turn; without one, or for a turn that is over, nothing happens. */
  interrupt(session: string, body?: InterruptBody, options?: CallOptions): Promise<InterruptReceipt>;
  /** The prompts that wait, in the order in which they will run. */
  queue(session: string, options?: CallOptions): Promise<Page<QueuedPrompt>>;
  /** Withdraws a waiting prompt. */
  unqueue(session: string, promptId: string, options?: CallOptions): Promise<void>;
  /** The approvals and questions that are open, as the events that opened them. */
  requests(session: string, options?: CallOptions): Promise<Page<DurableEvent<"approval_request"> | DurableEvent<"input_request">>>;
  /** Allows or denies a call. The first answer wins; the same again is answered alike. */
  approve(session: string, approval: string, body: DecisionBody, options?: CallOptions): Promise<Readonly<Record<string, never>>>;
  /** Answers a question. The first answer wins; the same again is answered alike. */
  answer(session: string, input: string, body: AnswerBody, options?: CallOptions): Promise<Readonly<Record<string, never>>>;
  /** The points just before each turn, the newest first. */
  checkpoints(session: string, query?: PageQuery, options?: CallOptions): Promise<Page<Checkpoint>>;
  /** Takes the conversation, the files that the session changed, or both back to a point. */
  restore(session: string, body: RestoreBody, options?: CallOptions): Promise<DurableEvent<"checkpoint_restore">>;
  /** Creates a session that begins as this one was at a point, on a branch of its workspace. */
  fork(session: string, body?: NewFork, options?: CallOptions): Promise<SessionState>;
  /** Puts a summary in the place of an earlier part of the conversation, between turns. */
  compact(session: string, body?: CompactBody, options?: CallOptions): Promise<Compaction>;
  /** The log after a cursor: a JSON page, or by `Accept` a stream of it that follows live. */
  events(session: string, query?: EventsQuery, options?: CallOptions): Promise<EventsPage>;
  /** The log after a cursor: a JSON page, or by `Accept` a stream of it that follows live. */
  followEvents(session: string, query?: EventsQuery, options?: CallOptions): Promise<EventStream>;
  /** The conversation as the model would be given it: the log, folded. */
  messages(session: string, options?: CallOptions): Promise<Page<Message>>;
  /** The spans of one turn, the last one by default, by OpenTelemetry's names for generative AI. */
  trace(session: string, query?: TraceQuery, options?: CallOptions): Promise<TurnTrace>;
  /** The bytes of a string that was too long for the log; Range is honoured. */
  artifact(session: string, ref: string, options?: CallOptions): Promise<Response>;
  /** Issues a token for this session, for an hour at most; it ends with the key that issued it. */
  createToken(session: string, body: NewToken, options?: CallOptions): Promise<SessionToken>;
  /** Prompts a session, a new one when none is named, and streams until that prompt's outcome. */
  chat(body: ChatBody, options?: CallOptions): Promise<EventStream>;
  /** Creates an empty workspace. */
  createWorkspace(body?: NewWorkspace, options?: CallOptions): Promise<Workspace>;
  /** Lists the workspaces, the newest first. */
  workspaces(query?: PageQuery, options?: CallOptions): Promise<Page<WorkspaceSummary>>;
  /** A workspace, with the version of its main branch and what that holds. */
  workspace(workspace: string, options?: CallOptions): Promise<Workspace>;
  /** Deletes a workspace with all its versions. Its id is never used again. */
  deleteWorkspace(workspace: string, options?: CallOptions): Promise<void>;
  /** The bytes of a file, with Range, If-Match and If-None-Match (the ETag is the content's SHA-256); of a folder, and of the root at `files/`, a listing as JSON. */
  listFolder(workspace: string, path: string, query?: FolderQuery, options?: CallOptions): Promise<FolderListing>;
  /** The bytes of a file, with Range, If-Match and If-None-Match (the ETag is the content's SHA-256); of a folder, and of the root at `files/`, a listing as JSON. */
  openFile(workspace: string, path: string, query?: FolderQuery, options?: CallOptions): Promise<Response>;
  /** Writes a file: the body is its bytes. 201 when it is new. If-Match and If-None-Match (`*`: only if nothing is there) make it a compare-and-set. */
  writeFile(workspace: string, path: string, bytes: Bytes, query?: BranchQuery, options?: CallOptions): Promise<FileEntry>;
  /** Deletes a file, or a folder with all that is in it. Earlier versions keep it. */
  deleteFile(workspace: string, path: string, query?: BranchQuery, options?: CallOptions): Promise<WorkspaceChange>;
  /** A tar of a branch, or of the folder at `path`, by names below it. */
  archive(workspace: string, query?: ArchiveQuery, options?: CallOptions): Promise<Response>;
  /** Puts the files of a tar into a branch, as one version; files that it does not name stay, and the same archive again changes nothing. Links and devices are refused, and then nothing changes. */
  putArchive(workspace: string, bytes: Bytes, query?: BranchQuery, options?: CallOptions): Promise<ArchiveImport>;
  /** Deletes files and folders by their paths, and files by a glob, as one version. */
  deleteFiles(workspace: string, body?: FileSelection, query?: BranchQuery, options?: CallOptions): Promise<WorkspaceChange>;
  /** What changed from one version of a branch to another, by path; with `path` the text of that file as a unified diff (null for what is binary or too large). By default the last change. */
  diff(workspace: string, query?: DiffQuery, options?: CallOptions): Promise<WorkspaceDiff>;
  /** Searches the files: lines by an RE2 pattern (`grep`), or paths by a glob. */
  search(workspace: string, body: SearchBody, query?: BranchQuery, options?: CallOptions): Promise<SearchResult>;
  /** The versions of a branch, the newest first: who changed what, and when. */
  versions(workspace: string, query?: VersionsQuery, options?: CallOptions): Promise<Page<WorkspaceVersion>>;
  /** Makes a branch what it was at a version; the versions since stay in its history. */
  restoreWorkspace(workspace: string, body: WorkspaceRestore, query?: BranchQuery, options?: CallOptions): Promise<WorkspaceChange>;
  /** What was used, in sums by day, agent and model. */
  usage(query?: UsageQuery, options?: CallOptions): Promise<Page<UsageSum>>;
  /** Who changed and decided what, newest first. */
  audit(query?: PageQuery, options?: CallOptions): Promise<Page<AuditEntry>>;
}

/** How each call is made. */
export const REST_CALLS: Readonly<Record<keyof RestCalls, RestCall>> = {
  health: { method: "GET", path: "/healthz", answer: "json" },
  description: { method: "GET", path: "/openapi.json", answer: "json" },
  createTenant: { method: "POST", path: "/v1/tenants", body: "application/json", answer: "json" },
  tenants: { method: "GET", path: "/v1/tenants", query: true, answer: "json" },
  tenant: { method: "GET", path: "/v1/tenants/{tenant}", answer: "json" },
  changeTenant: { method: "PATCH", path: "/v1/tenants/{tenant}", body: "application/json", answer: "json" },
  deleteTenant: { method: "DELETE", path: "/v1/tenants/{tenant}", answer: "none" },
  createTenantKey: { method: "POST", path: "/v1/tenants/{tenant}/keys", body: "application/json", answer: "json" },
  createKey: { method: "POST", path: "/v1/keys", body: "application/json", answer: "json" },
  keys: { method: "GET", path: "/v1/keys", query: true, answer: "json" },
  deleteKey: { method: "DELETE", path: "/v1/keys/{key}", answer: "none" },
  putProvider: { method: "PUT", path: "/v1/providers/{provider}", body: "application/json", answer: "json" },
  deleteProvider: { method: "DELETE", path: "/v1/providers/{provider}", answer: "none" },
  providers: { method: "GET", path: "/v1/providers", query: true, answer: "json" },
  models: { method: "GET", path: "/v1/models", query: true, answer: "json" },
  putSkill: { method: "PUT", path: "/v1/skills/{skill}", body: "application/json", answer: "json" },
  skill: { method: "GET", path: "/v1/skills/{skill}", answer: "json" },
  deleteSkill: { method: "DELETE", path: "/v1/skills/{skill}", answer: "none" },
  skills: { method: "GET", path: "/v1/skills", query: true, answer: "json" },
  sessionSkills: { method: "GET", path: "/v1/sessions/{session}/skills", query: true, answer: "json" },
  createAgent: { method: "POST", path: "/v1/agents", body: "application/json", answer: "json" },
  agents: { method: "GET", path: "/v1/agents", query: true, answer: "json" },
  agent: { method: "GET", path: "/v1/agents/{agent}", answer: "json" },
  changeAgent: { method: "PUT", path: "/v1/agents/{agent}", body: "application/json", answer: "json" },
  agentVersions: { method: "GET", path: "/v1/agents/{agent}/versions", query: true, answer: "json" },
  memories: { method: "GET", path: "/v1/agents/{agent}/memories", query: true, answer: "json" },
  deleteMemories: { method: "DELETE", path: "/v1/agents/{agent}/memories", answer: "none" },
  deleteMemory: { method: "DELETE", path: "/v1/agents/{agent}/memories/{memory}", answer: "none" },
  deleteAllMemories: { method: "DELETE", path: "/v1/memories", answer: "none" },
  createSession: { method: "POST", path: "/v1/sessions", body: "application/json", answer: "json" },
  sessions: { method: "GET", path: "/v1/sessions", query: true, answer: "json" },
  session: { method: "GET", path: "/v1/sessions/{session}", answer: "json" },
  changeSession: { method: "PATCH", path: "/v1/sessions/{session}", body: "application/json", answer: "json" },
  deleteSession: { method: "DELETE", path: "/v1/sessions/{session}", answer: "none" },
  prompt: { method: "POST", path: "/v1/sessions/{session}/prompt", body: "application/json", answer: "json" },
  interrupt: { method: "POST", path: "/v1/sessions/{session}/interrupt", body: "application/json", answer: "json" },
  queue: { method: "GET", path: "/v1/sessions/{session}/queue", answer: "json" },
  unqueue: { method: "DELETE", path: "/v1/sessions/{session}/queue/{promptId}", answer: "none" },
  requests: { method: "GET", path: "/v1/sessions/{session}/requests", answer: "json" },
  approve: { method: "POST", path: "/v1/sessions/{session}/approvals/{approval}", body: "application/json", answer: "json" },
  answer: { method: "POST", path: "/v1/sessions/{session}/inputs/{input}", body: "application/json", answer: "json" },
  checkpoints: { method: "GET", path: "/v1/sessions/{session}/checkpoints", query: true, answer: "json" },
  restore: { method: "POST", path: "/v1/sessions/{session}/restore", body: "application/json", answer: "json" },
  fork: { method: "POST", path: "/v1/sessions/{session}/fork", body: "application/json", answer: "json" },
  compact: { method: "POST", path: "/v1/sessions/{session}/compact", body: "application/json", answer: "json" },
  events: { method: "GET", path: "/v1/sessions/{session}/events", query: true, answer: "json" },
  followEvents: { method: "GET", path: "/v1/sessions/{session}/events", query: true, answer: "events" },
  messages: { method: "GET", path: "/v1/sessions/{session}/messages", answer: "json" },
  trace: { method: "GET", path: "/v1/sessions/{session}/trace", query: true, answer: "json" },
  artifact: { method: "GET", path: "/v1/sessions/{session}/artifacts/{ref}", answer: "bytes" },
  createToken: { method: "POST", path: "/v1/sessions/{session}/tokens", body: "application/json", answer: "json" },
  chat: { method: "POST", path: "/v1/chat", body: "application/json", answer: "events" },
  createWorkspace: { method: "POST", path: "/v1/workspaces", body: "application/json", answer: "json" },
  workspaces: { method: "GET", path: "/v1/workspaces", query: true, answer: "json" },
  workspace: { method: "GET", path: "/v1/workspaces/{workspace}", answer: "json" },
  deleteWorkspace: { method: "DELETE", path: "/v1/workspaces/{workspace}", answer: "none" },
  listFolder: { method: "GET", path: "/v1/workspaces/{workspace}/files/{path}", query: true, answer: "json" },
  openFile: { method: "GET", path: "/v1/workspaces/{workspace}/files/{path}", query: true, answer: "bytes" },
  writeFile: { method: "PUT", path: "/v1/workspaces/{workspace}/files/{path}", body: "application/octet-stream", query: true, answer: "json" },
  deleteFile: { method: "DELETE", path: "/v1/workspaces/{workspace}/files/{path}", query: true, answer: "json" },
  archive: { method: "GET", path: "/v1/workspaces/{workspace}/archive", query: true, answer: "bytes" },
  putArchive: { method: "PUT", path: "/v1/workspaces/{workspace}/archive", body: "application/x-tar", query: true, answer: "json" },
  deleteFiles: { method: "POST", path: "/v1/workspaces/{workspace}/delete", body: "application/json", query: true, answer: "json" },
  diff: { method: "GET", path: "/v1/workspaces/{workspace}/diff", query: true, answer: "json" },
  search: { method: "POST", path: "/v1/workspaces/{workspace}/search", body: "application/json", query: true, answer: "json" },
  versions: { method: "GET", path: "/v1/workspaces/{workspace}/versions", query: true, answer: "json" },
  restoreWorkspace: { method: "POST", path: "/v1/workspaces/{workspace}/restore", body: "application/json", query: true, answer: "json" },
  usage: { method: "GET", path: "/v1/usage", query: true, answer: "json" },
  audit: { method: "GET", path: "/v1/audit", query: true, answer: "json" },
};
