import type { NewId } from "../runtime/protocol/ids.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import { BranchReader } from "./branch-reader.ts";
import { BranchWriter } from "./branch-writer.ts";
import type { ContentCache } from "./content-cache.ts";
import { FileContents } from "./file-contents.ts";
import { FileRequests } from "./file-requests.ts";
import { migrate } from "./migrations.ts";
import { ObjectStorage } from "./object-storage.ts";
import type { Bucket } from "./object-storage.ts";
import { TextIndex } from "./text-index.ts";
import { WORKSPACE_MIGRATIONS } from "./workspace-migrations.ts";
import type { WorkspaceSettings } from "./workspace-record.ts";
import { WorkspaceRemoval } from "./workspace-removal.ts";
import { openWorkspaceStore } from "./workspace-store.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** What a Workspace object works with. */
export interface WorkspaceSurroundings {
  /** The object's own name. */
  readonly name: string | undefined;
  readonly storage: Pick<DurableObjectStorage, "sql" | "transactionSync" | "deleteAll" | "setAlarm">;
  readonly bucket: Bucket;
  readonly cache: ContentCache;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** The collaborators of a workspace that exists. */
export interface WorkspaceParts {
  readonly settings: WorkspaceSettings;
  readonly store: WorkspaceStore;
  readonly reader: BranchReader;
  readonly writer: BranchWriter;
  readonly files: FileRequests;
  readonly removal: WorkspaceRemoval;
}

/** Puts a workspace together, its schema brought up to date. */
export function workspaceParts(
  settings: WorkspaceSettings,
  { storage, bucket, cache, limits, clock, newId }: WorkspaceSurroundings,
): WorkspaceParts {
  migrate(storage, WORKSPACE_MIGRATIONS);
  const store = openWorkspaceStore(storage);
  const objects = new ObjectStorage(bucket, `t/${settings.tenant}/w/${settings.id}/`);
  const contents = new FileContents({ blobs: store.blobs, objects, cache, newId });
  const index = new TextIndex(store, limits);
  const reader = new BranchReader({ store, contents, index, limits });
  const writer = new BranchWriter({ store, contents, index, limits, clock });
  return {
    settings,
    store,
    reader,
    writer,
    files: new FileRequests({ reader, writer, contents, limits }),
    removal: new WorkspaceRemoval(storage, objects, clock),
  };
}
