import { expect, it } from "vitest";
import type { MakeWorkspaceSource } from "./workspace-steps.ts";
import { allPaths, bytesOf, call, refuses, rest, textAt, write } from "./workspace-steps.ts";

/** Branches, old versions, fencing, outcomes and names. */
export function describeVersions(makeSource: MakeWorkspaceSource): void {
  it("[FILE-11] forks a branch that goes its own way from what the other was", async () => {
    const source = await makeSource();
    const main = source.open(rest);
    await write(main, { a: "1", gone: "1" });
    await write(main, { a: "2" });
    await source.fork("old", { version: 1 });
    await source.fork("head");
    const old = source.open({ ...rest, branch: "old" });
    const head = source.open({ ...rest, branch: "head" });
    expect([await old.version(), await head.version()]).toEqual([1, 2]);
    expect([await textAt(old, "a"), await textAt(head, "a")]).toEqual(["1", "2"]);
    await old.change([{ kind: "delete", path: "gone" }]);
    expect(await write(main, { b: "main" })).toBe(4);
    expect(await write(old, { b: "old" })).toBe(5);
    expect(await allPaths(main)).toEqual(["a", "b", "gone"]);
    expect(await allPaths(old)).toEqual(["a", "b"]);
    expect(await allPaths(head)).toEqual(["a", "gone"]);
    expect([await textAt(main, "b"), await textAt(old, "b")]).toEqual(["main", "old"]);
    expect([await main.version(), await old.version(), await head.version()]).toEqual([4, 5, 2]);
  });

  it("[FILE-11] forks forks to any depth", async () => {
    const source = await makeSource();
    await write(source.open(rest), { "0": "0", all: "0" });
    let parent = "main";
    for (let depth = 1; depth <= 7; depth += 1) {
      const branch = `b${depth}`;
      await source.fork(branch, { branch: parent });
      await write(source.open({ ...rest, branch }), { [depth]: branch, all: branch });
      parent = branch;
    }
    const deepest = source.open({ ...rest, branch: parent });
    expect(await allPaths(deepest)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "all"]);
    expect(await textAt(deepest, "all")).toBe("b7");
    expect(await textAt(source.open({ ...rest, branch: "b3" }), "all")).toBe("b3");
    expect(await allPaths(source.open({ ...rest, branch: "b3" }))).toEqual(["0", "1", "2", "3", "all"]);
  });

  it("[FILE-11] refuses branches that exist, do not exist, or begin in the future", async () => {
    const source = await makeSource();
    await write(source.open(rest), { a: "1" });
    await source.fork("b");
    await source.fork("b", { version: 1 });
    await refuses(source.fork("b", { version: 0 }), "id_taken");
    await refuses(source.fork("main", { version: 0 }), "id_taken");
    await refuses(source.fork("c", { branch: "nothing" }), "not_found");
    await refuses(source.fork("c", { version: 2 }), "invalid_request");
    const missing = source.open({ ...rest, branch: "c" });
    await refuses(missing.version(), "not_found");
    await refuses(missing.stat("a"), "not_found");
    await refuses(missing.read("a"), "not_found");
    await refuses(write(missing, { a: "1" }), "not_found");
    await refuses(missing.search({ kind: "glob", pattern: "**" }), "not_found");
  });

  it("[FILE-12] shows an old version to read and list, not to change or search", async () => {
    const source = await makeSource();
    const main = source.open(rest);
    await write(main, { a: "1", b: "1" });
    await main.change([
      { kind: "delete", path: "b" },
      { kind: "write", path: "a", bytes: bytesOf("2") },
    ]);
    const first = source.open({ ...rest, atVersion: 1 });
    expect([await textAt(first, "a"), await first.version()]).toEqual(["1", 1]);
    expect(await allPaths(first)).toEqual(["a", "b"]);
    expect(await allPaths(source.open({ ...rest, atVersion: 0 }))).toEqual([]);
    await refuses(write(first, { a: "3" }), "invalid_request");
    await refuses(first.search({ kind: "glob", pattern: "**" }), "invalid_request");
    await refuses(source.open({ ...rest, atVersion: 3 }).version(), "invalid_request");
    expect(await textAt(main, "a")).toBe("2");
  });

  it("[FILE-13] refuses changes of a session's earlier turns and wakes", async () => {
    const source = await makeSource();
    const changeAs = (session: string, turn: number, wakes: number) =>
      write(source.open(call(session, turn, wakes)), { a: `${session} ${turn} ${wakes}` });
    await changeAs("s1", 2, 1);
    await changeAs("s1", 2, 1);
    await refuses(changeAs("s1", 2, 0), "write_fenced");
    await refuses(changeAs("s1", 1, 9), "write_fenced");
    await changeAs("s2", 1, 0);
    await write(source.open(rest), { a: "over REST" });
    await changeAs("s1", 2, 2);
    await changeAs("s1", 3, 0);
    await refuses(changeAs("s1", 2, 2), "write_fenced");
    expect(await textAt(source.open(rest), "a")).toBe("s1 3 0");
    // Reading is free to everyone.
    expect(await textAt(source.open(call("s1", 1, 0)), "a")).toBe("s1 3 0");
  });

  it("[FILE-14] tells what a call changed, of its own session only", async () => {
    const source = await makeSource();
    const workspace = source.open(call("s1", 1, 0, "c1"));
    expect(await workspace.outcome("c1")).toBeNull();
    await write(workspace, { b: "1" });
    await write(source.open(call("s2", 1, 0, "c1")), { other: "1" });
    await workspace.change([
      { kind: "write", path: "a", bytes: bytesOf("2") },
      { kind: "delete", path: "b" },
    ]);
    await refuses(workspace.change([{ kind: "delete", path: "nothing" }]), "path_not_found");
    expect(await workspace.outcome("c1")).toEqual({ version: 3, paths: ["a", "b"] });
    expect(await workspace.outcome("c2")).toBeNull();
    expect(await source.open(call("s2", 1, 0, "c9")).outcome("c1")).toEqual({ version: 2, paths: ["other"] });
    expect(await source.open(rest).outcome("c1")).toBeNull();
  });

  it("[FILE-14] fences earlier processes off once the outcome has been asked for", async () => {
    const source = await makeSource();
    const dying = source.open(call("s1", 1, 0, "c1"));
    const next = source.open(call("s1", 1, 1, "c1"));
    expect(await next.outcome("c1")).toBeNull();
    await refuses(write(dying, { a: "late" }), "write_fenced");
    await write(next, { a: "in time" });
    expect(await textAt(next, "a")).toBe("in time");
  });

  it("[FILE-15] takes canonical paths alone, and keeps names of every script apart", async () => {
    const workspace = (await makeSource()).open(rest);
    const invalid = [
      "/a",
      "./a",
      "a/",
      "a//b",
      "a/../b",
      "a\\b",
      "a\0b",
      "cafe\u0301",
      "a/%2e%2e/b",
      "\u202Ea",
      "\uD800",
    ];
    for (const path of invalid) {
      await refuses(workspace.stat(path), "invalid_path");
      await refuses(workspace.read(path), "invalid_path");
      await refuses(workspace.list(path, { depth: 1, limit: 1 }), "invalid_path");
      await refuses(workspace.search({ kind: "glob", pattern: "**", path }), "invalid_path");
      await refuses(write(workspace, { [path]: "x" }), "invalid_path");
      await refuses(workspace.change([{ kind: "delete", path }]), "invalid_path");
    }
    expect(await workspace.version()).toBe(0);
    const names = [
      "A",
      "a",
      "a b",
      "a.",
      "caf\u00e9",
      "日本語/ファイル.txt",
      "emoji 👩‍👩‍👧",
      "__proto__",
      "constructor",
      "..foo",
      "%41",
    ];
    await write(workspace, Object.fromEntries(names.map((name) => [name, name])));
    expect((await allPaths(workspace)).toSorted()).toEqual(names.toSorted());
    for (const name of names) expect(await textAt(workspace, name)).toBe(name);
  });
}
