import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { MetaStore } from "./meta-store.ts";
import { hasSchema } from "./migrations.ts";
import type { CreateWorkspace } from "./workspace-api.ts";

/** What a workspace was created as. */
export interface WorkspaceSettings {
  readonly tenant: string;
  readonly id: string;
  readonly name: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  readonly createdBy: Principal;
}

const META = { settings: "settings", condemned: "condemned", oldest: "oldest", granted: "granted" } as const;

/** That a workspace exists, as what, and whether it is condemned: in the table `meta`, which no change of files writes. */
export class WorkspaceRecord {
  readonly #sql: SqlStorage;
  readonly #meta: MetaStore;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#meta = new MetaStore(sql);
  }

  /** Reads 3 rows and writes nothing. @throws not_found when the workspace was never created or is deleted */
  require(): WorkspaceSettings {
    const settings = this.#settings();
    if (!settings || this.#isCondemned()) throw noWorkspace();
    return settings;
  }

  /** Reads 2 rows. */
  exists(): boolean {
    return this.#settings() !== undefined;
  }

  /** What is to be removed, if it is. Reads 3 rows. */
  condemned(): WorkspaceSettings | undefined {
    const settings = this.#settings();
    return settings && this.#isCondemned() ? settings : undefined;
  }

  /** Whether it exists, as the same request made it. @throws id_taken when it is, or was, another */
  existsAs(input: CreateWorkspace): boolean {
    const settings = this.#settings();
    if (!settings) return false;
    // Who asks may differ: the repetition of a request can come with another key of its tenant.
    if (this.#isCondemned() || settings.name !== input.name) {
      throw new LightAgentError("id_taken", "A workspace with this id exists or existed.");
    }
    return true;
  }

  /** Writes 1 row. */
  create({ tenant, id, name, by }: CreateWorkspace, createdAt: number): void {
    const settings: WorkspaceSettings = { tenant, id, name, createdAt, createdBy: by };
    this.#meta.set(META.settings, settings);
  }

  /** Writes 1 row. */
  condemn(): void {
    this.#meta.set(META.condemned, true);
  }

  /** The oldest version that can be seen; 0 when that is every one. Reads 1 row. */
  oldest(): number {
    return this.#meta.get<number>(META.oldest) ?? 0;
  }

  /** Writes 1 row. */
  forgetBefore(version: number): void {
    this.#meta.set(META.oldest, version);
  }

  /** The bytes that the tenant lets it hold; 0 before it has asked. Reads 1 row. */
  granted(): number {
    return this.#meta.get<number>(META.granted) ?? 0;
  }

  /** Writes 1 row. */
  grant(bytes: number): void {
    this.#meta.set(META.granted, bytes);
  }

  #isCondemned(): boolean {
    return this.#meta.get(META.condemned) !== undefined;
  }

  #settings(): WorkspaceSettings | undefined {
    return hasSchema(this.#sql) ? this.#meta.get<WorkspaceSettings>(META.settings) : undefined;
  }
}

export function noWorkspace(): LightAgentError {
  return new LightAgentError("not_found", "There is no such workspace.");
}
