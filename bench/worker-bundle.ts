import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * A Worker's code as `wrangler deploy` would upload it.
 * @param config its wrangler.toml, from the project's root
 * @param entry the module to begin with
 * @throws Error with what wrangler said
 */
export function bundleWorker(config: string, entry: string): string {
  const out = mkdtempSync(join(tmpdir(), "light-agent-bench-"));
  // The product's configuration names the built page, which wrangler wants to see.
  mkdirSync(join(ROOT, "dist/web"), { recursive: true });
  try {
    const wrangler = join(
      dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
      "bin/wrangler.js",
    );
    const args = ["deploy", entry, "--config", config, "--dry-run", "--outdir", out];
    const { status, stdout, stderr } = spawnSync(process.execPath, [wrangler, ...args], {
      cwd: ROOT,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${entry} could not be bundled.\n${stdout}${stderr}`);
    return readFileSync(join(out, basename(entry)), "utf8");
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
