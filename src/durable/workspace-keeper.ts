import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import type { Caller } from "./session-api.ts";
import { migrate } from "./migrations.ts";
import type { CreateWorkspace, WorkspaceState } from "./workspace-api.ts";
import { WORKSPACE_MIGRATIONS } from "./workspace-migrations.ts";
import { workspaceParts } from "./workspace-parts.ts";
import type { WorkspaceParts, WorkspaceSurroundings } from "./workspace-parts.ts";
import { noWorkspace } from "./workspace-record.ts";
import { openWorkspaceStore } from "./workspace-store.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** Creates, opens and ends a workspace. All that reaches it comes through `enter`. */
export class WorkspaceKeeper {
  readonly #surroundings: WorkspaceSurroundings;
  readonly #store: WorkspaceStore;
  #opened: WorkspaceParts | null = null;

  constructor(surroundings: WorkspaceSurroundings) {
    this.#surroundings = surroundings;
    this.#store = openWorkspaceStore(surroundings.storage);
  }

  /** The workspace. @throws not_found when it was never created or is deleted; then nothing is written */
  enter(): WorkspaceParts {
    this.#opened ??= workspaceParts(this.#store.record.require(), this.#surroundings);
    return this.#opened;
  }

  /** The workspace for a request that names its caller. @throws not_found also for another tenant's */
  enterAs({ tenant }: Caller): WorkspaceParts {
    const parts = this.enter();
    if (parts.settings.tenant !== tenant) throw noWorkspace();
    return parts;
  }

  create(input: CreateWorkspace): WorkspaceState {
    const { name, storage, clock } = this.#surroundings;
    // The object's name is where the tenant stands that the Worker has verified.
    if (name !== `${input.tenant}:${input.id}`) throw noWorkspace();
    if (!this.#store.record.existsAs(input)) {
      this.#store.transaction(() => {
        migrate(storage, WORKSPACE_MIGRATIONS);
        this.#store.record.create(input, clock());
        this.#store.branches.add(MAIN_BRANCH, null);
      });
    }
    return this.state();
  }

  state(): WorkspaceState {
    const { settings, reader } = this.enter();
    const { id, name, createdAt, createdBy } = settings;
    return { id, name, ...reader.view({ branch: MAIN_BRANCH }).totals(), createdAt, createdBy };
  }

  /** From now on there is no such workspace; the alarm empties it. */
  async remove(): Promise<null> {
    const { removal } = this.enter();
    this.#opened = null;
    this.#store.record.condemn();
    await removal.begin();
    return null;
  }

  /** A further step of a removal, or a sweep. */
  async alarm(): Promise<void> {
    const condemned = this.#store.record.condemned();
    if (condemned) await workspaceParts(condemned, this.#surroundings).removal.step();
    else if (this.#store.record.exists()) await this.enter().sweep.step();
  }
}
