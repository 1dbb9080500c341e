import { describe, expect, it } from "vitest";
import type { WorkspaceSurroundings } from "../../src/durable/workspace-parts.ts";
import { HeldPuts } from "./workspace-faults.ts";
import { checkInvariants, orphans } from "./workspace-invariants.ts";
import { OVER_REST, inWorkspace, texts, toolWriter, write } from "./workspace-rig.ts";

const refused = (code: string) => expect.objectContaining({ code });

/** Storage that adds up the rows that statements write and read. */
function counting(counts: { written: number; read: number }) {
  return (storage: DurableObjectStorage): WorkspaceSurroundings["storage"] => ({
    sql: {
      exec(...args: Parameters<SqlStorage["exec"]>) {
        const cursor = storage.sql.exec(...args);
        const rows = cursor.toArray();
        counts.written += cursor.rowsWritten;
        counts.read += cursor.rowsRead;
        return { toArray: () => rows, one: () => rows[0], rowsWritten: cursor.rowsWritten };
      },
    } as unknown as SqlStorage,
    transactionSync: (run) => storage.transactionSync(run),
    deleteAll: async () => storage.deleteAll(),
  });
}

describe("writes", () => {
  it("[FILE-20] a write costs 7 rows, 4 when the content is known, 3 more when a text leaves the index", async () => {
    const counts = { written: 0, read: 0 };
    const written = async (run: () => Promise<unknown>): Promise<number> => {
      counts.written = 0;
      await run();
      return counts.written;
    };
    await inWorkspace(
      async (rig) => {
        const { writer } = rig.enter();
        const by = (turn: number, callId: string) => toolWriter(turn, 0, callId);
        // The first one is given room by the tenant, which is a row.
        expect(await written(() => writer.change("main", OVER_REST, [write("a", "1")]))).toBe(8);
        expect(await written(() => writer.change("main", OVER_REST, [write("b", "1")]))).toBe(4);
        // The old text is still another file's.
        expect(await written(() => writer.change("main", by(1, "c1"), [write("a", "2")]))).toBe(8);
        expect(await written(() => writer.change("main", by(1, "c2"), [write("a", "3")]))).toBe(10);
        expect(await written(() => writer.change("main", by(2, "c3"), [{ kind: "delete", path: "a" }]))).toBe(
          7,
        );
        const move = { kind: "move", from: "b", to: "c" } as const;
        expect(await written(() => writer.change("main", by(2, "c4"), [move]))).toBe(6);
        const binary = { kind: "write", path: "c", bytes: new Uint8Array(9) } as const;
        expect(await written(() => writer.change("main", by(2, "c5"), [binary]))).toBe(8);
        await checkInvariants(rig);
      },
      { storage: counting(counts) },
    );
  });

  it("[FILE-21] a head is read by one row a path, however often it was changed", async () => {
    const counts = { written: 0, read: 0 };
    await inWorkspace(
      async (rig) => {
        const { writer, reader } = rig.enter();
        for (let n = 0; n < 20; n += 1) {
          await writer.change("main", OVER_REST, [write("src/a", `${n}`), write("src/b", `${-n}`)]);
        }
        const read = (run: () => unknown): number => {
          counts.read = 0;
          run();
          return counts.read;
        };
        const view = reader.view({ branch: "main" });
        expect(read(() => view.file("src/a"))).toBe(1);
        expect(read(() => view.files(""))).toBe(2);
        expect(read(() => view.isDirectory("src"))).toBe(1);
        expect(read(() => view.totals())).toBe(2);
      },
      { storage: counting(counts) },
    );
  });

  it("[FILE-22] equal contents share one object", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", OVER_REST, [write("a", "same"), write("b", "same")]);
      await writer.change("main", OVER_REST, [write("c", "same")]);
      await Promise.all([
        writer.change("main", OVER_REST, [write("d", "also the same")]),
        writer.change("main", OVER_REST, [write("e", "also the same")]),
      ]);
      const { objects } = await rig.bucket.list({ prefix: rig.prefix });
      expect(objects.length).toBe(2);
      expect(Object.keys(await texts(rig.restart()))).toEqual(["a", "b", "c", "d", "e"]);
      await checkInvariants(rig);
    });
  });

  it("[FILE-4] of two writers of the same version one wins and the other is told", async () => {
    await inWorkspace(async (rig) => {
      const { writer, reader } = rig.enter();
      await writer.change("main", OVER_REST, [write("a", "0")]);
      const { sha256 = "" } = reader.view({ branch: "main" }).file("a") ?? {};
      const attempts = await Promise.allSettled(
        ["x", "y", "z"].map((text) => writer.change("main", OVER_REST, [write("a", text, sha256)])),
      );
      const lost = attempts.filter((attempt) => attempt.status === "rejected");
      expect(lost.map(({ reason }) => reason)).toEqual([
        refused("write_conflict"),
        refused("write_conflict"),
      ]);
      expect(await orphans(rig)).toBe(0);
      await checkInvariants(rig);
    });
  });

  it("[FILE-4] four writers that create the same file: one does", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      const attempts = await Promise.allSettled(
        ["1", "2", "3", "4"].map((text) => writer.change("main", OVER_REST, [write("new", text, null)])),
      );
      expect(attempts.filter((attempt) => attempt.status === "fulfilled").length).toBe(1);
      await checkInvariants(rig);
    });
  });

  it("[FILE-13] a writer of an earlier turn or wake of its session is refused", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", toolWriter(3, 1), [write("a", "new")]);
      for (const [turn, wakes] of [
        [2, 9],
        [3, 0],
      ] as const) {
        await expect(writer.change("main", toolWriter(turn, wakes), [write("a", "old")])).rejects.toEqual(
          refused("write_fenced"),
        );
      }
      await writer.change("main", toolWriter(1, 0, "other", "s2"), [write("b", "another session")]);
      expect(await texts(rig.restart())).toEqual({ a: "new", b: "another session" });
      expect(await orphans(rig)).toBe(0);
    });
  });

  it("[FILE-13] once an outcome was asked for, what the earlier process had under way is refused", async () => {
    const held = new HeldPuts();
    await inWorkspace(
      async (rig) => {
        const { writer } = rig.enter();
        const late = writer.change("main", toolWriter(3, 0, "late"), [write("a", "late")]);
        const refusal = expect(late).rejects.toEqual(refused("write_fenced"));
        await held.arrival;
        expect(writer.outcome(toolWriter(3, 1), "late")).toBe(null);
        held.release();
        await refusal;
        expect(() => writer.outcome(toolWriter(3, 0), "late")).toThrow(refused("write_fenced"));
        expect(await texts(rig.restart())).toEqual({});
        expect(await orphans(rig)).toBe(0);
      },
      { bucket: held.wrap },
    );
  });

  it("[FILE-14] the outcome of a call survives a restart, and names all that the call changed", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", toolWriter(1, 0, "c1"), [write("b", "1")]);
      await writer.change("main", toolWriter(1, 0, "c1"), [write("a", "2")]);
      const many = Array.from({ length: 1_000 }, (_, n) => write(`many/file-with-a-long-name-${n}`, "same"));
      await writer.change("main", toolWriter(1, 0, "c2"), many);
      const again = rig.restart().writer;
      expect(again.outcome(toolWriter(1, 1), "c1")).toEqual({ version: 2, paths: ["a", "b"] });
      expect(again.outcome(toolWriter(1, 1), "c2")?.paths.length).toBe(1_000);
      expect(again.outcome(toolWriter(1, 1), "c3")).toBe(null);
      expect(again.outcome(toolWriter(1, 1, "c1", "s2"), "c1")).toBe(null);
      expect(again.outcome(OVER_REST, "c1")).toBe(null);
    });
  });

  it("[FILE-23] files and bytes are bounded exactly, and deleting makes room", async () => {
    const limits = { workspaceFiles: 3, workspaceBytes: 10, fileBytes: 8 };
    await inWorkspace(
      async (rig) => {
        const { writer } = rig.enter();
        const change = (...changes: Parameters<typeof writer.change>[2]) =>
          writer.change("main", OVER_REST, changes);
        await change(write("a", "12345"), write("b", "12345"));
        await expect(change(write("c", "1"))).rejects.toEqual(refused("workspace_full"));
        await expect(change(write("c", "123456789"))).rejects.toEqual(refused("file_too_large"));
        await change(write("a", "1"), write("c", "1234"));
        await change({ kind: "delete", path: "b" });
        await change(write("b", ""));
        await expect(change(write("d", ""))).rejects.toEqual(refused("workspace_full"));
        expect(rig.keeper.state()).toMatchObject({ files: 3, bytes: 5, version: 4 });
        expect(await orphans(rig)).toBe(0);
        await checkInvariants(rig);
      },
      { limits },
    );
  });

  it("[FILE-7] a move of 1,200 files is one version", async () => {
    await inWorkspace(async (rig) => {
      const { writer, reader } = rig.enter();
      const many = Array.from({ length: 1_200 }, (_, n) => write(`from/d${n % 7}/f${n}`, `${n % 5}`));
      await writer.change("main", OVER_REST, many);
      const { version, paths } = await writer.change("main", OVER_REST, [
        { kind: "move", from: "from", to: "to/x" },
      ]);
      expect([version, paths.length]).toEqual([2, 2_400]);
      const view = reader.view({ branch: "main" });
      expect([view.files("from").length, view.files("to/x").length]).toEqual([0, 1_200]);
      await checkInvariants(rig);
    });
  });
});
