import { describe, expect, it } from "vitest";
import { versionAt } from "../../src/durable/revert-plan.ts";
import { restoreCallId, restoreWakes } from "../../src/durable/session-point.ts";
import type { SessionPoint } from "../../src/durable/session-point.ts";
import type { WriterSource } from "../../src/durable/fence-store.ts";
import type { FileChange } from "../../src/runtime/workspace/workspace.ts";
import { checkInvariants } from "./workspace-invariants.ts";
import { OVER_REST, OWNER, inWorkspace, texts, toolWriter, write } from "./workspace-rig.ts";

const remove = (path: string): FileChange => ({ kind: "delete", path });
const refused = (code: string) => expect.objectContaining({ code });

/** The writer of a session's restore, whose event gets a `seq`. */
function restorer(turn: number, seq: number, session = "s1"): { by: typeof OWNER; source: WriterSource } {
  return { by: OWNER, source: { session, turn, wakes: restoreWakes(seq), callId: restoreCallId(seq) } };
}

/** The end of a turn of `s1`, which ends at ten times its number. */
function endOf(turn: number, more: Partial<SessionPoint> = {}): SessionPoint {
  return { sessions: ["s1"], turn, seq: turn * 10, version: null, ...more };
}

describe("taking back what a session has changed", () => {
  it("[TIME-4] makes every file of the session what it was, by one version in its name", async () => {
    await inWorkspace(async (rig) => {
      const { writer, store } = rig.enter();
      await writer.change("main", OVER_REST, [write("kept", "0"), write("d/old", "0")]);
      await writer.change("main", toolWriter(1), [write("a", "1")]);
      await writer.change("main", toolWriter(2), [write("a", "2"), remove("d"), write("d", "a file now")]);
      await writer.change("main", toolWriter(3), [write("b", "3")]);
      expect(writer.revert("main", restorer(3, 31), endOf(1))).toEqual({ version: 5, skipped: [] });
      expect(await texts(rig.restart())).toEqual({ a: "1", "d/old": "0", kept: "0" });
      const [made] = store.versions.ofCall("s1", "restore_31");
      expect(made).toMatchObject({ version: 5, paths: ["a", "b", "d", "d/old"], writer: { by: OWNER } });
      await checkInvariants(rig);
    });
  });

  it("[TIME-4] goes back before a restore as before any other change, and back again", async () => {
    await inWorkspace(async (rig) => {
      const { writer, store } = rig.enter();
      for (const turn of [1, 2, 3]) await writer.change("main", toolWriter(turn), [write("a", `${turn}`)]);
      expect(writer.revert("main", restorer(3, 31), endOf(1)).version).toBe(4);
      expect(await texts(rig.enter())).toEqual({ a: "1" });
      // Into what the restore has skipped, and to its very end, after which there is no turn.
      expect(writer.revert("main", restorer(3, 32), endOf(2)).version).toBe(5);
      expect(await texts(rig.enter())).toEqual({ a: "2" });
      expect(writer.revert("main", restorer(3, 33), endOf(3)).version).toBe(6);
      expect(await texts(rig.enter())).toEqual({ a: "3" });
      expect(writer.revert("main", restorer(3, 34), endOf(0)).version).toBe(7);
      expect(await texts(rig.enter())).toEqual({});
      // A point between two restores: what the first has made counts as done.
      expect(versionAt(store, "main", endOf(3, { seq: 31 }))).toBe(4);
      expect(versionAt(store, "main", endOf(3))).toBe(3);
      await checkInvariants(rig);
    });
  });

  it("[TIME-5] leaves what somebody else has changed since, and says so", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", toolWriter(1), [write("a", "1"), write("b", "1"), write("c", "1")]);
      await writer.change("main", toolWriter(2), [write("a", "2"), write("b", "2"), remove("c")]);
      await writer.change("main", toolWriter(7, 0, "call", "s2"), [write("a", "other"), write("e", "other")]);
      await writer.change("main", toolWriter(3), [write("a", "3")]);
      await writer.change("main", OVER_REST, [write("c", "by hand")]);
      expect(writer.revert("main", restorer(3, 31), endOf(1))).toEqual({
        version: 6,
        skipped: [
          { path: "a", reason: "somebody else has changed it since" },
          { path: "c", reason: "somebody else has changed it since" },
        ],
      });
      expect(await texts(rig.enter())).toEqual({ a: "3", b: "1", c: "by hand", e: "other" });
      await checkInvariants(rig);
    });
  });

  it("[TIME-5] leaves a file whose place somebody else has taken, as a folder or above it", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", toolWriter(1), [write("f", "1"), write("d/x", "1"), write("g", "1")]);
      await writer.change("main", toolWriter(2), [remove("f"), remove("d"), remove("g")]);
      await writer.change("main", OVER_REST, [write("f/below", "theirs"), write("d", "theirs")]);
      expect(writer.revert("main", restorer(2, 21), endOf(1))).toEqual({
        version: 4,
        skipped: [
          { path: "d/x", reason: "something else is in its place" },
          { path: "f", reason: "something else is in its place" },
        ],
      });
      expect(await texts(rig.enter())).toEqual({ d: "theirs", "f/below": "theirs", g: "1" });
      await checkInvariants(rig);
    });
  });

  it("[TIME-7] changes nothing the second time, and answers the same, whatever happened in between", async () => {
    await inWorkspace(async (rig) => {
      const { writer, store } = rig.enter();
      await writer.change("main", toolWriter(1), [write("a", "1"), write("b", "1")]);
      await writer.change("main", OVER_REST, [write("b", "theirs")]);
      const first = writer.revert("main", restorer(1, 11), endOf(0));
      expect(first).toMatchObject({ version: 3, skipped: [{ path: "b" }] });
      await writer.change("main", OVER_REST, [write("a", "theirs"), remove("b")]);
      expect(rig.restart().writer.revert("main", restorer(1, 11), endOf(0))).toEqual(first);
      expect(await texts(rig.enter())).toEqual({ a: "theirs" });
      expect(store.versions.ofCall("s1", "restore_11")).toHaveLength(1);
      // Nothing to take back makes no version, however often.
      for (const _ of [1, 2]) {
        expect(writer.revert("main", restorer(1, 12), endOf(1, { seq: 11 }))).toEqual({
          version: null,
          skipped: [],
        });
      }
    });
  });

  it("[TIME-7] fences off the processes of the turn before, and a restore that is late", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", toolWriter(1, 5), [write("a", "1")]);
      writer.revert("main", restorer(1, 11), endOf(0));
      await expect(writer.change("main", toolWriter(1, 6), [write("a", "late")])).rejects.toEqual(
        refused("write_fenced"),
      );
      writer.revert("main", restorer(1, 12), endOf(1));
      expect(() => writer.revert("main", restorer(1, 11), endOf(0))).toThrow(refused("write_fenced"));
      await writer.change("main", toolWriter(2), [write("a", "2")]);
      expect(() => writer.revert("main", restorer(1, 12), endOf(0))).toThrow(refused("write_fenced"));
      expect(await texts(rig.enter())).toEqual({ a: "2" });
    });
  });

  it("[TIME-24] counts what the session that it was forked from has changed before as its own", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", toolWriter(1), [write("a", "1"), write("b", "1")]);
      await writer.change("main", toolWriter(2), [write("a", "2")]);
      writer.fork("side", { branch: "main" });
      await writer.change("main", toolWriter(3), [write("b", "the parent's"), write("c", "the parent's")]);
      await writer.change("side", toolWriter(3, 0, "call", "s2"), [write("a", "3")]);
      const point = endOf(1, { sessions: ["s2", "s1"] });
      expect(writer.revert("side", restorer(3, 31, "s2"), point)).toEqual({ version: 5, skipped: [] });
      expect(await texts(rig.enter(), "side")).toEqual({ a: "1", b: "1" });
      expect(await texts(rig.enter(), "main")).toEqual({ a: "2", b: "the parent's", c: "the parent's" });
      expect(() => writer.revert("none", restorer(3, 32, "s2"), point)).toThrow(refused("not_found"));
    });
  });

  it("[TIME-20] knows the version at a point: before the session's next change, and not after a version that is known", async () => {
    await inWorkspace(async (rig) => {
      const { writer, store } = rig.enter();
      expect(versionAt(store, "main", endOf(0))).toBe(0);
      await writer.change("main", toolWriter(1), [write("a", "1")]);
      for (const text of ["x", "y"]) await writer.change("main", OVER_REST, [write("o", text)]);
      await writer.change("main", toolWriter(3), [write("a", "3")]);
      await writer.change("main", OVER_REST, [write("o", "z")]);
      expect(versionAt(store, "main", endOf(0))).toBe(0);
      expect(versionAt(store, "main", endOf(1))).toBe(3);
      expect(versionAt(store, "main", endOf(1, { version: 2 }))).toBe(2);
      expect(versionAt(store, "main", endOf(3))).toBe(5);
      expect(versionAt(store, "main", endOf(2, { version: 4 }))).toBe(3);
      expect(() => versionAt(store, "none", endOf(0))).toThrow(refused("not_found"));
    });
  });

  it("[TIME-5] names so many files as are left, and counts the others", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      const paths = Array.from({ length: 503 }, (_, index) => `f${String(index).padStart(3, "0")}`);
      await writer.change(
        "main",
        toolWriter(1),
        paths.map((path) => write(path, "same")),
      );
      await writer.change(
        "main",
        OVER_REST,
        paths.map((path) => write(path, "theirs")),
      );
      const { version, skipped } = writer.revert("main", restorer(1, 11), endOf(0));
      expect([version, skipped.length]).toEqual([null, 501]);
      expect(skipped.slice(-2)).toEqual([
        { path: "f499", reason: "somebody else has changed it since" },
        { path: "", reason: "and 3 more" },
      ]);
    });
  });
});
