import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGES = fileURLToPath(new URL("../node_modules", import.meta.url));

/** Larger ones are bundles that nobody searches. */
const FILE_BYTES = 512 * 1024;

/** Real source files, by path, and the folder that holds them. */
export interface SourceFiles {
  readonly files: readonly (readonly [path: string, text: string])[];
  readonly bytes: number;
  readonly folder: string;
  remove(): void;
}

/**
 * So many different source files of the packages that package-lock.json pins, copied into a folder of their own.
 * @throws Error when there are fewer
 */
export function sourceFiles(count: number): SourceFiles {
  const paths = readdirSync(PACKAGES, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[cm]?[jt]s$/.test(path) && !/(^|\/)\./.test(path))
    .sort();
  const files: [string, string][] = [];
  const seen = new Set<string>();
  let bytes = 0;
  for (const path of paths) {
    if (files.length === count) break;
    const content = readFileSync(join(PACKAGES, path));
    const text = content.toString("utf8");
    if (content.length > FILE_BYTES || content.includes(0) || seen.has(text)) continue;
    seen.add(text);
    files.push([path, text]);
    bytes += content.length;
  }
  if (files.length < count) throw new Error(`node_modules holds ${files.length} source files, not ${count}.`);
  const folder = mkdtempSync(join(tmpdir(), "light-agent-sources-"));
  for (const [path, text] of files) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { files, bytes, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
