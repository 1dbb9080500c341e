import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./peers.ts";

const PACKAGES = fileURLToPath(new URL("sources/node_modules", import.meta.url));

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
 * So many different source files of the packages that bench/sources pins, copied into a folder of their own. Always the
 * same ones, drawn from all of them alike: a smaller number is a sample of a larger one.
 * @throws Error when there are fewer
 */
export function sourceFiles(count: number): SourceFiles {
  ensureInstalled("sources");
  const paths = readdirSync(PACKAGES, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !/(^|\/)\./.test(path))
    .map((path) => ({ path, order: createHash("sha256").update(path).digest("hex") }))
    .sort((a, b) => (a.order < b.order ? -1 : 1));
  const files: [string, string][] = [];
  const seen = new Set<string>();
  let bytes = 0;
  for (const { path } of paths) {
    if (files.length === count) break;
    const file = join(PACKAGES, path);
    if (!statSync(file).isFile()) continue;
    const content = readFileSync(file);
    const text = content.toString("utf8");
    if (content.length > FILE_BYTES || content.includes(0) || seen.has(text)) continue;
    seen.add(text);
    files.push([path, text]);
    bytes += content.length;
  }
  if (files.length < count) throw new Error(`The packages hold ${files.length} source files, not ${count}.`);
  const folder = mkdtempSync(join(tmpdir(), "light-agent-sources-"));
  for (const [path, text] of files) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { files, bytes, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
