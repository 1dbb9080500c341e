import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { IgnoreRules } from "../src/runtime/workspace/ignore-rules.ts";

/** A file of a local folder. */
export interface LocalFile {
  /** Relative to the folder, as workspaces spell it: `/` between the parts, Unicode normalization form C. */
  readonly path: string;
  /** Where it lies. */
  readonly location: string;
  /** In bytes. */
  readonly size: number;
  readonly modifiedAt: Date;
}

export interface LocalFolder {
  readonly files: readonly LocalFile[];
  /** Links, sockets and the like, which a workspace cannot hold. */
  readonly others: number;
  /** Files that `.gitignore` files leave out; what lies in ignored folders is not counted. */
  readonly ignored: number;
}

/** The files of a folder, in order, without what its `.gitignore` files, `.git` and `node_modules` leave out. */
export async function readLocalFolder(root: string): Promise<LocalFolder> {
  const found: { path: string; location: string }[] = [];
  let others = 0;
  const walk = async (folder: string, prefix: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const location = join(folder, entry.name);
      const path = prefix + entry.name.normalize("NFC");
      if (entry.isDirectory()) {
        if (entry.name !== ".git" && entry.name !== "node_modules") await walk(location, `${path}/`);
      } else if (entry.isFile()) found.push({ path, location });
      else others += 1;
    }
  };
  await walk(root, "");
  const locations = new Map(found.map(({ path, location }) => [path, location]));
  const rules = await IgnoreRules.load(locations.keys(), async (path) => {
    return readFile(locations.get(path) ?? "", "utf8").catch(() => null);
  });
  const kept = found.filter(({ path }) => !rules.ignores(path, false));
  const files: LocalFile[] = [];
  for (const file of kept.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const { size, mtime } = await stat(file.location);
    files.push({ ...file, size, modifiedAt: mtime });
  }
  return { files, others, ignored: found.length - kept.length };
}
