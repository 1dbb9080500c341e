import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ProductProcess } from "./product-process.ts";

let product: ProductProcess;
let folder: string;

beforeAll(async () => {
  product = new ProductProcess();
  folder = mkdtempSync(join(tmpdir(), "transfer-"));
  await product.start();
});

afterAll(async () => {
  await product.stop();
  rmSync(folder, { recursive: true });
});

interface Run {
  readonly code: number;
  readonly output: string;
}

function run(script: string, ...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const all = [`scripts/${script}.ts`, ...args, "--url", product.url];
    const env = { ...process.env, LIGHT_AGENT_KEY: product.key };
    execFile(process.execPath, all, { env }, (failure, stdout, stderr) => {
      resolve({ code: failure ? Number(failure.code) : 0, output: stdout + stderr });
    });
  });
}

function write(root: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

/** All files below a folder, by path, in latin1 so that any bytes compare. */
function read(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(files.map((path) => [path.slice(root.length + 1), readFileSync(path, "latin1")]));
}

it("[FILE-83] a folder goes into a workspace by `npm run upload` and comes back by `npm run download`", async () => {
  const source = join(folder, "my project");
  const kept = {
    ".gitignore": "*.log\n/build/\n",
    "README.md": "# Räume\n",
    "src/empty.ts": "",
    "src/deep/größe.ts": "export const x = 1;\r\n",
    "image.bin": new Uint8Array([0, 255, 1, 254]),
    "large.txt": "0123456789abcdef".repeat(200_000),
  };
  write(source, kept);
  write(source, { "debug.log": "x", "build/out.js": "x", "node_modules/a/index.js": "x", ".git/HEAD": "x" });
  symlinkSync("/etc/passwd", join(source, "link"));

  const first = await run("upload", source);
  expect(first).toMatchObject({ code: 0 });
  expect(first.output).toContain("6 files, 3.2 MB, are in workspace my-project: version 1, 6 changed.");
  expect(first.output).toContain("1 links and the like were left out.");
  writeFileSync(join(source, "README.md"), "changed");
  expect((await run("upload", source)).output).toContain("version 2, 1 changed.");
  expect((await run("upload", source)).output).toContain("version 2, 0 changed.");

  const target = join(folder, "back");
  const back = await run("download", "my-project", target);
  expect(back.output).toContain("6 files of workspace my-project are in");
  for (const gone of ["debug.log", "build/out.js", "node_modules/a/index.js", ".git/HEAD", "link"]) {
    rmSync(join(source, gone));
  }
  expect(read(target)).toEqual(read(source));
  expect(await run("download", "my-project", target)).toMatchObject({ code: 1 });
  expect(await run("download", "my-project", target, "--force", "--path", "src")).toMatchObject({ code: 0 });
  expect(Object.keys(read(target))).toContain("deep/größe.ts");
});

it("[FILE-83] what cannot be done is said in one line, with exit code 1", async () => {
  const failing: [args: [script: string, ...args: string[]], said: string][] = [
    [["upload", join(folder, "none")], "ENOENT"],
    [["upload"], "npm run upload -- <folder>"],
    [["download", "nowhere", join(folder, "x")], "404 not_found"],
    [["upload", folder, "--workspace", "not an id"], "400 invalid"],
    [["upload", folder, "--key", "la_dev.x.y"], "401 unauthorized"],
  ];
  write(folder, { "file.txt": "x" });
  for (const [args, said] of failing) {
    const { code, output } = await run(...args);
    expect([code, output.trim().split("\n").length], output).toEqual([1, 1]);
    expect(output).toContain(said);
  }
});
