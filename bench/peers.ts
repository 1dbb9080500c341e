import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/**
 * Installs what a folder of bench/ pins into its node_modules unless it is there: the peers of bench/ itself, or the
 * packages of `sources`, whose files are searched.
 * @throws Error with npm's output
 */
export function ensureInstalled(folder: "." | "sources"): void {
  const cwd = join(FOLDER, folder);
  // npm writes its own copy of the lock file last.
  const installedAt = modifiedAt(join(cwd, "node_modules/.package-lock.json"));
  if (installedAt > 0 && installedAt >= modifiedAt(join(cwd, "package-lock.json"))) return;
  console.error(`Installing packages into ${cwd} …`);
  const args = ["ci", "--ignore-scripts", "--omit=optional", "--legacy-peer-deps", "--no-audit", "--no-fund"];
  const { status, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`The packages could not be installed.\n${stderr}`);
}

function modifiedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
