import { describe, expect, it } from "vitest";
import { versionHistory } from "../../src/durable/version-history.ts";
import { checkInvariants } from "./workspace-invariants.ts";
import { OVER_REST, inWorkspace, texts, toolWriter, write } from "./workspace-rig.ts";
import type { Rig } from "./workspace-rig.ts";

const refused = (code: string) => expect.objectContaining({ code });

function rows({ storage }: Rig, table: string): number {
  return storage.sql.exec<{ count: number }>(`SELECT count(*) AS count FROM ${table}`).one().count;
}

describe("branches and versions", () => {
  it("[FILE-33] a fork costs one row however many files there are, and neither side sees the other's changes", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", OVER_REST, [write("a", "1"), write("d/b", "2"), write("d/c", "3")]);
      const before = ["manifest", "heads", "versions"].map((table) => rows(rig, table));
      writer.fork("side", { branch: "main" });
      expect(["manifest", "heads", "versions"].map((table) => rows(rig, table))).toEqual(before);
      await writer.change("main", OVER_REST, [
        write("a", "main"),
        { kind: "delete", path: "d/b" },
        write("new", "main"),
      ]);
      await writer.change("side", OVER_REST, [{ kind: "delete", path: "d/c" }, write("own", "side")]);
      const parts = rig.restart();
      expect(await texts(parts, "main")).toEqual({ a: "main", "d/c": "3", new: "main" });
      expect(await texts(parts, "side")).toEqual({ a: "1", "d/b": "2", own: "side" });
      expect(parts.reader.stat({ branch: "side" }, "d")).toEqual({ kind: "directory", path: "d", files: 1 });
      expect(parts.reader.view({ branch: "side" }).totals()).toEqual({ version: 3, files: 3, bytes: 6 });
      await checkInvariants(rig);
    });
  });

  it("[FILE-34] forks of forks read right to any depth, and copy the head beyond four ancestors", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", OVER_REST, [write("base", "0"), write("gone", "x")]);
      const expected: Record<string, string> = { base: "0", gone: "x" };
      let parent = "main";
      for (let depth = 1; depth <= 8; depth += 1) {
        const branch = `b${depth}`;
        writer.fork(branch, { branch: parent });
        // What the parent does afterwards is not the child's affair.
        await writer.change(parent, OVER_REST, [write("base", `later on ${parent}`)]);
        const changes =
          depth === 3
            ? [write(branch, branch), { kind: "delete", path: "gone" } as const]
            : [write(branch, branch)];
        await writer.change(branch, OVER_REST, changes);
        expected[branch] = branch;
        if (depth === 3) delete expected["gone"];
        expect(await texts(rig.enter(), branch)).toEqual(expected);
        expect(rig.enter().store.branches.layers(branch).length).toBeLessThanOrEqual(5);
        parent = branch;
      }
      expect(rig.enter().store.branches.layers("b5").length).toBe(1);
      const all = Object.keys(expected).sort();
      expect(Object.keys(await texts(rig.restart(), "b8")).sort()).toEqual(all);
      expect(rig.enter().reader.view({ branch: "b8" }).totals()).toMatchObject({ files: all.length });
      await checkInvariants(rig);
    });
  });

  it("[FILE-35] every version of every branch can still be read, also those before a fork", async () => {
    await inWorkspace(async (rig) => {
      const { writer, reader } = rig.enter();
      const states = new Map<string, unknown>();
      const names = (branch: string, version: number): string[] =>
        reader
          .view({ branch, version })
          .files("")
          .map(({ path, sha256 }) => `${path}:${sha256.slice(0, 8)}`)
          .sort();
      const branches = ["main"];
      for (let n = 1; n <= 30; n += 1) {
        const branch = branches[n % branches.length] ?? "main";
        const path = `f${n % 4}`;
        const isThere = reader.view({ branch }).file(path) !== undefined;
        const change = isThere && n % 3 === 0 ? ({ kind: "delete", path } as const) : write(path, `${n}`);
        const { version } = await writer.change(branch, OVER_REST, [change]);
        states.set(`${branch}@${version}`, names(branch, version));
        // Each branch from the last: so deep that some are copies.
        const parent = branches.at(-1) ?? "main";
        if (n % 4 !== 0) continue;
        const child = `fork${n}`;
        writer.fork(child, { branch: parent });
        for (const [key, state] of Array.from(states)) {
          const [origin = "", at = "0"] = key.split("@");
          if (origin === parent) states.set(`${child}@${at}`, state);
        }
        branches.push(child);
      }
      for (const [key, state] of states) {
        const [branch = "", version = "0"] = key.split("@");
        expect([key, names(branch, Number(version))]).toEqual([key, state]);
      }
      expect(names("main", 0)).toEqual([]);
      expect(names("fork28", 0)).toEqual([]);
      writer.fork("past", { branch: "fork28", version: 7 });
      expect(names("past", 30)).toEqual(names("fork28", 7));
      expect(() => names("main", 31)).toThrow(refused("invalid_request"));
      expect(() => names("main", 0.5)).toThrow(refused("invalid_request"));
      await checkInvariants(rig);
    });
  });

  it("[FILE-36] a restore makes the branch what it was, as a version of its own", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", OVER_REST, [write("a", "1"), write("d/b", "2")]);
      await writer.change("main", OVER_REST, [
        write("a", "11"),
        { kind: "delete", path: "d" },
        write("d", "a file now"),
      ]);
      expect(writer.restore("main", 1, OVER_REST)).toEqual({ version: 3, paths: ["a", "d", "d/b"] });
      expect(await texts(rig.restart())).toEqual({ a: "1", "d/b": "2" });
      expect(writer.restore("main", 2, OVER_REST).paths).toEqual(["a", "d", "d/b"]);
      expect(await texts(rig.restart())).toEqual({ a: "11", d: "a file now" });
      expect(writer.restore("main", 0, OVER_REST).paths).toEqual(["a", "d"]);
      expect(rig.keeper.state()).toMatchObject({ files: 0, bytes: 0, version: 5 });
      expect(() => writer.restore("main", 6, OVER_REST)).toThrow(refused("invalid_request"));
      await checkInvariants(rig);
    });
  });

  it("[FILE-37] the history says who changed what, in pages, and goes on through what a branch was forked from", async () => {
    await inWorkspace(async (rig) => {
      const { writer, store } = rig.enter();
      await writer.change("main", OVER_REST, [write("a", "1")]);
      await writer.change("main", toolWriter(4, 0, "call_4_1_0"), [write("b", "22")]);
      writer.fork("side", { branch: "main" });
      await writer.change("main", OVER_REST, [write("a", "not on the side")]);
      await writer.change("side", OVER_REST, [write("c", "3")]);
      const { versions, next } = versionHistory(store, "side", { limit: 2 });
      expect(versions).toEqual([
        expect.objectContaining({ version: 4, paths: ["c"], changes: 1, files: 3, bytes: 4 }),
        {
          version: 2,
          at: expect.any(Number),
          by: OVER_REST.by,
          session: "s1",
          turn: 4,
          callId: "call_4_1_0",
          changes: 1,
          paths: ["b"],
          files: 2,
          bytes: 3,
        },
      ]);
      expect(next).toBe(2);
      const rest = versionHistory(store, "side", { limit: 2, before: 2 });
      expect(rest).toEqual({ versions: [expect.objectContaining({ version: 1 })], next: null });
      expect(() => versionHistory(store, "side", { limit: 0 })).toThrow(refused("invalid_request"));
      expect(() => versionHistory(store, "side", { limit: 1_001 })).toThrow(refused("invalid_request"));
      expect(() => versionHistory(store, "none", { limit: 1 })).toThrow(refused("not_found"));
    });
  });

  it("[FILE-38] names of branches are checked, never taken twice, and bounded in number", async () => {
    await inWorkspace(
      async (rig) => {
        const { writer } = rig.enter();
        writer.fork("b1", { branch: "main" });
        writer.fork("b1", { branch: "main", version: 0 });
        await writer.change("main", OVER_REST, [write("a", "1")]);
        expect(() => writer.fork("b1", { branch: "main" })).toThrow(refused("id_taken"));
        expect(() => writer.fork("main", { branch: "b1" })).toThrow(refused("id_taken"));
        expect(() => writer.fork("b2", { branch: "none" })).toThrow(refused("not_found"));
        expect(() => writer.fork("b2", { branch: "main", version: 2 })).toThrow(refused("invalid_request"));
        expect(() => writer.fork("b 2", { branch: "main" })).toThrow(refused("invalid_request"));
        writer.fork("b2", { branch: "main", version: 0 });
        expect(() => writer.fork("b3", { branch: "main" })).toThrow(refused("workspace_full"));
        await expect(writer.change("none", OVER_REST, [write("a", "1")])).rejects.toEqual(
          refused("not_found"),
        );
        expect(rows(rig, "branches")).toBe(3);
      },
      { limits: { workspaceBranches: 3 } },
    );
  });
});
