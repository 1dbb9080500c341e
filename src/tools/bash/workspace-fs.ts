import type { CpOptions, FileContent, FsStat, IFileSystem, MkdirOptions, RmOptions } from "just-bash/browser";
import { LightAgentError } from "../../runtime/protocol/errors.ts";
import { sha256Hex } from "../../runtime/protocol/sha256.ts";
import { canonicalPath } from "../../runtime/workspace/canonical-path.ts";
import type { FileChange, FileEntry, Workspace } from "../../runtime/workspace/workspace.ts";

/** All files are listed; a workspace holds no more. */
const LIST = { depth: 1_000, limit: 200_000 };

/** Bytes that one read of a workspace gives at most. */
const READ_BYTES = 8 * 1024 * 1024;

/** A file is read whole into memory. */
export const FILE_BYTES = 32 * 1024 * 1024;

/** What a command may leave changed: one change of a workspace carries no more. */
export const CHANGED_BYTES = 7 * 1024 * 1024;

/** A file as a command sees it: as it lies in the workspace, or as the command has made it. */
type Node =
  | { readonly stored: FileEntry }
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly modifiedAt: Date };

type Encoding = string | { readonly encoding?: string | null } | undefined;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The files of a workspace as a shell command sees them: listed at its beginning, read when they are read, and changed in
 * memory only. What has changed in the end becomes one version. Links do not exist, modes and times mean nothing, and a
 * folder without a file is forgotten.
 */
export class WorkspaceFs implements IFileSystem {
  readonly #workspace: Workspace;
  /** As they were at the beginning. */
  readonly #before: ReadonlyMap<string, FileEntry>;
  readonly #files: Map<string, Node>;
  readonly #folders = new Set<string>([""]);
  readonly #clock: () => number;

  private constructor(workspace: Workspace, entries: readonly FileEntry[], clock: () => number) {
    this.#workspace = workspace;
    this.#clock = clock;
    this.#before = new Map(entries.map((entry) => [entry.path, entry]));
    this.#files = new Map(entries.map((stored) => [stored.path, { stored }]));
    for (const { path } of entries) this.#addFolders(path);
  }

  static async open(workspace: Workspace, clock: () => number): Promise<WorkspaceFs> {
    const { entries, omitted } = await workspace.list("", LIST);
    if (omitted > 0)
      throw new LightAgentError("too_large", "The workspace holds more files than a command can see.");
    return new WorkspaceFs(
      workspace,
      entries.flatMap((entry) => (entry.kind === "file" ? [entry] : [])),
      clock,
    );
  }

