import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { markdownBlocks } from "../unit/support/markdown-blocks.ts";
import { Checkout } from "./checkout.ts";
import { Shell } from "./shell.ts";

const blocks = markdownBlocks(readFileSync("README.md", "utf8"));

let checkout: Checkout;
let shell: Shell;
let key: string;

/** The one block below a heading. */
function below(heading: string): string {
  const found = blocks.filter(({ headings }) => headings.at(-1) === heading);
  expect(found, heading).toHaveLength(1);
  return found[0]?.text ?? "";
}

/** Runs a program of the README in Node, to its end or until it has printed something. */
async function printed(program: string, until?: RegExp): Promise<string> {
  const child = spawn(process.execPath, ["--input-type=module-typescript"], {
    cwd: checkout.folder,
    env: checkout.environment,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (until?.test(output)) child.kill();
    });
  }
  child.stdin.end(program);
  await new Promise((resolve) => child.once("exit", resolve));
  return output;
}

beforeAll(async () => {
  checkout = await Checkout.make();
  shell = new Shell(checkout.folder, checkout.environment);
});

afterAll(async () => {
  await shell.end();
  await checkout.remove();
});

it("[DOCS-2] the two commands of the README start the product", async () => {
  const [install, start] = below("Start").split("\n");
  // What the first one does has been done for these tests.
  expect([install, start]).toEqual(["npm install", "npm start"]);
  const { output } = await shell.run(
    `${start} > server.log 2>&1 &\nuntil grep "^Sign in:" server.log; do sleep 0.2; done\ngrep "^Ready:" server.log`,
  );
  const [, url, text] = /^Sign in: (\S+)\/#key=(\S+)\nReady: \1$/.exec(output) ?? [];
  expect(url).toBe(`http://localhost:${checkout.port}`);
  key = decodeURIComponent(text ?? "");
  await shell.run(`URL=${url} KEY=${key}`);
});

it("[DOCS-2] the README's session by curl is answered", async () => {
  // The stream has no end of its own.
  const commands = below("A session by curl").replace("curl -N ", "curl -sN --max-time 5");
  const { output } = await shell.run(commands);
  expect(output).toContain('{"id":"notes"');
  expect(output).toMatch(/"id":"first".*"workspace":"notes"/);
  expect(output).toMatch(/"promptId":"[\w-]+","status":"running"/);
  expect(output).toMatch(/^event: tool_result$/m);
  expect(output).toMatch(/^event: agent_stop$/m);
  expect(output).toContain('{"interrupted":false,"turn":1}');
});

it("[DOCS-2] the README's session by WebSocket is answered", async () => {
  const program = `const KEY = ${JSON.stringify(key)};\n${checkout.here(below("A session by WebSocket"))}`;
  const output = await printed(program, /\d+ agent_stop[^]*\d+ agent_stop/);
  expect(output).toContain("1 input\n");
  expect(output).toMatch(/README\.md[^]*agent_stop/);
});

it("[DOCS-2] the README's commands for a terminal do what they say", async () => {
  mkdirSync(join(checkout.folder, "my-folder"));
  writeFileSync(join(checkout.folder, "my-folder/mine.txt"), "mine\n");
  await shell.run(`export LIGHT_AGENT_URL=$URL`);
  const commands = below("From a terminal").replace(/^(npm run chat .*)$/m, "echo 'show mine.txt' | $1");
  const { output, code } = await shell.run(commands);
  expect(code, shell.errors).toBe(0);
  expect(output).toContain("1 files, 0.0 MB, are in workspace notes");
  expect(output).toContain("mine");
  expect(readFileSync(join(checkout.folder, "a-copy/mine.txt"), "utf8")).toBe("mine\n");
});

it("[DOCS-2] the README's program with the library runs an agent", async () => {
  const source = join(process.cwd(), "src/index.ts");
  const output = await printed(below("As a library").replace('"light-agent"', JSON.stringify(source)));
  expect(output).toContain("demo");
});

it("[DOCS-8] the commands of the guides that a running server can answer are answered without an error", async () => {
  await shell.run(`
    AUTH="authorization: Bearer $KEY" JSON="content-type: application/json" ADMIN_KEY=$KEY
    ROOT_KEY=$(sed -n 's/^ROOT_KEY="\\(.*\\)"/\\1/p' .dev.vars)
    curl -s -X POST -H "$AUTH" -H "$JSON" -d '{"id":"coder"}' "$URL/v1/agents"`);
  const pages = ["deploy", "policies", "tools", "operate"].map((name) => `docs/${name}.md`);
  const commands = pages
    .flatMap((page) => markdownBlocks(readFileSync(page, "utf8")))
    .filter(({ language, text }) => language === "sh" && /^(curl|npm run download)/.test(text))
    // What a tool asks can only be answered when it does; npm run deploy needs an account.
    .filter(({ text }) => !text.includes("$INPUT"));
  expect(commands.length).toBeGreaterThanOrEqual(5);
  for (const { text } of commands) {
    const { output, code } = await shell.run(text.replaceAll("https://<your worker>", "$URL"));
    expect(code, text).toBe(0);
    expect(output, text).not.toContain('{"error":');
    expect(output, text).not.toBe("");
  }
});
