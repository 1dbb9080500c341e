/** What a route is called in the client. */
export interface CallNames {
  readonly call: string;
  /** A second call of the same route, for the answer that is a stream in the place of JSON. */
  readonly stream?: string;
  /** Names of the types of its body, its query and its answer (of a list's items); without one they stand in place. */
  readonly body?: string;
  readonly query?: string;
  readonly answer?: string;
  /** The name of what the answer holds a list of beside other fields. */
  readonly item?: string;
}

/**
 * The client's name for every route of the API's description, by method and path. Reads are named after what they
 * give, changes by a verb. Null: no call of `RestClient` is for it, for the reason beside it.
 */
export const CALL_NAMES: Readonly<Record<string, CallNames | null>> = {
  "GET /healthz": { call: "health", answer: "Health" },
  "GET /openapi.json": { call: "description" },
  // A page for people.
  "GET /docs": null,
  "POST /v1/tenants": { call: "createTenant", body: "NewTenant", answer: "CreatedTenant" },
  "GET /v1/tenants": { call: "tenants", query: "PageQuery", answer: "TenantSummary" },
  "GET /v1/tenants/{tenant}": { call: "tenant", answer: "Tenant" },
  "PATCH /v1/tenants/{tenant}": { call: "changeTenant", body: "TenantChange", answer: "Tenant" },
  "DELETE /v1/tenants/{tenant}": { call: "deleteTenant" },
  "POST /v1/tenants/{tenant}/keys": { call: "createTenantKey", body: "NewApiKey", answer: "CreatedApiKey" },
  "POST /v1/keys": { call: "createKey", body: "NewApiKey", answer: "CreatedApiKey" },
  "GET /v1/keys": { call: "keys", query: "PageQuery", answer: "ApiKey" },
  "DELETE /v1/keys/{key}": { call: "deleteKey" },
  "PUT /v1/providers/{provider}": { call: "putProvider", body: "NewModelProvider", answer: "ModelProvider" },
  "GET /v1/providers": { call: "providers", query: "PageQuery", answer: "ModelProvider" },
  "DELETE /v1/providers/{provider}": { call: "deleteProvider" },
  "GET /v1/models": { call: "models", query: "PageQuery", answer: "ModelFigures" },
  "POST /v1/agents": { call: "createAgent", body: "NewAgent", answer: "AgentVersion" },
  "GET /v1/agents": { call: "agents", query: "PageQuery", answer: "AgentVersion" },
  "GET /v1/agents/{agent}": { call: "agent", answer: "AgentVersion" },
  "PUT /v1/agents/{agent}": { call: "changeAgent", answer: "AgentVersion" },
  "GET /v1/agents/{agent}/memories": { call: "memories", query: "MemoryQuery", answer: "MemoryRecord" },
  "DELETE /v1/agents/{agent}/memories": { call: "deleteMemories" },
  "DELETE /v1/agents/{agent}/memories/{memory}": { call: "deleteMemory" },
  "DELETE /v1/memories": { call: "deleteAllMemories" },
  "GET /v1/skills": { call: "skills", query: "PageQuery", answer: "SkillSummary" },
  "GET /v1/skills/{skill}": { call: "skill", answer: "Skill" },
  "PUT /v1/skills/{skill}": { call: "putSkill", body: "NewSkill", answer: "StoredSkill" },
  "DELETE /v1/skills/{skill}": { call: "deleteSkill" },
  "GET /v1/sessions/{session}/skills": {
    call: "sessionSkills",
    query: "SkillQuery",
    answer: "SessionSkills",
  },
  "GET /v1/agents/{agent}/versions": { call: "agentVersions", query: "PageQuery", answer: "AgentVersion" },
  "POST /v1/sessions": { call: "createSession", body: "NewSession" },
  "GET /v1/sessions": { call: "sessions", query: "PageQuery", answer: "SessionSummary" },
  "GET /v1/sessions/{session}": { call: "session" },
  "PATCH /v1/sessions/{session}": { call: "changeSession", body: "SessionChange" },
  "DELETE /v1/sessions/{session}": { call: "deleteSession" },
  "POST /v1/sessions/{session}/prompt": { call: "prompt" },
  "POST /v1/sessions/{session}/interrupt": { call: "interrupt" },
  "GET /v1/sessions/{session}/queue": { call: "queue", answer: "QueuedPrompt" },
  "DELETE /v1/sessions/{session}/queue/{promptId}": { call: "unqueue" },
  "GET /v1/sessions/{session}/requests": { call: "requests" },
  "POST /v1/sessions/{session}/approvals/{approval}": { call: "approve" },
  "POST /v1/sessions/{session}/inputs/{input}": { call: "answer" },
  "GET /v1/sessions/{session}/checkpoints": { call: "checkpoints", query: "PageQuery", answer: "Checkpoint" },
  "POST /v1/sessions/{session}/restore": { call: "restore" },
  "POST /v1/sessions/{session}/fork": { call: "fork", body: "NewFork" },
  "POST /v1/sessions/{session}/compact": { call: "compact", answer: "Compaction" },
  "GET /v1/sessions/{session}/events": {
    call: "events",
    stream: "followEvents",
    query: "EventsQuery",
    answer: "EventsPage",
  },
  // SessionSocket opens it.
  "GET /v1/sessions/{session}/ws": null,
  "GET /v1/sessions/{session}/messages": { call: "messages", answer: "Message" },
  "GET /v1/sessions/{session}/trace": {
    call: "trace",
    query: "TraceQuery",
    answer: "TurnTrace",
    item: "Span",
  },
  "GET /v1/sessions/{session}/artifacts/{ref}": { call: "artifact" },
  "POST /v1/sessions/{session}/tokens": { call: "createToken", body: "NewToken", answer: "SessionToken" },
  "POST /v1/chat": { call: "chat", body: "ChatBody" },
  "POST /v1/workspaces": { call: "createWorkspace", body: "NewWorkspace", answer: "Workspace" },
  "GET /v1/workspaces": { call: "workspaces", query: "PageQuery", answer: "WorkspaceSummary" },
  "GET /v1/workspaces/{workspace}": { call: "workspace", answer: "Workspace" },
  "DELETE /v1/workspaces/{workspace}": { call: "deleteWorkspace" },
  "GET /v1/workspaces/{workspace}/files/{path}": {
    call: "listFolder",
    stream: "openFile",
    query: "FolderQuery",
    answer: "FolderListing",
    item: "FolderEntry",
  },
  "PUT /v1/workspaces/{workspace}/files/{path}": {
    call: "writeFile",
    query: "BranchQuery",
    answer: "FileEntry",
  },
  "DELETE /v1/workspaces/{workspace}/files/{path}": {
    call: "deleteFile",
    query: "BranchQuery",
    answer: "WorkspaceChange",
  },
  "GET /v1/workspaces/{workspace}/archive": { call: "archive", query: "ArchiveQuery" },
  "PUT /v1/workspaces/{workspace}/archive": {
    call: "putArchive",
    query: "BranchQuery",
    answer: "ArchiveImport",
  },
  "POST /v1/workspaces/{workspace}/delete": {
    call: "deleteFiles",
    query: "BranchQuery",
    body: "FileSelection",
    answer: "WorkspaceChange",
  },
  "GET /v1/workspaces/{workspace}/diff": { call: "diff", query: "DiffQuery", answer: "WorkspaceDiff" },
  "POST /v1/workspaces/{workspace}/search": {
    call: "search",
    query: "BranchQuery",
    body: "SearchBody",
    answer: "SearchResult",
    item: "SearchMatch",
  },
  "GET /v1/workspaces/{workspace}/versions": {
    call: "versions",
    query: "VersionsQuery",
    answer: "WorkspaceVersion",
  },
  "POST /v1/workspaces/{workspace}/restore": {
    call: "restoreWorkspace",
    body: "WorkspaceRestore",
    query: "BranchQuery",
    answer: "WorkspaceChange",
  },
  "GET /v1/usage": { call: "usage", query: "UsageQuery", answer: "UsageSum" },
  "GET /v1/audit": { call: "audit", query: "PageQuery", answer: "AuditEntry" },
  // Spoken by the clients of other protocols.
  "POST /v1/sessions/{session}/ai-sdk": null,
  "GET /v1/sessions/{session}/ai-sdk/{chat}/stream": null,
  "GET /v1/sessions/{session}/ai-sdk/messages": null,
  "POST /v1/ag-ui": null,
  "POST /v1/sessions/{session}/ag-ui": null,
};
