import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { children } from "./processor-time.ts";
import { bundleWorker } from "./worker-bundle.ts";

/** What an object has done that is billed, since it was made. */
export interface Billed {
  /** Rows written in SQLite, those of indexes too. */
  readonly rows: number;
  readonly statements: number;
  /** Alarms set and deleted. */
  readonly alarms: number;
  /** Keys put and deleted. */
  readonly keyValue: number;
}

/** One Worker in a workerd of its own. */
export interface WorkerProcess {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** The id of its workerd; null where that cannot be found out. */
  readonly processId: number | null;
  /** @param of the binding of the object's class */
  billed(of: string, name: string): Promise<Billed>;
  stop(): Promise<void>;
}

/** The part of Miniflare that is used here. */
interface MiniflareModule {
  readonly Miniflare: new (options: unknown) => { readonly ready: Promise<URL>; dispose(): Promise<void> };
  convertV4MiniflareOptions(options: unknown): unknown;
}

/**
 * Bundles and starts a Worker by Miniflare's API, without the proxy that `wrangler dev` puts in front.
 * @param config its wrangler.toml, from the project's root: its objects, buckets and flags are taken from there
 * @param bindings all its variables and secrets, so that nobody's own .dev.vars changes a measurement
 */
export async function startWorker(
  config: string,
  entry: string,
  bindings: Readonly<Record<string, string>>,
): Promise<WorkerProcess> {
  const before = children("workerd");
  // It writes to the terminal unless it is told before it loads.
  process.env["WRANGLER_LOG"] = "error";
  const wrangler = await import("wrangler");
  const runtime = requireThrough("wrangler", "miniflare") as MiniflareModule;
  const path = fileURLToPath(new URL(`../${config}`, import.meta.url));
  const options = { ...wrangler.unstable_getMiniflareWorkerOptions(path).workerOptions };
  // Where assets are served locally, a second Worker stands before the first and passes every frame on.
  delete options.assets;
  const modules = [{ type: "ESModule", path: "worker.js", contents: bundleWorker(config, entry) }];
  const miniflare = new runtime.Miniflare(
    runtime.convertV4MiniflareOptions({ ...options, modules, bindings }),
  );
  const url = (await miniflare.ready).origin;
  const [processId = null] = children("workerd").filter((id) => !before.includes(id));
  return {
    url,
    processId,
    async billed(of, name) {
      const response = await fetch(`${url}/billed?${new URLSearchParams({ of, name }).toString()}`);
      return (await response.json()) as Billed;
    },
    stop: () => miniflare.dispose(),
  };
}

/** What a dependency brings along: wrangler's own Miniflare, so that the product runs on the workerd that it is pinned to. */
function requireThrough(dependency: string, name: string): unknown {
  return createRequire(createRequire(import.meta.url).resolve(dependency))(name);
}
