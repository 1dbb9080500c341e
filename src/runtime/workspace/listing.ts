import { compareCodeUnits } from "./path-order.ts";
import type { FileEntry, ListEntry, Listing, ListOptions } from "./workspace.ts";

interface Directory {
  readonly path: string;
  readonly directories: Map<string, Directory>;
  readonly files: FileEntry[];
  /** Files at any depth below. */
  count: number;
}

/**
 * Lists a folder.
 * @param files All files below it, in any order; others are passed over
 * @param ignored Whether a path is to be left out; nothing is without it
 */
export function listFolder(
  files: Iterable<FileEntry>,
  folder: string,
  { depth, limit }: ListOptions,
  ignored: (path: string) => boolean = () => false,
): Listing {
  const root = emptyDirectory(folder);
  const prefix = folder === "" ? "" : `${folder}/`;
  let hidden = 0;
  for (const file of files) {
    if (!file.path.startsWith(prefix)) continue;
    if (ignored(file.path)) hidden += 1;
    else place(root, file, prefix.length, depth);
  }
  const entries = [...inOrder(root, select(root, limit))];
  const shown = entries.filter((entry) => entry.kind === "file").length;
  return { entries, omitted: root.count - shown, ignored: hidden };
}

function emptyDirectory(path: string): Directory {
  return { path, directories: new Map(), files: [], count: 0 };
}

function place(root: Directory, file: FileEntry, prefixLength: number, depth: number): void {
  root.count += 1;
  let directory = root;
  let start = prefixLength;
  for (let level = 1; ; level += 1) {
    const slash = file.path.indexOf("/", start);
    if (slash < 0) {
      directory.files.push(file);
      return;
    }
    const name = file.path.slice(start, slash);
    const child = directory.directories.get(name) ?? emptyDirectory(file.path.slice(0, slash));
    directory.directories.set(name, child);
    child.count += 1;
    if (level === depth) return;
    directory = child;
    start = slash + 1;
  }
}

/** The paths that the limit leaves, level by level, so that a large folder does not hide its neighbours. */
function select(root: Directory, limit: number): Set<string> {
  const selected = new Set<string>();
  for (let level: Directory[] = [root]; level.length > 0 && selected.size < limit;) {
    for (const directory of level) {
      for (const { path } of [...children(directory), ...sortedFiles(directory)]) {
        if (selected.size < limit) selected.add(path);
      }
    }
    level = level.flatMap(children);
  }
  return selected;
}

function* inOrder(directory: Directory, selected: ReadonlySet<string>): Generator<ListEntry> {
  for (const child of children(directory)) {
    if (!selected.has(child.path)) continue;
    yield { kind: "directory", path: child.path, files: child.count };
    yield* inOrder(child, selected);
  }
  for (const file of sortedFiles(directory)) {
    if (selected.has(file.path)) yield { kind: "file", ...file };
  }
}

function children(directory: Directory): Directory[] {
  return [...directory.directories.values()].sort((a, b) => compareCodeUnits(a.path, b.path));
}

function sortedFiles(directory: Directory): FileEntry[] {
  return directory.files.sort((a, b) => compareCodeUnits(a.path, b.path));
}
