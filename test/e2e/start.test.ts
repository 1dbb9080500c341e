import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { markedProcesses } from "../../scripts/marked-processes.ts";

/** A started server and what it has said. */
interface Started {
  readonly process: ChildProcess;
  readonly exit: Promise<unknown[]>;
  output: string;
}

let project: string;
let mark: string;

// A checkout with a small Worker in the place of the product's, so that a failure here is one of the start script.
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "start-"));
  mark = randomUUID();
  cpSync("test/fixtures/stand-in", project, { recursive: true });
  cpSync("scripts", join(project, "scripts"), { recursive: true });
  cpSync("package.json", join(project, "package.json"));
  symlinkSync(join(process.cwd(), "node_modules"), join(project, "node_modules"));
});

afterEach(() => {
  for (const id of leftovers()) process.kill(id, "SIGKILL");
  rmSync(project, { recursive: true });
});

/** The living processes of this test's servers, orphans included. */
function leftovers(): number[] {
  return markedProcesses(`LIGHT_AGENT_TEST=${mark}`);
}

function run(command: string, args: string[], environment: Record<string, string> = {}): Started {
  const child = spawn(command, args, {
    cwd: project,
    env: {
      ...process.env,
      // As npm sets it, so that the scripts run under the project's Node.
      PATH: [join(project, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
      OPENAI_MODEL: "",
      LIGHT_AGENT_TEST: mark,
      ...environment,
    },
  });
  const started: Started = { process: child, exit: once(child, "exit"), output: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (started.output += text));
  }
  return started;
}

function start(args: string[] = [], environment: Record<string, string> = {}): Started {
  return run(process.execPath, ["scripts/start.ts", "--port", "0", ...args], environment);
}

/** Waits for the two lines that tell that the server serves. */
async function signedIn(started: Started): Promise<{ url: string; key: string }> {
  let exited = false;
  void started.exit.then(() => (exited = true));
  for (;;) {
    const [, url, key] = /^Ready: (\S+)\nSign in: \1\/#key=(\S+)$/m.exec(started.output) ?? [];
    if (url !== undefined && key !== undefined) return { url, key };
    if (exited) throw new Error(started.output);
    await delay(50);
  }
}

async function untilGone(): Promise<void> {
  while (leftovers().length > 0) await delay(50);
}

async function statusWith(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } });
  await response.body?.cancel();
  return response.status;
}

it("[START-1] [START-3] [START-4] [START-5] makes its keys, hands on its settings and signs in", async () => {
  writeFileSync(join(project, ".dev.vars"), "OPENAI_MODEL=of-the-file\n", { mode: 0o600 });
  const server = start(["--var", "OPENAI_BASE_URL:http://argument/v1", "ROOT_KEY:of-the-argument"], {
    OPENAI_API_KEY: "sk-of-the-environment",
    OPENAI_BASE_URL: "http://environment/v1",
  });
  const { url, key } = await signedIn(server);
  expect(await statusWith(url, key)).toBe(200);
  expect(statSync(join(project, ".dev.vars")).mode & 0o077).toBe(0);
  const variables: unknown = await (await fetch(`${url}/v1/variables`)).json();
  expect(variables).toMatchObject({
    OPENAI_API_KEY: "sk-of-the-environment",
    OPENAI_BASE_URL: "http://argument/v1",
    OPENAI_MODEL: "of-the-file",
    ROOT_KEY: "of-the-argument",
    SIGNING_KEY: expect.stringMatching(/^[\w-]{43}$/),
    ENCRYPTION_KEY: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(server.output).not.toContain("sk-of-the-environment");
});

it("[START-6] [START-7] state and key outlive the server, and a lost key is replaced", async () => {
  const state = join(project, "state");
  const keyFile = join(state, "dev-key.json");
  const first = start(["--persist-to", state]);
  const { key } = await signedIn(first);
  first.process.kill("SIGINT");
  expect(await first.exit).toEqual([0, null]);

  const second = start(["--persist-to", state]);
  expect((await signedIn(second)).key).toBe(key);
  second.process.kill("SIGTERM");
  expect(await second.exit).toEqual([0, null]);
  expect(leftovers()).toEqual([]);

  expect(readFileSync(keyFile, "utf8")).toContain(key);
  rmSync(keyFile);
  const third = await signedIn(start(["--persist-to", state]));
  expect(third.key).not.toBe(key);
  expect(await statusWith(third.url, third.key)).toBe(200);
});

it("[START-8] nothing is left when the start script is killed", async () => {
  const server = start();
  await signedIn(server);
  server.process.kill("SIGKILL");
  await untilGone();
});

it("[START-8] nothing is left when wrangler is killed, and the start script fails", async () => {
  const server = start();
  await signedIn(server);
  const wrangler = leftovers().filter((id) => commandOf(id).includes("/wrangler/"));
  expect(wrangler.length).toBeGreaterThan(0);
  for (const id of wrangler) process.kill(id, "SIGKILL");
  expect(await server.exit).toEqual([1, null]);
  expect(leftovers()).toEqual([]);
});

it.each(["SIGTERM", "SIGKILL"] as const)(
  "[START-8] nothing is left when npm is ended by %s",
  async (signal) => {
    const server = run("npm", ["start", "--", "--port", "0"]);
    await signedIn(server);
    server.process.kill(signal);
    await untilGone();
  },
);

it("[START-9] a port that is taken is told, and the start script fails", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" ? `${address?.port}` : "";
  const server = run(process.execPath, ["scripts/start.ts", "--ip", "127.0.0.1", "--port", port]);
  const [code] = await server.exit;
  other.close();
  expect(code).not.toBe(0);
  expect(server.output).toContain("Address already in use");
  expect(leftovers()).toEqual([]);
});

function commandOf(id: number): string {
  return readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ");
}
