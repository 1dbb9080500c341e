import type { NewId } from "../runtime/protocol/ids.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { ArchiveRequests } from "./archive-requests.ts";
import type { Alarms } from "./alarms.ts";
import { BranchReader } from "./branch-reader.ts";
import { BranchWriter } from "./branch-writer.ts";
import { ContentHolds } from "./content-holds.ts";
import type { ContentCache } from "./content-cache.ts";
import { FileContents } from "./file-contents.ts";
import { FileRequests } from "./file-requests.ts";
import { inTime } from "./in-time.ts";
import { migrate } from "./migrations.ts";
import { ObjectStorage } from "./object-storage.ts";
import type { Bucket } from "./object-storage.ts";
import { StorageAllowance } from "./storage-allowance.ts";
import { TextIndex } from "./text-index.ts";
import type { TenantStorage } from "./workspace-api.ts";
import { WORKSPACE_MIGRATIONS } from "./workspace-migrations.ts";
import type { WorkspaceSettings } from "./workspace-record.ts";
import { WorkspaceRemoval } from "./workspace-removal.ts";
import { WorkspaceSweep } from "./workspace-sweep.ts";
import { openWorkspaceStore } from "./workspace-store.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** What a Workspace object works with. */
export interface WorkspaceSurroundings {
  /** The object's own name. */
  readonly name: string | undefined;
  readonly storage: Pick<DurableObjectStorage, "sql" | "transactionSync" | "deleteAll">;
  readonly alarms: Alarms;
  readonly bucket: Bucket;
  readonly cache: ContentCache;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly newId: NewId;
  /** The tenant's object, by its name. */
  readonly tenant: (name: string) => TenantStorage;
}

/** The collaborators of a workspace that exists. */
export interface WorkspaceParts {
  readonly settings: WorkspaceSettings;
  readonly store: WorkspaceStore;
  readonly contents: FileContents;
  readonly reader: BranchReader;
  readonly writer: BranchWriter;
  readonly files: FileRequests;
  readonly archives: ArchiveRequests;
  readonly sweep: WorkspaceSweep;
  readonly removal: WorkspaceRemoval;
}

/** Puts a workspace together, its schema brought up to date. */
export function workspaceParts(
  settings: WorkspaceSettings,
  { storage, alarms, bucket, cache, limits, clock, newId, tenant }: WorkspaceSurroundings,
): WorkspaceParts {
  migrate(storage, WORKSPACE_MIGRATIONS);
  const store = openWorkspaceStore(storage);
  const objects = new ObjectStorage(bucket, `t/${settings.tenant}/w/${settings.id}/`);
  const holds = new ContentHolds();
  const ask = async (bytes: number, grows: boolean): Promise<number> =>
    unwrap(await inTime(tenant(settings.tenant).allowStorage(settings.id, bytes, grows)));
  const allowance = new StorageAllowance(store.record, store.blobs, ask);
  const contents = new FileContents({ blobs: store.blobs, objects, cache, newId, holds, allowance });
  const index = new TextIndex(store, limits);
  const reader = new BranchReader({ store, contents, index, limits });
  const sweep = new WorkspaceSweep({ store, objects, index, holds, alarms, allowance, limits, clock });
  // After the transaction of the change: the alarm is asked for asynchronously. The next change asks again.
  const changed = (): void => queueMicrotask(() => void sweep.arm().catch(() => undefined));
  const writer = new BranchWriter({ store, contents, index, limits, clock, changed });
  return {
    settings,
    store,
    contents,
    reader,
    writer,
    sweep,
    archives: new ArchiveRequests({ store, contents, index, writer, reader, holds, limits, changed }),
    files: new FileRequests({ reader, writer, contents, limits }),
    removal: new WorkspaceRemoval(storage, objects, alarms, clock),
  };
}