  /** What the command has changed, each under the condition that nobody else has changed the file meanwhile. */
  async changes(): Promise<FileChange[]> {
    const changes: FileChange[] = [];
    for (const [path, { sha256 }] of this.#before) {
      if (!this.#files.has(path)) changes.push({ kind: "delete", path, ifMatch: sha256 });
    }
    for (const [path, node] of this.#files) {
      if ("stored" in node && node.stored.path === path) continue;
      const before = this.#before.get(path);
      const bytes = "stored" in node ? await this.#read(node.stored) : node.bytes;
      if (before && before.size === bytes.length && (await sha256Hex(bytes)) === before.sha256) continue;
      changes.push({ kind: "write", path, bytes, ifMatch: before?.sha256 ?? null });
    }
    return changes;
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    const encoding = typeof options === "object" ? options?.encoding : options;
    const bytes = await this.readFileBuffer(path);
    return encoding === "binary" || encoding === "latin1" ? latin1(bytes) : decoder.decode(bytes);
  }

  async readFileBuffer(path: string): Promise<Uint8Array<ArrayBuffer>> {
    const key = keyOf(path);
    const node = this.#files.get(key);
    if (!node)
      throw this.#folders.has(key)
        ? fault("EISDIR", "illegal operation on a directory, read", path)
        : missing(path);
    return "stored" in node ? this.#read(node.stored) : node.bytes;
  }

  async writeFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    const key = keyOf(path);
    if (this.#folders.has(key)) throw fault("EISDIR", "illegal operation on a directory, open", path);
    const parent = folderOf(key);
    if (!this.#folders.has(parent)) throw missing(path);
    this.#put(key, bytesOf(content, options));
  }

  async appendFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    const before = this.#files.has(keyOf(path)) ? await this.readFileBuffer(path) : new Uint8Array(0);
    const added = bytesOf(content, options);
    const whole = new Uint8Array(before.length + added.length);
    whole.set(before);
    whole.set(added, before.length);
    await this.writeFile(path, whole);
  }

  async exists(path: string): Promise<boolean> {
    const key = keyOf(path);
    return this.#files.has(key) || this.#folders.has(key);
  }

  async stat(path: string): Promise<FsStat> {
    const key = keyOf(path);
    const node = this.#files.get(key);
    if (!node && !this.#folders.has(key)) throw missing(path);
    const [size, mtime] = !node
      ? [0, new Date(0)]
      : "stored" in node
        ? [node.stored.size, new Date(node.stored.modifiedAt)]
        : [node.bytes.length, node.modifiedAt];
    const isFile = node !== undefined;
    return {
      isFile,
      isDirectory: !isFile,
      isSymbolicLink: false,
      mode: isFile ? 0o644 : 0o755,
      size,
      mtime,
      // Without it a copy between two file systems is refused: they might be the same file.
      identity: `workspace:${key}`,
    };
  }

  lstat(path: string): Promise<FsStat> {
    return this.stat(path);
  }

  async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    const key = keyOf(path);
    if (this.#files.has(key)) throw fault("EEXIST", "file already exists, mkdir", path);
    if (this.#folders.has(key)) {
      if (options?.recursive) return;
      throw fault("EEXIST", "file already exists, mkdir", path);
    }
    if (!options?.recursive && !this.#folders.has(folderOf(key))) throw missing(path);
    for (let at = key.indexOf("/"); at > 0; at = key.indexOf("/", at + 1)) {
      if (this.#files.has(key.slice(0, at))) throw fault("ENOTDIR", "not a directory, mkdir", path);
    }
    requirePath(key);
    this.#addFolders(`${key}/x`);
  }

  async readdir(path: string): Promise<string[]> {
    const key = keyOf(path);
    if (this.#files.has(key)) throw fault("ENOTDIR", "not a directory, scandir", path);
    if (!this.#folders.has(key)) throw missing(path);
    const names = new Set<string>();
    const prefix = key === "" ? "" : `${key}/`;
    for (const all of [this.#files.keys(), this.#folders]) {
      for (const known of all) {
        if (known === "" || !known.startsWith(prefix)) continue;
        const rest = known.slice(prefix.length);
        if (rest !== "") names.add(rest.split("/", 1)[0] ?? rest);
      }
    }
    return [...names].toSorted();
  }

  async rm(path: string, options?: RmOptions): Promise<void> {
    const key = keyOf(path);
    if (this.#files.delete(key)) return;
    if (!this.#folders.has(key)) {
      if (options?.force) return;
      throw missing(path);
    }
    const below = key === "" ? "" : `${key}/`;
    const inside = [...this.#files.keys(), ...this.#folders].filter(
      (known) => known !== key && known.startsWith(below),
    );
    if (inside.length > 0 && !options?.recursive) throw fault("ENOTEMPTY", "directory not empty, rm", path);
    for (const known of inside) {
      this.#files.delete(known);
      this.#folders.delete(known);
    }
    if (key !== "") this.#folders.delete(key);
  }

  async cp(source: string, target: string, options?: CpOptions): Promise<void> {
    const [from, to] = [keyOf(source), keyOf(target)];
    const node = this.#files.get(from);
    if (node) {
      if (this.#folders.has(to)) throw fault("EISDIR", "cannot overwrite a directory, cp", target);
      if (!this.#folders.has(folderOf(to))) throw missing(target);
      return this.#link(to, node);
    }
    if (!this.#folders.has(from)) throw missing(source);
    if (!options?.recursive) throw fault("EISDIR", "is a directory, cp", source);
    this.#addFolders(`${to}/x`);
    for (const [path, below] of this.#below(from)) this.#link(to + path.slice(from.length), below);
    for (const folder of this.#foldersBelow(from)) this.#addFolders(`${to}${folder.slice(from.length)}/x`);
  }

  async mv(source: string, target: string): Promise<void> {
    const [from, to] = [keyOf(source), keyOf(target)];
    if (from === to) return;
    if (to.startsWith(`${from}/`)) throw fault("EINVAL", "cannot move a directory into itself, mv", source);
    await this.cp(source, target, { recursive: true });
    await this.rm(source, { recursive: true });
  }

  resolvePath(base: string, path: string): string {
    const parts: string[] = [];
    for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return `/${parts.join("/")}`;
  }

  getAllPaths(): string[] {
    return [...this.#files.keys(), ...this.#folders].map((key) => `/${key}`);
  }

  async chmod(path: string): Promise<void> {
    await this.stat(path);
  }

  async utimes(path: string): Promise<void> {
    await this.stat(path);
  }

  async realpath(path: string): Promise<string> {
    await this.stat(path);
    return this.resolvePath("/", path);
  }

  async symlink(_target: string, path: string): Promise<void> {
    throw fault("EPERM", "a workspace has no links, symlink", path);
  }

  async link(_existing: string, path: string): Promise<void> {
    throw fault("EPERM", "a workspace has no links, link", path);
  }

  async readlink(path: string): Promise<string> {
    throw fault("EINVAL", "not a link, readlink", path);
  }

  #put(key: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#link(key, { bytes, modifiedAt: new Date(this.#clock()) });
  }

  #link(key: string, node: Node): void {
    requirePath(key);
    this.#files.set(key, node);
    this.#addFolders(key);
  }

  #addFolders(key: string): void {
    for (let at = key.lastIndexOf("/"); at > 0; at = key.lastIndexOf("/", at - 1))
      this.#folders.add(key.slice(0, at));
  }

  #below(folder: string): [string, Node][] {
    const prefix = folder === "" ? "" : `${folder}/`;
    return [...this.#files].filter(([path]) => path.startsWith(prefix));
  }

  #foldersBelow(folder: string): string[] {
    const prefix = folder === "" ? "" : `${folder}/`;
    return [...this.#folders].filter((path) => path !== "" && path.startsWith(prefix));
  }

  /** Another process may change the file meanwhile: what was listed is what is read, or nothing. */
  async #read({ path, size, sha256 }: FileEntry): Promise<Uint8Array<ArrayBuffer>> {
    if (size > FILE_BYTES)
      throw fault("EFBIG", `file too large (over ${FILE_BYTES / 1024 / 1024} MiB), read`, path);
    const whole = new Uint8Array(size);
    for (let offset = 0; offset < size; offset += READ_BYTES) {
      const { entry, bytes } = await this.#workspace.read(path, { offset, length: READ_BYTES });
      if (entry.sha256 !== sha256) {
        throw new LightAgentError("write_conflict", "A file has changed while the command ran.", { path });
      }
      whole.set(bytes, offset);
    }
    return whole;
  }
}

/** A path of the mounted file system (`/src/a.ts`) as workspaces spell it. */
function keyOf(path: string): string {
  return path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}

function folderOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf("/")));
}

/** A name that a workspace cannot hold is refused when it is made, not when all is done. */
function requirePath(key: string): void {
  try {
    if (canonicalPath(key) === key) return;
  } catch {
    // The command sees it as what it is to a file system.
  }
  throw fault("EINVAL", "a workspace cannot hold such a name, open", key);
}

function bytesOf(content: FileContent, options: Encoding): Uint8Array<ArrayBuffer> {
  if (typeof content !== "string") return new Uint8Array(content);
  const encoding = typeof options === "object" ? options?.encoding : options;
  if (encoding === "binary" || encoding === "latin1")
    return Uint8Array.from(content, (unit) => unit.charCodeAt(0));
  return new Uint8Array(encoder.encode(content));
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return text;
}

/** Errors as Node's file system has them: the shell's commands read their codes. */
function fault(code: string, message: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${message} '${path}'`), { code });
}

function missing(path: string): Error {
  return fault("ENOENT", "no such file or directory, open", path);
}
