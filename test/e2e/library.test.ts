import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const PROGRAM = `
import { createAgent, createDemoProvider } from "light-agent";
const agent = createAgent({ model: createDemoProvider() });
const types = [];
for await (const event of agent.run("hello")) if ("seq" in event) types.push(event.type);
console.log(types.join(" "));
`;

let user: string;

// Somebody else's project, with the package as npm would publish it.
beforeAll(() => {
  user = mkdtempSync(join(tmpdir(), "library-"));
  execFileSync("npm", ["run", "build:library"]);
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", user], { encoding: "utf8" });
  const name = /"filename":\s*"([^"]+)"/.exec(packed)?.[1] ?? "";
  const modules = join(user, "node_modules");
  mkdirSync(join(modules, "light-agent"), { recursive: true });
  execFileSync("tar", [
    "xzf",
    join(user, name),
    "--strip-components",
    "1",
    "-C",
    join(modules, "light-agent"),
  ]);
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
  for (const dependency of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, dependency)), { recursive: true });
    symlinkSync(join(process.cwd(), "node_modules", dependency), join(modules, dependency));
  }
});

afterAll(() => rmSync(user, { recursive: true }));

it("[REPO-10] the packed library runs an agent in plain Node", () => {
  writeFileSync(join(user, "program.mjs"), PROGRAM);
  const output = execFileSync(process.execPath, ["program.mjs"], { cwd: user, encoding: "utf8" });
  expect(output).toBe("input output agent_trace agent_stop\n");
});
