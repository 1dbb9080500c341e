import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { ModelServer } from "./model-server.ts";
import type { FakeReply } from "./model-server.ts";
import { ProductProcess } from "./product-process.ts";

let answer: (results: number) => FakeReply;
let model: ModelServer;
let product: ProductProcess;
let user: string;

// The command as npm would install it for somebody else.
beforeAll(async () => {
  model = await ModelServer.start(({ messages }) => {
    const since = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
    return answer(since.filter(({ role }) => role === "tool").length);
  });
  product = new ProductProcess({
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "fake",
  });
  const starting = product.start();
  user = mkdtempSync(join(tmpdir(), "cli-"));
  execFileSync("npm", ["run", "build:library"]);
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", user], { encoding: "utf8" });
  const name = /"filename":\s*"([^"]+)"/.exec(packed)?.[1] ?? "";
  const home = join(user, "node_modules/light-agent");
  mkdirSync(home, { recursive: true });
  execFileSync("tar", ["xzf", join(user, name), "--strip-components", "1", "-C", home]);
  // Of its dependencies the command needs one.
  for (const dependency of ["zod"]) {
    mkdirSync(dirname(join(user, "node_modules", dependency)), { recursive: true });
    symlinkSync(join(process.cwd(), "node_modules", dependency), join(user, "node_modules", dependency));
  }
  await starting;
  await product.call("POST", "/v1/agents", {
    id: "careful",
    policy: { rules: [{ id: "writes", tool: "write_file", effect: "ask" }] },
  });
});

afterAll(async () => {
  await product.stop();
  await model.stop();
  rmSync(user, { recursive: true });
});

interface Run {
  readonly process: ChildProcess;
  readonly ended: Promise<number>;
  stdout: string;
  stderr: string;
}

function run(args: readonly string[], input?: string): Run {
  const command = join(user, "node_modules/light-agent/dist/library/cli/light-agent.js");
  const env = { ...process.env, LIGHT_AGENT_URL: product.url, LIGHT_AGENT_KEY: product.key };
  const child = spawn(process.execPath, [command, ...args], { env, cwd: user });
  const started: Run = {
    process: child,
    ended: once(child, "close").then(([code]) => Number(code)),
    stdout: "",
    stderr: "",
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (started.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (started.stderr += text));
  child.stdin.end(input ?? "");
  return started;
}

it("[CLI-4] answers one prompt, shows what the agent does, and goes on with the session", async () => {
  const tree = { name: "tree", args: { _intent: "to see what there is" } };
  answer = (results) =>
    results === 0 ? { text: ["Let me look. "], calls: [tree] } : { text: ["Nothing ", "there."] };
  const first = run(["--prompt", "what is there?"]);
  expect(await first.ended).toBe(0);
  expect(first.stdout).toMatch(
    /^Let me look. \n• tree — to see what there is \{\}\n {2}✓ \(tree, \d+ ms\)\nNothing there.\n$/,
  );
  const [, session = ""] = /--session (\S+)/.exec(first.stderr) ?? [];
  answer = () => ({ text: ["Again."] });
  const second = run(["--session", session], "piped in\n");
  expect(await second.ended).toBe(0);
  expect(second.stdout).toContain("> what is there?\n");
  expect(second.stdout.endsWith("Again.\n")).toBe(true);
});

it("[CLI-5] prints the log as NDJSON for scripts", async () => {
  answer = () => ({ text: ["Fine."] });
  const json = run(["--prompt", "hi", "--json"]);
  expect(await json.ended).toBe(0);
  const events = json.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as DurableEvent);
  expect(events.map(({ type }) => type)).toEqual(["input", "output", "agent_trace", "agent_stop"]);
  expect(checkLog(events)).toEqual([]);
  expect(json.stderr).toBe("");
});

it("[CLI-6] says by its exit code how it ended: failed, waiting for a person, stopped, not possible", async () => {
  answer = () => ({ status: 401 });
  const failed = run(["--prompt", "hi"]);
  expect(await failed.ended).toBe(2);
  expect(failed.stdout).toContain("model_auth");

  answer = () => ({
    calls: [{ name: "write_file", args: { path: "a", content: "a", _intent: "to write" } }],
  });
  const waiting = run(["--prompt", "hi", "--agent", "careful"]);
  expect(await waiting.ended).toBe(3);
  expect(waiting.stderr).toContain("waits for a person");

  answer = () => ({ text: ["one ", "two"], hang: true });
  const stopped = run(["--prompt", "hi"]);
  await expect.poll(() => stopped.stdout, { timeout: 15_000 }).toContain("two");
  stopped.process.kill("SIGINT");
  expect(await stopped.ended).toBe(130);
  expect(stopped.stdout).toContain("[aborted]");

  const refused: [args: string[], said: string][] = [
    [["--prompt", "hi", "--key", "la_dev.x.y"], "key"],
    [["--prompt", "hi", "--session", "nowhere"], "no such session"],
    [["--prompt", "hi", "--agent", "nobody"], "agent"],
    [["--nonsense"], "--nonsense"],
    [[], "no prompt"],
  ];
  for (const [args, said] of refused) {
    const one = run(args);
    expect(await one.ended).toBe(1);
    expect(one.stdout).toBe("");
    expect(one.stderr.toLowerCase()).toContain(said);
    expect(one.stderr).not.toContain(product.key);
  }
});
