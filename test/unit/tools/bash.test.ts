import { describe, expect, it } from "vitest";
import type { Workspace } from "../../../src/runtime/workspace/workspace.ts";
import { ToolBench, blockOf } from "./tool-bench.ts";

const FILES = {
  "README.md": "# Title\nfoo\n",
  "src/a.ts": "export const a = 1;\n",
  "src/deep/b.ts": "export const b = 2;\n",
  "data.json": '{"items":[{"n":3},{"n":4}]}',
};

/** Runs a command over some files; gives what it said and what the files are then. */
async function bash(
  command: string,
  files: Readonly<Record<string, string>> = FILES,
): Promise<{ stdout: string[]; stderr: string[]; content: string; isError: boolean; bench: ToolBench }> {
  const bench = await ToolBench.with(files);
  const { content, isError = false } = await bench.run("bash", { command });
  const lines = (label: string): string[] => (content.includes(`[${label}]`) ? blockOf(content, label) : []);
  return { stdout: lines("stdout"), stderr: lines("stderr"), content, isError, bench };
}

async function texts(workspace: Workspace): Promise<Record<string, string>> {
  const { entries } = await workspace.list("", { depth: 99, limit: 999 });
  const found: Record<string, string> = {};
  for (const entry of entries) {
    if (entry.kind !== "file") continue;
    found[entry.path] = new TextDecoder("latin1").decode((await workspace.read(entry.path)).bytes);
  }
  return found;
}

describe("bash", () => {
  it.each<[command: string, stdout: string[]]>([
    ["pwd; ls", ["/workspace", "README.md", "data.json", "src"]],
    ["cat src/a.ts | wc -l", ["1"]],
    [
      "grep -rn 'export const' src | sort",
      ["src/a.ts:1:export const a = 1;", "src/deep/b.ts:1:export const b = 2;"],
    ],
    ["find . -name '*.ts' | sort", ["./src/a.ts", "./src/deep/b.ts"]],
    ["for f in src/*.ts src/**/*.ts; do basename $f; done", ["a.ts", "b.ts"]],
    ["jq '[.items[].n] | add' data.json", ["7"]],
    ["awk '{s += $5} END {print s}' src/*.ts; sed -n 2p README.md", ["1", "foo"]],
    ["cd src && cat ../README.md | head -1", ["# Title"]],
  ])("[TOOL-40] runs %s over the workspace, and changes nothing", async (command, stdout) => {
    const { bench, ...said } = await bash(command);
    expect(said.stdout.map((line) => line.trim())).toEqual(stdout);
    expect(await bench.workspace.version()).toBe(1);
  });

  it("[TOOL-41] makes all changes of a call one version", async () => {
    const command = [
      "mkdir -p new/empty out && echo hi > new/file.txt && cp -r src out/copied && mv README.md docs.md",
      "sed -i 's/a = 1/a = 10/' src/a.ts && rm -r src/deep",
      "echo more >> docs.md && echo same > /tmp/elsewhere && cat /tmp/elsewhere > /dev/null",
    ].join(" && ");
    const { bench, content } = await bash(command);
    expect(content).toContain("[exit_code] 0");
    expect(await texts(bench.workspace)).toEqual({
      "data.json": FILES["data.json"],
      "docs.md": "# Title\nfoo\nmore\n",
      "new/file.txt": "hi\n",
      "out/copied/a.ts": "export const a = 1;\n",
      "out/copied/deep/b.ts": "export const b = 2;\n",
      "src/a.ts": "export const a = 10;\n",
    });
    expect(await bench.workspace.version()).toBe(2);
    expect(blockOf(content, "changed_paths")).toContain("src/deep/b.ts");
  });

  it("[TOOL-41] keeps every byte of a file that is no text", async () => {
    const bench = new ToolBench();
    const bytes = Uint8Array.from({ length: 512 }, (_, index) => index % 256);
    await bench.workspace.change([{ kind: "write", path: "bin", bytes }]);
    await bench.run("bash", { command: "cat bin > copy; cp bin cp; mv bin moved; cat copy >> cp" });
    const read = async (path: string) => [...(await bench.workspace.read(path)).bytes];
    expect(await read("copy")).toEqual([...bytes]);
    expect(await read("moved")).toEqual([...bytes]);
    expect(await read("cp")).toEqual([...bytes, ...bytes]);
  });

  it("[TOOL-41] makes no version of what is the same again", async () => {
    const { bench, content } = await bash("cp README.md /tmp/x && cp /tmp/x README.md && touch src/a.ts");
    expect(content).toBe("[exit_code] 0");
    expect(await bench.workspace.version()).toBe(1);
  });

  it("[TOOL-42] says how a command failed, and keeps what it had done before", async () => {
    const { bench, content, stderr } = await bash("echo kept > a.txt; cat none.txt; exit 3");
    expect(content).toContain("[exit_code] 3");
    expect(stderr.join()).toContain("No such file or directory");
    expect(await texts(bench.workspace)).toMatchObject({ "a.txt": "kept\n" });
    for (const command of [
      "ln -s README.md link",
      "echo x > 'a\\b'",
      "curl http://example.com",
      "mv src src/inside",
    ]) {
      const { content: said, bench: after } = await bash(command);
      expect(said, command).not.toContain("[exit_code] 0");
      expect(await after.workspace.version()).toBe(1);
    }
  });

  it("[TOOL-43] ends a command that never would, and one that says too much", async () => {
    const endless = await bash("while true; do :; done");
    expect(endless.content).not.toContain("[exit_code] 0");
    const recursion = await bash("f() { f; }; f");
    expect(recursion.content).not.toContain("[exit_code] 0");
    const long = await bash("seq 1 60000; echo the end");
    expect(long.content.length).toBeLessThan(110_000);
    expect(long.content).toContain("characters left out");
    expect(long.stdout.at(-1)).toBe("the end");
    const large = await bash("printf '%01000000d' 1 > x; for i in 1 2 3 4 5 6 7 8; do cp x y$i; done");
    expect(large).toMatchObject({ isError: true });
    expect(await large.bench.workspace.version()).toBe(1);
  });

  it("[TOOL-44] changes nothing when somebody else has changed one of its files, or it was stopped", async () => {
    const stopping = new AbortController();
    for (const happens of ["change", "stop"] as const) {
      const bench = new ToolBench((workspace) => ({
        async read(path, range) {
          if (happens === "stop") stopping.abort();
          else await bench.run("write_file", { path: "b.txt", content: "theirs" });
          return workspace.read(path, range);
        },
      }));
      await bench.run("write_file", { path: "a.txt", content: "a" });
      await bench.run("write_file", { path: "b.txt", content: "b" });
      const tool = bench.registry.get("bash");
      const command = "cat a.txt > /dev/null; echo mine > b.txt; echo mine > c.txt";
      const site = { ...bench.site("bash"), signal: stopping.signal };
      const running = tool?.execute({ command, _intent: "a test" }, site);
      if (happens === "stop") await expect(running).rejects.toMatchObject({ name: "AbortError" });
      else expect(await running).toMatchObject({ isError: true, code: "write_conflict" });
      expect(await bench.workspace.stat("c.txt")).toBeNull();
    }
  });
});
