import { AgentStore } from "./agent-store.ts";
import { AuditStore } from "./audit-store.ts";
import { KeyStore } from "./key-store.ts";
import { LeaseStore } from "./lease-store.ts";
import { RemovalStore } from "./removal-store.ts";
import { ModelHealthStore } from "./model-health-store.ts";
import { ProviderStore } from "./provider-store.ts";
import { SessionIndexStore } from "./session-index-store.ts";
import { MemoryDirectoryStore } from "./memory-directory-store.ts";
import { StorageGrantsStore } from "./storage-grants-store.ts";
import { SkillStore } from "./skill-store.ts";
import { TenantRecords } from "./tenant-record.ts";
import { UsageStore } from "./usage-store.ts";
import { WorkspaceIndexStore } from "./workspace-index-store.ts";

/** The tables of a Tenant object. */
export interface TenantStores {
  readonly records: TenantRecords;
  readonly keys: KeyStore;
  readonly agents: AgentStore;
  readonly sessions: SessionIndexStore;
  readonly workspaces: WorkspaceIndexStore;
  readonly leases: LeaseStore;
  readonly removals: RemovalStore;
  readonly usage: UsageStore;
  readonly audit: AuditStore;
  readonly providers: ProviderStore;
  readonly models: ModelHealthStore;
  readonly skills: SkillStore;
  readonly memories: MemoryDirectoryStore;
  readonly storage: StorageGrantsStore;
}

/** Nothing is read or written by this. */
export function openTenantStores(sql: SqlStorage): TenantStores {
  return {
    records: new TenantRecords(sql),
    keys: new KeyStore(sql),
    agents: new AgentStore(sql),
    sessions: new SessionIndexStore(sql),
    workspaces: new WorkspaceIndexStore(sql),
    leases: new LeaseStore(sql),
    removals: new RemovalStore(sql),
    usage: new UsageStore(sql),
    audit: new AuditStore(sql),
    providers: new ProviderStore(sql),
    models: new ModelHealthStore(sql),
    skills: new SkillStore(sql),
    memories: new MemoryDirectoryStore(sql),
    storage: new StorageGrantsStore(sql),
  };
}
