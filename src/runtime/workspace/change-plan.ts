import { LightAgentError } from "../protocol/errors.ts";
import { canonicalPath, requireCanonical } from "./canonical-path.ts";
import type { FileChange, IfMatch } from "./workspace.ts";

/** The content of a file, wherever its bytes are. */
export interface ContentRef {
  /** Lower-case hex. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

/** A change whose bytes are stored already. */
export type PlannableChange =
  | Exclude<FileChange, { kind: "write" }>
  | ({ readonly kind: "write"; readonly path: string; readonly ifMatch?: IfMatch } & ContentRef);

/** The files of a branch as the plan finds them. */
export interface ManifestView {
  file(path: string): ContentRef | undefined;
  /** The paths of all files below a folder (never the root). Read only as far as needed. */
  below(folder: string): Iterable<string>;
}

/** What each changed path holds afterwards; null for nothing. */
export type ChangePlan = ReadonlyMap<string, ContentRef | null>;

/**
 * What the changes of one version come to, or the reason why they cannot be made. Pure and synchronous: a store calls
 * it inside the transaction that writes the result, so that no other change comes between.
 * @throws LightAgentError see `Workspace.change`
 */
export function planChange(changes: readonly PlannableChange[], view: ManifestView): ChangePlan {
  if (changes.length === 0) throw new LightAgentError("invalid_request", "There is nothing to change.");
  const planner = new Planner(view);
  for (const change of changes) planner.apply(change);
  return planner.plan;
}

class Planner {
  readonly plan = new Map<string, ContentRef | null>();
  /** By directory, the files below it that the plan has put there and not taken away. */
  readonly #filled = new Map<string, Set<string>>();
  /** Directories that the plan has changed all files of. It never changes fewer, so none is looked for again. */
  readonly #exhausted = new Set<string>();
  readonly #view: ManifestView;

  constructor(view: ManifestView) {
    this.#view = view;
  }

  apply(change: PlannableChange): void {
    switch (change.kind) {
      case "write":
        return this.#write(change);
      case "delete":
        return this.#delete(change.path, change.ifMatch);
      case "move":
        return this.#move(change.from, change.to);
    }
  }

  #write(change: Extract<PlannableChange, { kind: "write" }>): void {
    const { path, ifMatch, sha256, size } = change;
    requireCanonical(path);
    this.#requireMatch(path, ifMatch);
    if (this.#isDirectory(path)) throw failure("is_directory", "A directory is at the path.", path);
    this.#requireFreeAncestors(path);
    this.#put(path, { sha256, size });
  }

  #delete(path: string, ifMatch: IfMatch | undefined): void {
    requireCanonical(path);
    this.#requireMatch(path, ifMatch);
    const gone = this.#filesAt(path);
    if (gone.length === 0) throw failure("path_not_found", "Nothing is at the path.", path);
    for (const file of gone) this.#take(file);
  }

  #move(from: string, to: string): void {
    requireCanonical(from);
    requireCanonical(to);
    const moved = this.#filesAt(from);
    if (moved.length === 0) throw failure("path_not_found", "Nothing is at the path.", from);
    if (to.startsWith(`${from}/`)) throw failure("invalid_path", "A move leads into what is moved.", to);
    if (this.#file(to) || this.#isDirectory(to)) {
      throw failure("already_exists", "Something is at the target.", to);
    }
    this.#requireFreeAncestors(to);
    for (const file of moved) {
      const content = this.#file(file);
      // Throws where the new place makes the path too long.
      const target = canonicalPath(to + file.slice(from.length));
      this.#take(file);
      if (content) this.#put(target, { sha256: content.sha256, size: content.size });
    }
  }

  #put(path: string, content: ContentRef): void {
    this.plan.set(path, content);
    for (const ancestor of ancestors(path)) {
      const files = this.#filled.get(ancestor);
      if (files) files.add(path);
      else this.#filled.set(ancestor, new Set([path]));
    }
  }

  #take(path: string): void {
    this.plan.set(path, null);
    for (const ancestor of ancestors(path)) this.#filled.get(ancestor)?.delete(path);
  }

  #file(path: string): ContentRef | undefined {
    const planned = this.plan.get(path);
    return planned === undefined ? this.#view.file(path) : (planned ?? undefined);
  }

  *#below(folder: string): Iterable<string> {
    yield* this.#filled.get(folder) ?? [];
    if (this.#exhausted.has(folder)) return;
    let isExhausted = true;
    for (const path of this.#view.below(folder)) {
      if (this.plan.has(path)) continue;
      isExhausted = false;
      yield path;
    }
    if (isExhausted) this.#exhausted.add(folder);
  }

  #isDirectory(path: string): boolean {
    for (const _file of this.#below(path)) return true;
    return false;
  }

  #filesAt(path: string): string[] {
    return this.#file(path) ? [path] : [...this.#below(path)];
  }

  #requireMatch(path: string, ifMatch: IfMatch | undefined): void {
    if (ifMatch === undefined) return;
    const current = this.#file(path)?.sha256 ?? (this.#isDirectory(path) ? "directory" : null);
    if (current !== ifMatch) throw failure("write_conflict", "What is at the path has changed.", path);
  }

  #requireFreeAncestors(path: string): void {
    for (const ancestor of ancestors(path)) {
      if (this.#file(ancestor)) throw failure("invalid_path", "The path leads through a file.", ancestor);
    }
  }
}

/** The directories that hold a path, innermost first, without the root. */
function* ancestors(path: string): Generator<string> {
  for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
    yield path.slice(0, slash);
  }
}

function failure(
  code: "already_exists" | "invalid_path" | "is_directory" | "path_not_found" | "write_conflict",
  message: string,
  path: string,
): LightAgentError {
  return new LightAgentError(code, message, { path });
}
