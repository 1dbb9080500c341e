import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** Installs the peers into bench/node_modules unless they are there. @throws Error with npm's output */
export function ensurePeers(): void {
  // npm writes its own copy of the lock file last.
  const installedAt = modifiedAt("node_modules/.package-lock.json");
  if (installedAt > 0 && installedAt >= modifiedAt("package-lock.json")) return;
  console.error("Installing the peers into bench/node_modules …");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr } = spawnSync("npm", args, { cwd: FOLDER, encoding: "utf8" });
  if (status !== 0) throw new Error(`The peers could not be installed.\n${stderr}`);
}

function modifiedAt(file: string): number {
  return statSync(`${FOLDER}${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
