import { LightAgentError } from "../protocol/errors.ts";
import type { ChangePlan, ManifestView } from "./change-plan.ts";
import { compareCodeUnits } from "./path-order.ts";
import type { FileEntry } from "./workspace.ts";
import { MAIN_BRANCH } from "./workspace-source.ts";

/** What a path holds from a version on; null for nothing. */
interface Row {
  readonly version: number;
  readonly file: FileEntry | null;
}

interface Branch {
  /** What the branch began as. */
  readonly origin: { readonly branch: Branch; readonly version: number } | null;
  /** By path, oldest first; only what the branch changed itself. */
  readonly rows: Map<string, Row[]>;
  /** Those that the branch made itself, ascending. */
  readonly versions: number[];
}

/** The files of all branches at all versions: append-only, so that a fork copies nothing and every version stays. */
export class MemoryManifest {
  readonly #branches = new Map<string, Branch>([[MAIN_BRANCH, newBranch(null)]]);
  #version = 0;

  /** @throws LightAgentError `id_taken`, `not_found`, `invalid_request` */
  fork(name: string, from: { readonly branch?: string; readonly version?: number }): void {
    const { branch, version } = this.at(from.branch ?? MAIN_BRANCH, from.version);
    const existing = this.#branches.get(name);
    if (existing) {
      if (existing.origin?.branch === branch && existing.origin.version === version) return;
      throw new LightAgentError("id_taken", "The branch exists already.");
    }
    this.#branches.set(name, newBranch({ branch, version }));
  }

  /**
   * A branch as it is at a version, its head without one.
   * @throws LightAgentError `not_found`, `invalid_request` for a version that does not exist yet
   */
  at(name: string, asOf?: number): BranchView {
    if (asOf !== undefined && asOf > this.#version) {
      throw new LightAgentError("invalid_request", "The version does not exist yet.");
    }
    return new BranchView(this.#find(name), asOf ?? this.#version);
  }

  /** Adds one version to a branch. */
  commit(name: string, plan: ChangePlan, modifiedAt: number): number {
    const branch = this.#find(name);
    this.#version += 1;
    branch.versions.push(this.#version);
    for (const [path, content] of plan) {
      const file = content && { path, ...content, version: this.#version, modifiedAt };
      const rows = branch.rows.get(path) ?? [];
      branch.rows.set(path, rows);
      rows.push({ version: this.#version, file });
    }
    return this.#version;
  }

  #find(name: string): Branch {
    const branch = this.#branches.get(name);
    if (!branch) throw new LightAgentError("not_found", "The workspace has no such branch.");
    return branch;
  }
}

function newBranch(origin: Branch["origin"]): Branch {
  return { origin, rows: new Map(), versions: [] };
}

/** One branch at one version. */
export class BranchView implements ManifestView {
  readonly branch: Branch;
  /** The last change that is in the view, be it of the branch or of one that it comes from; 0 for none. */
  readonly version: number;
  /** The branch and those that it comes from, nearest first, each with the last version that counts. */
  readonly #lineage: readonly { readonly branch: Branch; readonly through: number }[];

  constructor(branch: Branch, asOf: number) {
    this.branch = branch;
    this.#lineage = lineage(branch, asOf);
    const last = this.#lineage.map(({ branch: { versions }, through }) => lastUpTo(versions, through));
    this.version = last.find((version) => version !== undefined) ?? 0;
  }

  file(path: string): FileEntry | undefined {
    for (const { branch, through } of this.#lineage) {
      const row = branch.rows.get(path)?.findLast(({ version }) => version <= through);
      if (row) return row.file ?? undefined;
    }
    return undefined;
  }

  *below(folder: string): Generator<string> {
    for (const path of this.#paths()) if (path.startsWith(`${folder}/`) && this.file(path)) yield path;
  }

  /** In code-unit order of the paths. */
  files(): FileEntry[] {
    const files = [...this.#paths()].map((path) => this.file(path)).filter((file) => file !== undefined);
    return files.sort((a, b) => compareCodeUnits(a.path, b.path));
  }

  /** Files and bytes in all. */
  totals(): { files: number; bytes: number } {
    const files = this.files();
    return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
  }

  /** Every path that some version has had. */
  #paths(): Set<string> {
    return new Set(this.#lineage.flatMap(({ branch }) => [...branch.rows.keys()]));
  }
}

function lineage(nearest: Branch, asOf: number): { branch: Branch; through: number }[] {
  const result: { branch: Branch; through: number }[] = [];
  let through = asOf;
  for (let branch: Branch | null = nearest; branch !== null; branch = branch.origin?.branch ?? null) {
    result.push({ branch, through });
    through = Math.min(through, branch.origin?.version ?? 0);
  }
  return result;
}

function lastUpTo(versions: readonly number[], through: number): number | undefined {
  return versions.findLast((version) => version <= through);
}
