import { BlobStore } from "./blob-store.ts";
import { BranchStore } from "./branch-store.ts";
import { FenceStore } from "./fence-store.ts";
import { ManifestStore } from "./manifest-store.ts";
import type { MigrationStorage } from "./migrations.ts";
import { TextStore } from "./text-store.ts";
import { VersionStore } from "./version-store.ts";
import { WorkspaceRecord } from "./workspace-record.ts";

/** Everything that a Workspace object keeps in its own storage. */
export interface WorkspaceStore {
  readonly record: WorkspaceRecord;
  readonly branches: BranchStore;
  readonly versions: VersionStore;
  readonly manifest: ManifestStore;
  readonly blobs: BlobStore;
  readonly texts: TextStore;
  readonly fences: FenceStore;
  /** What is written in it is written whole or, when it throws or the process dies, not at all. */
  transaction<T>(run: () => T): T;
}

/** Opens the tables. Writes nothing, so that it can be asked whether they are there. */
export function openWorkspaceStore(storage: MigrationStorage): WorkspaceStore {
  const { sql } = storage;
  return {
    record: new WorkspaceRecord(sql),
    branches: new BranchStore(sql),
    versions: new VersionStore(sql),
    manifest: new ManifestStore(sql),
    blobs: new BlobStore(sql),
    texts: new TextStore(sql),
    fences: new FenceStore(sql),
    transaction: (run) => storage.transactionSync(run),
  };
}
