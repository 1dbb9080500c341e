import { env, runInDurableObject } from "cloudflare:test";
import type { Environment } from "../../src/api/environment.ts";
import { Alarms } from "../../src/durable/alarms.ts";
import type { AlarmStorage } from "../../src/durable/alarms.ts";
import { ContentCache } from "../../src/durable/content-cache.ts";
import type { Bucket } from "../../src/durable/object-storage.ts";
import type { TenantStorage } from "../../src/durable/workspace-api.ts";
import { WorkspaceKeeper } from "../../src/durable/workspace-keeper.ts";
import type { WorkspaceParts, WorkspaceSurroundings } from "../../src/durable/workspace-parts.ts";
import { withLimits } from "../../src/runtime/protocol/limits.ts";
import { unwrap } from "../../src/runtime/protocol/answer.ts";
import type { Limits } from "../../src/runtime/protocol/limits.ts";
import type { FileChange, WorkspaceWriter } from "../../src/runtime/workspace/workspace.ts";

export const OWNER = { kind: "key", id: "k1" } as const;
export const OVER_REST: WorkspaceWriter = { by: OWNER };

const encoder = new TextEncoder();

export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

export function write(path: string, text: string, ifMatch?: string | null): FileChange {
  return { kind: "write", path, bytes: bytesOf(text), ...(ifMatch !== undefined && { ifMatch }) };
}

/** The writer of one call of a session. */
export function toolWriter(
  turn: number,
  wakes = 0,
  callId = `call_${turn}`,
  session = "s1",
): WorkspaceWriter {
  return { by: OWNER, source: { session, turn, wakes, callId } };
}

/** A Workspace object's inside, on its real storage and the real R2, with whatever stands between. */
export interface Rig {
  readonly keeper: WorkspaceKeeper;
  readonly storage: DurableObjectStorage;
  readonly bucket: R2Bucket;
  readonly prefix: string;
  /** When the alarm is due; null for none. */
  readonly alarm: () => number | null;
  /** The alarm fires, due or not. */
  readonly fire: () => Promise<void>;
  readonly enter: () => WorkspaceParts;
  /** A process that comes after: nothing in memory, and nothing stands between. */
  readonly restart: () => WorkspaceParts;
}

export interface RigOptions {
  readonly limits?: Partial<Limits>;
  /** Put in the place of R2 and of the storage. */
  readonly bucket?: (bucket: R2Bucket) => Bucket;
  readonly storage?: (storage: DurableObjectStorage) => WorkspaceSurroundings["storage"];
  readonly clock?: () => number;
  /** What the tenant says to a workspace that wants to hold more. @default that it may hold whatever it likes */
  readonly allowStorage?: TenantStorage["allowStorage"];
}

const UNBOUNDED: TenantStorage["allowStorage"] = async () => ({ ok: true, value: Number.MAX_SAFE_INTEGER });

let rigs = 0;

/** Makes a tenant's object know a workspace, as the API does before the workspace is created. */
export async function admitted(tenant: string, id: string): Promise<void> {
  const object = (env as unknown as Environment).TENANT.getByName(tenant);
  const act = { by: OWNER, keyId: "k1", requestId: "r" };
  const key = { id: "k1", name: "", role: "admin", hash: "0".repeat(64) } as const;
  await object.create({ id: tenant, name: "", key, repeatable: true }, act);
  unwrap(await object.admitWorkspace({ id, name: id, repeatable: true }, act));
}

/** Runs a test inside of a Workspace object that was just created, named `t1:w<n>`. */
export async function inWorkspace(
  test: (rig: Rig) => Promise<void>,
  options: RigOptions = {},
): Promise<void> {
  rigs += 1;
  const id = `w${rigs}`;
  let time = 1_000;
  const { clock = () => (time += 1) } = options;
  await runInDurableObject(env.WORKSPACE.getByName(`t1:${id}`), async (_object, { storage }) => {
    let alarm: number | null = null;
    const alarms: AlarmStorage = {
      getAlarm: async () => alarm,
      setAlarm: async (at) => void (alarm = Number(at)),
      deleteAlarm: async () => void (alarm = null),
    };
    const surroundings = {
      name: `t1:${id}`,
      limits: withLimits(options.limits),
      clock,
      newId: () => crypto.randomUUID(),
      tenant: () => ({ allowStorage: options.allowStorage ?? UNBOUNDED }),
    };
    const fresh = () => ({ ...surroundings, alarms: new Alarms(alarms, clock) });
    const open = (wrapped: Pick<WorkspaceSurroundings, "bucket" | "storage">): WorkspaceKeeper =>
      new WorkspaceKeeper({ ...fresh(), ...wrapped, cache: new ContentCache(1 << 20, 1 << 16) });
    const bare = open({ storage, bucket: env.FILES });
    bare.create({ tenant: "t1", id, name: "Tests", by: OWNER });
    const keeper = open({
      storage: options.storage?.(storage) ?? storage,
      bucket: options.bucket?.(env.FILES) ?? env.FILES,
    });
    await test({
      keeper,
      storage,
      bucket: env.FILES,
      alarm: () => alarm,
      async fire() {
        // As the platform has it: an alarm that fires is set no more.
        alarm = null;
        await keeper.alarm();
      },
      prefix: `t/t1/w/${id}/`,
      enter: () => keeper.enter(),
      restart: () => open({ storage, bucket: env.FILES }).enter(),
    });
  });
}

/** Makes the workspace one that was written before there was an index. */
export function unindex({ storage }: Rig): void {
  storage.sql.exec("DELETE FROM text_trigrams WHERE rowid IN (SELECT id FROM texts)");
  storage.sql.exec("DELETE FROM texts");
  storage.sql.exec("UPDATE blobs SET text = NULL, text_rows = 0");
}

/** The texts of all files of a branch. */
export async function texts({ reader }: WorkspaceParts, branch = "main"): Promise<Record<string, string>> {
  const files = reader.view({ branch }).files("");
  const found: Record<string, string> = {};
  for (const { path, size } of files.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const { bytes } = await reader.read({ branch }, path, { offset: 0, length: size });
    found[path] = new TextDecoder().decode(bytes);
  }
  return found;
}
