import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the page is made of, relative to the project. */
const SOURCES = ["web", "client", "src/runtime/protocol", "package.json"];
const OUTPUT = "dist/web";

/** Whether the built page is missing or older than something that it is made of. */
export function webIsStale(project: string): boolean {
  const built = join(project, OUTPUT, "index.html");
  if (!existsSync(built)) return true;
  return newest(SOURCES.map((source) => join(project, source))) > statSync(built).mtimeMs;
}

/** Builds the web page into dist/web. A checkout without a page gets an empty folder, which the Worker's assets need. */
export async function buildWeb(project: string): Promise<void> {
  const output = join(project, OUTPUT);
  if (!existsSync(join(project, "web/index.html"))) {
    mkdirSync(output, { recursive: true });
    return;
  }
  const vite = await import("vite");
  await vite.build({
    root: join(project, "web"),
    logLevel: "warn",
    build: { outDir: output, emptyOutDir: true },
  });
}

/** The latest time of change, in ms since the epoch, of these files and of all files in these folders. */
function newest(paths: readonly string[]): number {
  let latest = 0;
  for (const path of paths) {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) continue;
    const changed = status.isDirectory()
      ? newest(readdirSync(path).map((name) => join(path, name)))
      : status.mtimeMs;
    latest = Math.max(latest, changed);
  }
  return latest;
}

if (import.meta.main) await buildWeb(process.cwd());
