// Made from the API's description: after a change, `npx vitest run --project workerd client-calls -u`.
// What calls and types are named stands in scripts/client-calls/call-names.ts.
import type { AgentDefinition, Budget, ModelCompat } from "../src/runtime/protocol/agent-definition.ts";
import type { ContentPart } from "../src/runtime/protocol/content.ts";
import type { DurableEvent } from "../src/runtime/protocol/durable-events.ts";
import type { Limits } from "../src/runtime/protocol/limits.ts";
import type { Principal } from "../src/runtime/protocol/principal.ts";
import type { Role, Scope } from "../src/runtime/protocol/role.ts";
import type { Usage } from "../src/runtime/protocol/usage.ts";

/** A part of a list; `next` is the cursor of the part that follows, null at the end. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next: string | null;
}

export interface Health {
  readonly status: string;
}

export interface NewTenant {
  readonly id: string;
  readonly name?: string | undefined;
}

export interface CreatedTenant extends Tenant {
  readonly apiKey: string;
}

export interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

export interface TenantSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

export interface Tenant extends TenantSummary {
  readonly limits: Partial<Limits>;
  readonly budget: {
    readonly dayTokens?: number;
    readonly monthTokens?: number;
  };
}

export interface TenantChange {
  readonly name?: string | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly budget?: {
    readonly dayTokens?: number | undefined;
    readonly monthTokens?: number | undefined;
  } | undefined;
}

export interface NewApiKey {
  readonly name: string;
  readonly role: Role;
}

export interface CreatedApiKey extends ApiKey {
  readonly apiKey: string;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
}

export interface NewModelProvider {
  readonly apiKey: string;
  readonly baseUrl?: string | undefined;
  readonly dialect?: "chat" | "responses" | undefined;
  readonly compat?: ModelCompat | undefined;
}

export interface ModelProvider {
  readonly id: string;
  readonly baseUrl: string;
  readonly dialect: "chat" | "responses";
  readonly compat: ModelCompat;
  readonly createdAt: number;
}

export interface ModelFigures {
  readonly model: string;
  readonly requests: number;
  readonly successes: number;
  readonly failures: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly restsUntil: number | null;
}

export interface NewSkill {
  readonly content: string;
  readonly files?: Readonly<Record<string, string>> | undefined;
}

export interface StoredSkill extends SkillSummary {
  readonly warnings: readonly string[];
}

export interface Skill extends SkillSummary {
  readonly content: string;
  readonly files: Readonly<Record<string, string>>;
}

export interface SkillSummary {
  readonly name: string;
  readonly version: number;
  readonly digest: string;
  readonly description: string;
  readonly dependencies: readonly string[];
  readonly paths: readonly string[];
  readonly createdAt: number;
}

export interface SkillQuery {
  readonly query?: string | null | undefined;
}

export interface SessionSkills {
  readonly skills: readonly ({
    readonly name: string;
    readonly description: string;
    readonly dependencies: readonly string[];
    readonly source: "agent" | "library" | "workspace";
  })[];
  readonly problems: readonly ({
    readonly level: "warning" | "error";
    readonly source: "agent" | "library" | "workspace";
    readonly skill: string;
    readonly message: string;
  })[];
}

export interface NewAgent extends AgentDefinition {
  readonly id?: string | undefined;
}

export interface AgentVersion extends AgentDefinition {
  readonly id: string;
  readonly version: number;
  readonly createdAt: number;
}

export interface MemoryQuery extends PageQuery {
  readonly query?: string | null | undefined;
  readonly kinds?: readonly ("episodic" | "semantic" | "procedural")[] | null | undefined;
}

export interface MemoryRecord {
  readonly id: string;
  readonly kind: "episodic" | "semantic" | "procedural";
  readonly content: string;
  readonly origin: {
    readonly session: string;
    readonly seq: number;
  };
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewSession extends SessionChange {
  readonly id?: string | undefined;
  readonly agent?: string | undefined;
  readonly workspace?: string | undefined;
}

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

export interface SessionChange {
  readonly title?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly budget?: Budget | undefined;
  readonly followAgent?: boolean | undefined;
}

export interface QueuedPrompt {
  readonly promptId: string;
  readonly mode: string;
  readonly preview: string;
  readonly by: Principal;
  readonly at: number;
}

export interface Checkpoint {
  readonly turn: number;
  readonly seq: number;
  readonly at: number;
  readonly preview: string;
  readonly workspaceVersion: number | null;
}

export interface NewFork {
  readonly id?: string | undefined;
  readonly atSeq?: number | undefined;
  readonly title?: string | undefined;
}

export interface Compaction {
  readonly throughSeq: number;
  readonly before: number;
  readonly after: number;
}

export interface EventsQuery {
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
  readonly types?: readonly string[] | undefined;
}

export interface EventsPage {
  readonly events: readonly DurableEvent[];
  readonly head: number;
  readonly next: number | null;
  readonly logId: string;
}

export type Message = {
  readonly role: "user";
  readonly content: readonly ContentPart[];
} | {
  readonly role: "assistant";
  readonly blocks: readonly ({
    readonly kind: "thought" | "text";
    readonly text: string;
    readonly providerData?: Readonly<Record<string, unknown>>;
  })[];
  readonly calls: readonly ({
    readonly id: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  })[];
} | {
  readonly role: "tool";
  readonly callId: string;
  readonly name: string;
  readonly content: string;
  readonly isError: boolean;
};

export interface TraceQuery {
  readonly turn?: number | null | undefined;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: "INTERNAL" | "CLIENT";
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano?: string;
  readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly status: {
    readonly code: "UNSET" | "OK" | "ERROR";
  };
}

export interface TurnTrace {
  readonly turn: number;
  readonly spans: readonly Span[];
}

export interface NewToken {
  readonly scopes: readonly Scope[];
  readonly sub?: string | undefined;
  readonly ttl?: number | undefined;
}

export interface SessionToken {
  readonly token: string;
  readonly expiresAt: number;
}

export interface ChatBody {
  readonly session?: string | undefined;
  readonly agent?: string | undefined;
  readonly text: string;
}

export interface NewWorkspace {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

export interface Workspace extends WorkspaceSummary {
  readonly version: number;
  readonly files: number;
  readonly bytes: number;
  readonly createdBy: Principal;
}

export interface WorkspaceSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

export interface FolderQuery extends BranchQuery {
  readonly depth?: number | undefined;
  readonly limit?: number | undefined;
}

export type FolderEntry = {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  readonly version: number;
  readonly modifiedAt: number;
  readonly kind: "file";
} | {
  readonly kind: "directory";
  readonly path: string;
  readonly files: number;
};

export interface FolderListing {
  readonly entries: readonly FolderEntry[];
  readonly omitted: number;
}

export interface BranchQuery {
  readonly branch?: string | undefined;
}

export interface FileEntry {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  readonly version: number;
  readonly modifiedAt: number;
}

export interface WorkspaceChange {
  readonly version: number;
  readonly paths: readonly string[];
}

export interface ArchiveQuery extends BranchQuery {
  readonly path?: string | undefined;
}

export interface ArchiveImport {
  readonly version: number;
  readonly files: number;
  readonly changed: number;
}

export interface FileSelection {
  readonly paths?: readonly string[] | undefined;
  readonly pattern?: string | undefined;
}

export interface DiffQuery extends ArchiveQuery {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export type WorkspaceDiff = {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly ({
    readonly path: string;
    readonly change: "added" | "changed" | "deleted" | "moved";
    readonly from?: string;
    readonly before?: {
      readonly size: number;
      readonly sha256: string;
    };
    readonly after?: {
      readonly size: number;
      readonly sha256: string;
    };
  })[];
  readonly more: boolean;
} | {
  readonly from: number;
  readonly to: number;
  readonly path: string;
  readonly patch: string | null;
};

export interface SearchBody {
  readonly kind: "grep" | "glob";
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly hideIgnored?: boolean | undefined;
  readonly fixed?: boolean | undefined;
  readonly caseSensitive?: boolean | undefined;
  readonly word?: boolean | undefined;
  readonly context?: number | undefined;
  readonly limit?: number | undefined;
}

export interface SearchMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

export interface SearchResult {
  readonly matches?: readonly SearchMatch[];
  readonly paths?: readonly string[];
  readonly more: boolean;
  readonly notSearched?: readonly ({
    readonly path: string;
    readonly reason: string;
  })[];
  readonly notSearchedCount?: number;
}

export interface VersionsQuery extends PageQuery {
  readonly branch?: string | undefined;
}

export interface WorkspaceVersion {
  readonly version: number;
  readonly at: number;
  readonly by: Principal;
  readonly session?: string;
  readonly turn?: number;
  readonly callId?: string;
  readonly changes: number;
  readonly paths?: readonly string[];
  readonly files: number;
  readonly bytes: number;
}

export interface WorkspaceRestore {
  readonly version: number;
}

export interface UsageQuery extends PageQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface UsageSum {
  readonly day: string;
  readonly agent: string;
  readonly model: string;
  readonly usage: Usage;
  readonly cost: number;
}

export interface AuditEntry {
  readonly number: number;
  readonly at: number;
  readonly by: Principal;
  readonly keyId?: string;
  readonly action: string;
  readonly target: string;
  readonly result: string;
  readonly requestId?: string;
}
