/**
 * The whole product on one machine: `npm start [-- arguments of wrangler dev]`.
 * Makes what is missing (.dev.vars, the web page, the tenant `dev`), runs `wrangler dev` and prints how to sign in.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { buildWeb, webIsStale } from "./build-web.ts";
import { modelArguments, readDevArguments } from "./dev-arguments.ts";
import { devTenantKey } from "./dev-tenant.ts";
import { completeDevVars, parseDevVars } from "./dev-vars.ts";
import { whenOrphaned } from "./when-orphaned.ts";

/** How long a server that says that it is up may take to answer, and wrangler to end. */
const HEALTHY_MS = 60_000;
const STOP_MS = 5_000;

const project = process.cwd();
const args = process.argv.slice(2);
const given = readDevArguments(args);

const devVars = prepareDevVars(join(project, ".dev.vars"));
if (webIsStale(project)) await buildWeb(project);

const mark = randomUUID();
const reaper = spawn(
  process.execPath,
  [join(import.meta.dirname, "reaper.ts"), `LIGHT_AGENT_START=${mark}`],
  {
    stdio: ["pipe", "ignore", "inherit"],
    detached: true,
  },
);
// A process group of its own: Ctrl-C reaches wrangler once, through this process.
const wrangler = spawn(
  process.execPath,
  [wranglerPath(), "dev", ...args, ...modelArguments(process.env, given.vars)],
  {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
    env: { ...process.env, LIGHT_AGENT_START: mark },
  },
);
const ended = once(wrangler, "exit");

let stopped = false;
function stop(signal: NodeJS.Signals): void {
  stopped = true;
  wrangler.kill(signal);
  setTimeout(() => reaper.stdin.end(), STOP_MS).unref();
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
// A signal to npm ends npm and its shell, and does not arrive here.
if (process.env["npm_lifecycle_event"] !== undefined) whenOrphaned(() => stop("SIGTERM"));

let failed = false;
const url = await Promise.race([readyUrl(wrangler), ended.then(() => undefined)]);
if (url !== undefined) {
  try {
    const key = await signIn(url);
    console.log(`Ready: ${url}\nSign in: ${url}/#key=${encodeURIComponent(key)}`);
  } catch (error) {
    // A server that was stopped meanwhile has not failed.
    failed = !stopped;
    if (failed) console.error(error instanceof Error ? error.message : error);
    wrangler.kill();
  }
}
const [code] = (await ended) as [number | null];
reaper.stdin.end();
await once(reaper, "exit");
process.exit(stopped ? 0 : failed ? 1 : (code ?? 1));

/** Makes or completes `.dev.vars` and gives what it holds. */
function prepareDevVars(path: string): Record<string, string | undefined> {
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  const after = completeDevVars(before, () => randomBytes(32).toString("base64url"));
  if (after !== before) writeFileSync(path, after, { mode: 0o600 });
  return parseDevVars(after);
}

/** Where the server listens, as wrangler tells it to its parent. */
function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((settle) => {
    child.on("message", (message) => {
      if (typeof message !== "string") return;
      const { event, ip, port } = JSON.parse(message) as { event?: string; ip: string; port: number };
      if (event !== "DEV_SERVER_READY") return;
      settle(`http://${ip === "0.0.0.0" || ip === "[::]" ? "localhost" : ip}:${port}`);
    });
  });
}

/** Waits until the server answers, then gets an admin key of the tenant `dev`. */
async function signIn(server: string): Promise<string> {
  await healthy(server);
  return devTenantKey({
    url: server,
    rootKey: given.vars.get("ROOT_KEY") ?? devVars["ROOT_KEY"] ?? "",
    keyFile: join(resolve(project, given.persistTo ?? ".wrangler"), "dev-key.json"),
    fetch,
  });
}

async function healthy(server: string): Promise<void> {
  for (const deadline = Date.now() + HEALTHY_MS; Date.now() < deadline && running(); await delay(100)) {
    const response = await fetch(`${server}/healthz`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
  }
  throw new Error(`The server at ${server} does not answer /healthz.`);
}

function running(): boolean {
  return !stopped && wrangler.exitCode === null && wrangler.signalCode === null;
}

function wranglerPath(): string {
  const manifest = createRequire(import.meta.url).resolve("wrangler/package.json");
  return join(dirname(manifest), "bin/wrangler.js");
}
