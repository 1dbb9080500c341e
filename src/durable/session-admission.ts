import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { NewId } from "../runtime/protocol/ids.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import { conflict } from "./pages.ts";
import type { PinnedLibrary } from "./tenant-api.ts";
import type { AgentView, SessionAdmission, SessionRequest } from "./tenant-management-api.ts";
import type { TenantBounds } from "./tenant-record.ts";
import type { TenantStores } from "./tenant-stores.ts";
import type { WorkspaceIndexStore } from "./workspace-index-store.ts";

/** When a refused session may be tried again: it takes somebody to delete one. */
const FULL_RETRY_MS = 60_000;

/**
 * Enters a session into the tenant's index and pins what it begins with, so that the same request again is answered
 * the same however the agent has changed. Reads up to 5 rows and one per skill of the library, writes 3, and 2 more for
 * a workspace of its own.
 * @throws too_many_sessions, id_taken, idempotency_mismatch; not_found for an unknown agent or workspace
 */
export function admitSession(
  stores: TenantStores,
  request: SessionRequest,
  { limits, overrides }: TenantBounds,
  at: number,
  newId: NewId,
): SessionAdmission {
  const { records, agents, sessions } = stores;
  const existing = sessions.find(request.id);
  if (existing) {
    if (existing.deleted || existing.digest !== request.digest) throw conflict("session", request.repeatable);
    const agent = agents.version(existing.agent, existing.agent_version);
    const skills = pinnedSkills(stores, agent, limits);
    return { fresh: false, agent, workspace: existing.workspace, limits: overrides, skills };
  }
  if (records.sessionCount() >= limits.sessions) {
    const details = { limit: "sessions", value: limits.sessions, retryAfterMs: FULL_RETRY_MS };
    throw new LightAgentError("too_many_sessions", "The tenant has as many sessions as it may.", details);
  }
  const { agentVersion: pinned } = request;
  const agent = pinned === undefined ? agents.newest(request.agent) : agents.version(request.agent, pinned);
  const workspace = workspaceFor(stores.workspaces, request, at, newId);
  const { id, digest, title } = request;
  sessions.insert({ id, digest, title, workspace, agent: agent.id, agentVersion: agent.version }, at);
  records.countSessions(1);
  return { fresh: true, agent, workspace, limits: overrides, skills: pinnedSkills(stores, agent, limits) };
}

/** Of the library as it is now: a session that exists has pinned its own already. */
export function pinnedSkills(
  { skills }: TenantStores,
  { definition }: AgentView,
  { agentSkills }: Limits,
): PinnedLibrary | undefined {
  const names = (definition.skills ?? []).filter((skill) => typeof skill === "string");
  return names.length === 0 ? undefined : skills.pin(names, agentSkills);
}

/** The named workspace, or one of the session's own: with the session's id, unless that is another workspace's. */
function workspaceFor(
  workspaces: WorkspaceIndexStore,
  { id, workspace }: SessionRequest,
  at: number,
  newId: NewId,
): string {
  if (workspace !== null) {
    if (workspaces.stateOf(workspace) === "there") return workspace;
    throw new LightAgentError("not_found", "There is no such workspace.");
  }
  const own = workspaces.stateOf(id) === "free" ? id : newId();
  workspaces.admit({ id: own, name: id, repeatable: false }, at);
  return own;
}
