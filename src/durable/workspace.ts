import { DurableObject } from "cloudflare:workers";
import { deployment } from "../deployment.ts";
import { traceOf } from "../runtime/protocol/error-trace.ts";
import { toErrorBody } from "../runtime/protocol/errors.ts";
import type {
  Changed,
  FileChange,
  FileContent,
  ListEntry,
  Listing,
  ListOptions,
  SearchQuery,
  SearchResult,
  WorkspaceWriter,
} from "../runtime/workspace/workspace.ts";
import { answer } from "../runtime/protocol/answer.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import type { Reverted, ToolWriter } from "./branch-writer.ts";
import { Alarms } from "./alarms.ts";
import { bulkDelete } from "./bulk-delete.ts";
import type { Doomed } from "./bulk-delete.ts";
import { ContentCache } from "./content-cache.ts";
import { errorResponse } from "./error-response.ts";
import { versionAt } from "./revert-plan.ts";
import type { SessionPoint } from "./session-point.ts";
import { callerOf } from "./session-requests.ts";
import { readAway } from "./upload-chunks.ts";
import { textDiff, versionDiff } from "./version-diff.ts";
import type { DiffRange, TextDiff, VersionDiff } from "./version-diff.ts";
import { versionHistory } from "./version-history.ts";
import type {
  BranchAt,
  CreateWorkspace,
  TenantStorage,
  VersionsPage,
  WorkspaceApi,
  WorkspaceState,
} from "./workspace-api.ts";
import { WorkspaceKeeper } from "./workspace-keeper.ts";

/** Contents of small files, for all workspaces of this isolate: they share its memory. */
const CACHE = new ContentCache(16 * 1024 * 1024, 1024 * 1024);

const LIMITS = deployment.limits;

/** The platform's types of stubs lose the answers' types. */
interface WorkspaceBindings {
  readonly TENANT: { getByName(name: string): TenantStorage };
}

/**
 * The Workspace object: one per workspace, named `<tenant>:<workspace>`. It holds no behaviour: every method takes the
 * workspace from the keeper, which answers `not_found` where there is none, and makes one call.
 */
export class Workspace extends DurableObject<Env> implements WorkspaceApi {
  readonly #keeper: WorkspaceKeeper;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#keeper = new WorkspaceKeeper({
      name: ctx.id.name,
      storage: ctx.storage,
      alarms: new Alarms(ctx.storage, Date.now),
      bucket: env.FILES,
      cache: CACHE,
      limits: LIMITS,
      clock: Date.now,
      newId: () => crypto.randomUUID(),
      tenant: (name) => (env as unknown as WorkspaceBindings).TENANT.getByName(name),
    });
  }

  create(input: CreateWorkspace): Promise<Answer<WorkspaceState>> {
    return answer(() => this.#keeper.create(input), report);
  }

  state(): Promise<Answer<WorkspaceState>> {
    return answer(() => this.#keeper.state(), report);
  }

  remove(): Promise<Answer<null>> {
    return answer(() => this.#keeper.remove(), report);
  }

  version(at: BranchAt): Promise<Answer<number>> {
    return answer(() => this.#keeper.enter().reader.view(at).totals().version, report);
  }

  stat(at: BranchAt, path: string): Promise<Answer<ListEntry | null>> {
    return answer(() => this.#keeper.enter().reader.stat(at, path), report);
  }

  list(at: BranchAt, path: string, options: ListOptions): Promise<Answer<Listing>> {
    return answer(() => this.#keeper.enter().reader.list(at, path, options), report);
  }

  read(at: BranchAt, path: string, range: { offset: number; length: number }): Promise<Answer<FileContent>> {
    return answer(() => this.#keeper.enter().reader.read(at, path, range), report);
  }

  change(branch: string, writer: WorkspaceWriter, changes: readonly FileChange[]): Promise<Answer<Changed>> {
    return answer(() => this.#keeper.enter().writer.change(branch, writer, changes), report);
  }

  search(branch: string, query: SearchQuery): Promise<Answer<SearchResult>> {
    return answer(() => this.#keeper.enter().reader.search(branch, query), report);
  }

  outcome(writer: WorkspaceWriter, callId: string): Promise<Answer<Changed | null>> {
    return answer(() => this.#keeper.enter().writer.outcome(writer, callId), report);
  }

  versions(branch: string, page: { before?: number; limit: number }): Promise<Answer<VersionsPage>> {
    return answer(() => versionHistory(this.#keeper.enter().store, branch, page), report);
  }

  deleteAll(branch: string, writer: WorkspaceWriter, doomed: Doomed): Promise<Answer<Changed>> {
    return answer(
      () => bulkDelete({ ...this.#keeper.enter(), limits: LIMITS }, branch, writer, doomed),
      report,
    );
  }

  diff(range: DiffRange): Promise<Answer<VersionDiff>> {
    return answer(() => versionDiff(this.#keeper.enter().store, range), report);
  }

  textDiff(range: DiffRange, path: string): Promise<Answer<TextDiff>> {
    return answer(() => {
      const { store, contents } = this.#keeper.enter();
      return textDiff(store, contents, range, path);
    }, report);
  }

  restore(branch: string, version: number, writer: WorkspaceWriter): Promise<Answer<Changed>> {
    return answer(() => this.#keeper.enter().writer.restore(branch, version, writer), report);
  }

  versionAt(branch: string, point: SessionPoint): Promise<Answer<number>> {
    return answer(() => versionAt(this.#keeper.enter().store, branch, point), report);
  }

  revert(branch: string, writer: ToolWriter, point: SessionPoint): Promise<Answer<Reverted>> {
    return answer(() => this.#keeper.enter().writer.revert(branch, writer, point), report);
  }

  release(session: string, branch: string | null): Promise<Answer<null>> {
    return answer(async () => {
      await this.#keeper.enter().sweep.release(session, branch);
      return null;
    }, report);
  }

  fork(name: string, origin: BranchAt): Promise<Answer<null>> {
    return answer(() => {
      this.#keeper.enter().writer.fork(name, origin);
      return null;
    }, report);
  }

  /** The bytes of files, one by one or as an archive; see WorkspaceApi. */
  override async fetch(request: Request): Promise<Response> {
    try {
      const caller = callerOf(request);
      const { files, archives } = this.#keeper.enterAs(caller);
      const { pathname } = new URL(request.url);
      const asked = pathname === "/archive" ? archives : files;
      return await asked.respond(request, caller.principal);
    } catch (caught) {
      const error = toErrorBody(caught);
      if (error.code === "internal") report(caught);
      if (request.body?.locked === false) await readAway(request.body.getReader(), 2 * LIMITS.fileBytes);
      return errorResponse(error);
    }
  }

  override async alarm(): Promise<void> {
    await this.#keeper.alarm();
  }
}

/** One line of the operator's log. */
function report(caught: unknown): void {
  console.error(JSON.stringify({ event: "workspace_error", ...traceOf(caught) }));
}
