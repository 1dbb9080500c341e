import { expect, it } from "vitest";
import type { MakeWorkspaceSource } from "./workspace-steps.ts";
import { allPaths, bytesOf, refuses, rest, textAt, write } from "./workspace-steps.ts";

/** Contents, conditions, directories, moves and ranges. */
export function describeFiles(makeSource: MakeWorkspaceSource): void {
  it("[FILE-1] is empty at version 0, with a root and nothing else", async () => {
    const workspace = (await makeSource()).open(rest);
    expect(await workspace.version()).toBe(0);
    expect(await workspace.stat("")).toEqual({ kind: "directory", path: "", files: 0 });
    expect(await workspace.list("", { depth: 1, limit: 10 })).toEqual({
      entries: [],
      omitted: 0,
      ignored: 0,
    });
    expect(await workspace.stat("a")).toBeNull();
    await refuses(workspace.read("a"), "path_not_found");
    await refuses(workspace.read(""), "is_directory");
    await refuses(workspace.list("a", { depth: 1, limit: 10 }), "path_not_found");
  });

  it("[FILE-2] makes one version of all changes of a call, or none", async () => {
    const workspace = (await makeSource()).open(rest);
    const first = await workspace.change([
      { kind: "write", path: "b", bytes: bytesOf("b") },
      { kind: "write", path: "a", bytes: bytesOf("a") },
    ]);
    expect(first).toEqual({ version: 1, paths: ["a", "b"] });
    const failing = workspace.change([
      { kind: "delete", path: "a" },
      { kind: "write", path: "c", bytes: bytesOf("c") },
      { kind: "delete", path: "nothing" },
    ]);
    await refuses(failing, "path_not_found");
    expect(await workspace.version()).toBe(1);
    expect(await allPaths(workspace)).toEqual(["a", "b"]);
    await refuses(workspace.change([]), "invalid_request");
    expect(await workspace.version()).toBe(1);
    // What is there already is written all the same.
    expect(await write(workspace, { a: "a" })).toBe(2);
  });

  it("[FILE-2] lets each change of a call see what those before it did", async () => {
    const workspace = (await makeSource()).open(rest);
    await write(workspace, { "dir/a": "1" });
    const { paths } = await workspace.change([
      { kind: "delete", path: "dir" },
      { kind: "write", path: "dir", bytes: bytesOf("now a file") },
      { kind: "write", path: "new/x", bytes: bytesOf("x") },
      { kind: "move", from: "new", to: "moved" },
      { kind: "write", path: "moved/x", bytes: bytesOf("y"), ifMatch: await sha256("x") },
    ]);
    expect(paths).toEqual(["dir", "dir/a", "moved/x", "new/x"]);
    expect(await allPaths(workspace)).toEqual(["moved/x", "dir"]);
    expect(await textAt(workspace, "moved/x")).toBe("y");
    expect(await textAt(workspace, "dir")).toBe("now a file");
  });

  it("[FILE-3] gives back what was written, byte for byte, with its size, hash and version", async () => {
    const workspace = (await makeSource()).open(rest);
    const contents: [string, Uint8Array][] = [
      ["empty", new Uint8Array()],
      ["every byte", Uint8Array.from({ length: 256 }, (_, index) => index)],
      ["large", new Uint8Array(3 * 1024 * 1024).fill(7)],
      ["text", bytesOf("line\r\nother\n")],
    ];
    for (const [path, bytes] of contents) await workspace.change([{ kind: "write", path, bytes }]);
    for (const [index, [path, bytes]] of contents.entries()) {
      const read = await workspace.read(path);
      expect(read.bytes.length).toBe(bytes.length);
      expect(read.bytes.every((byte, at) => byte === bytes[at])).toBe(true);
      const { modifiedAt, ...entry } = read.entry;
      expect(entry).toEqual({ path, size: bytes.length, sha256: await hashOf(bytes), version: index + 1 });
      expect(Number.isSafeInteger(modifiedAt)).toBe(true);
      expect(await workspace.stat(path)).toEqual({ kind: "file", ...read.entry });
    }
  });

  it("[FILE-3] keeps what it was given when the caller's bytes change afterwards", async () => {
    const workspace = (await makeSource()).open(rest);
    const bytes = bytesOf("before");
    await workspace.change([{ kind: "write", path: "a", bytes }]);
    bytes.fill(0);
    (await workspace.read("a")).bytes.fill(0);
    expect(await textAt(workspace, "a")).toBe("before");
  });

  it("[FILE-4] writes and deletes under a condition only while it holds", async () => {
    const workspace = (await makeSource()).open(rest);
    const one = await sha256("one");
    const attempt = (path: string, ifMatch: string | null) =>
      workspace.change([{ kind: "write", path, bytes: bytesOf("two"), ifMatch }]);
    await refuses(attempt("a", one), "write_conflict");
    await write(workspace, { a: "one", "dir/b": "one" });
    await refuses(attempt("a", null), "write_conflict");
    await refuses(attempt("a", await sha256("other")), "write_conflict");
    await refuses(attempt("dir", null), "write_conflict");
    await refuses(workspace.change([{ kind: "delete", path: "a", ifMatch: null }]), "write_conflict");
    await refuses(workspace.change([{ kind: "delete", path: "dir", ifMatch: one }]), "write_conflict");
    expect(await workspace.version()).toBe(1);
    await attempt("a", one);
    await attempt("c", null);
    expect([await textAt(workspace, "a"), await textAt(workspace, "c")]).toEqual(["two", "two"]);
    await refuses(workspace.change([{ kind: "delete", path: "a", ifMatch: one }]), "write_conflict");
    await workspace.change([{ kind: "delete", path: "a", ifMatch: await sha256("two") }]);
    expect(await workspace.stat("a")).toBeNull();
  });

  it("[FILE-4] loses no one's change when four append at once under a condition", async () => {
    const source = await makeSource();
    await write(source.open(rest), { log: "" });
    const append = async (line: string): Promise<void> => {
      const workspace = source.open(rest);
      for (;;) {
        const { entry, bytes } = await workspace.read("log");
        const text = `${new TextDecoder().decode(bytes)}${line}\n`;
        try {
          await workspace.change([
            { kind: "write", path: "log", bytes: bytesOf(text), ifMatch: entry.sha256 },
          ]);
          return;
        } catch (caught) {
          if ((caught as { code?: unknown }).code !== "write_conflict") throw caught;
        }
      }
    };
    await Promise.all(["a", "b", "c", "d"].map(append));
    expect((await textAt(source.open(rest), "log")).split("\n").sort()).toEqual(["", "a", "b", "c", "d"]);
  });

  it("[FILE-5] has directories exactly where there are files below", async () => {
    const workspace = (await makeSource()).open(rest);
    await write(workspace, { "a/b/c": "1" });
    expect(await workspace.stat("a")).toEqual({ kind: "directory", path: "a", files: 1 });
    expect(await workspace.stat("a/b")).toEqual({ kind: "directory", path: "a/b", files: 1 });
    // A name is no directory because another begins with it.
    await write(workspace, { "ab/c": "2" });
    expect(await workspace.stat("a")).toMatchObject({ files: 1 });
    await refuses(write(workspace, { a: "x" }), "is_directory");
    await refuses(workspace.read("a"), "is_directory");
    await refuses(write(workspace, { "a/b/c/d": "x" }), "invalid_path");
    await refuses(write(workspace, { x: "x", "x/y": "y" }), "invalid_path");
    expect(await workspace.stat("a/b/c/d")).toBeNull();
    await workspace.change([{ kind: "delete", path: "a/b/c" }]);
    expect(await workspace.stat("a")).toBeNull();
    await write(workspace, { a: "now a file" });
    expect(await workspace.stat("a")).toMatchObject({ kind: "file" });
  });

  it("[FILE-6] deletes a file, or a directory with all files below it", async () => {
    const workspace = (await makeSource()).open(rest);
    await write(workspace, { "a/1": "1", "a/b/2": "2", "a-b": "3", ab: "4" });
    await refuses(workspace.change([{ kind: "delete", path: "nothing" }]), "path_not_found");
    await refuses(workspace.change([{ kind: "delete", path: "" }]), "invalid_path");
    const { paths } = await workspace.change([{ kind: "delete", path: "a" }]);
    expect(paths).toEqual(["a/1", "a/b/2"]);
    expect(await allPaths(workspace)).toEqual(["a-b", "ab"]);
  });

  it("[FILE-7] moves a file or a directory, and never onto something", async () => {
    const workspace = (await makeSource()).open(rest);
    await write(workspace, { "a/1": "one", "a/b/2": "two", c: "three" });
    const { paths, version } = await workspace.change([{ kind: "move", from: "a", to: "new/place" }]);
    expect(paths).toEqual(["a/1", "a/b/2", "new/place/1", "new/place/b/2"]);
    expect(await allPaths(workspace)).toEqual(["new/place/b/2", "new/place/1", "c"]);
    expect((await workspace.read("new/place/b/2")).entry).toMatchObject({
      version,
      sha256: await sha256("two"),
    });
    const move = (from: string, to: string) => workspace.change([{ kind: "move", from, to }]);
    await refuses(move("nothing", "x"), "path_not_found");
    await refuses(move("", "x"), "invalid_path");
    await refuses(move("c", ""), "invalid_path");
    await refuses(move("c", "new/place/1"), "already_exists");
    await refuses(move("c", "new"), "already_exists");
    await refuses(move("new/place", "new"), "already_exists");
    await refuses(move("c", "c"), "already_exists");
    await refuses(move("new", "new"), "already_exists");
    await refuses(move("new", "new/deeper"), "invalid_path");
    await refuses(move("c", "c/deeper"), "invalid_path");
    await refuses(move("new", "c/new"), "invalid_path");
    await refuses(
      move("new", "n".repeat(255) + "/".concat("n".repeat(255)).repeat(2) + "/".concat("n".repeat(120))),
      "invalid_path",
    );
    expect(await workspace.version()).toBe(version);
  });

  it("[FILE-7] moves a directory of 1,200 files as one version", async () => {
    const workspace = (await makeSource()).open(rest);
    const files = Array.from({ length: 1_200 }, (_, index) => `from/${index % 7}/${index}.txt`);
    await workspace.change(files.map((path) => ({ kind: "write", path, bytes: bytesOf(path) })));
    const { version, paths } = await workspace.change([{ kind: "move", from: "from", to: "to" }]);
    expect([version, paths.length]).toEqual([2, 2_400]);
    expect(await workspace.stat("to")).toEqual({ kind: "directory", path: "to", files: 1_200 });
    expect(await workspace.stat("from")).toBeNull();
    expect(await textAt(workspace, "to/3/10.txt")).toBe("from/3/10.txt");
  });

  it("[FILE-8] reads ranges, shorter at the end of the file and empty beyond it", async () => {
    const workspace = (await makeSource()).open(rest);
    await write(workspace, { a: "0123456789", empty: "" });
    const part = async (path: string, offset: number, length: number) => {
      const { bytes, entry } = await workspace.read(path, { offset, length });
      return [new TextDecoder().decode(bytes), entry.size];
    };
    expect(await part("a", 0, 4)).toEqual(["0123", 10]);
    expect(await part("a", 7, 100)).toEqual(["789", 10]);
    expect(await part("a", 9, 1)).toEqual(["9", 10]);
    expect(await part("a", 3, 0)).toEqual(["", 10]);
    expect(await part("a", 10, 1)).toEqual(["", 10]);
    expect(await part("a", 1_000, 1)).toEqual(["", 10]);
    expect(await part("empty", 0, 10)).toEqual(["", 0]);
    await refuses(workspace.read("a", { offset: -1, length: 1 }), "invalid_request");
    await refuses(workspace.read("a", { offset: 0, length: 1.5 }), "invalid_request");
  });
}

async function sha256(text: string): Promise<string> {
  return hashOf(bytesOf(text));
}

async function hashOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
