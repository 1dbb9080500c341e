import { LightAgentError } from "../src/runtime/protocol/errors.ts";

/** A file on the way into a workspace. `path` is relative to the workspace's root. */
export interface SourceFile {
  readonly path: string;
  readonly file: File;
}

export interface SourceFiles {
  readonly files: readonly SourceFile[];
  /** Files that were left out. */
  readonly skipped: number;
}

/** Folders that hold nothing that somebody wrote: history and installed packages. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

function isSkipped(path: string): boolean {
  return path
    .split("/")
    .slice(0, -1)
    .some((name) => SKIPPED_FOLDERS.has(name));
}

/** Paths in the one form that workspaces have: macOS hands out names in decomposed form. */
function sourceFile(path: string, file: File): SourceFile {
  return { path: path.replace(/^\/+/, "").normalize("NFC"), file };
}

/** The files of an `<input type="file">`, with or without folders. */
export function filesOfInput(list: Iterable<File>): SourceFiles {
  const all = [...list].map((file) => sourceFile(file.webkitRelativePath || file.name, file));
  const files = all.filter(({ path }) => !isSkipped(path));
  return { files, skipped: all.length - files.length };
}

/**
 * The files and whole folders that were dropped. Has to be called within the event: it empties afterwards.
 * @throws LightAgentError `path_not_found` when one cannot be read
 */
export async function filesOfDrop(items: Iterable<DataTransferItem>): Promise<SourceFiles> {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const files: SourceFile[] = [];
  for (const entry of entries) {
    await collect(entry, files).catch(() => {
      throw new LightAgentError("path_not_found", `“${entry.name}” cannot be read.`);
    });
  }
  // Skipped folders are not looked into, so what they hold is not counted.
  return { files, skipped: 0 };
}

async function collect(entry: FileSystemEntry, files: SourceFile[]): Promise<void> {
  if (isFile(entry)) {
    files.push(sourceFile(entry.fullPath, await new Promise<File>((...settle) => entry.file(...settle))));
    return;
  }
  if (!isFolder(entry) || SKIPPED_FOLDERS.has(entry.name)) return;
  for (const child of await childrenOf(entry)) await collect(child, files);
}

async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  // Browsers hand them out in parts, and an empty one at the end.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((...settle) => reader.readEntries(...settle));
    if (part.length === 0) return children;
    children.push(...part);
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
