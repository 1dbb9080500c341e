import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Dying, HeldPuts, steppingBucket, steppingStorage } from "./workspace-faults.ts";
import { OVER_REST, inWorkspace, texts, toolWriter, write } from "./workspace-rig.ts";
import type { Rig, RigOptions } from "./workspace-rig.ts";

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;

/** A clock that a test moves on; R2 says by the real one when an object was written. */
class MovedClock {
  #ahead = 0;
  readonly now = (): number => Date.now() + this.#ahead;
  pass(ms: number): void {
    this.#ahead += ms;
  }
}

/** The objects of the workspace, by the last part of their keys. */
async function objectsOf({ bucket, prefix }: Rig): Promise<string[]> {
  const { objects } = await bucket.list({ prefix });
  return objects.map(({ key }) => key.slice(prefix.length)).toSorted();
}

/** The objects that rows name, of contents that versions name. */
function namedObjects({ storage: { sql } }: Rig): string[] {
  const query = `SELECT DISTINCT object FROM manifest JOIN blobs USING (sha256) ORDER BY object`;
  return sql
    .exec<{ object: string }>(query)
    .toArray()
    .map(({ object }) => object);
}

/** Sweeps until nothing more is due at once. */
async function sweep(rig: Rig, clock: MovedClock): Promise<void> {
  do await rig.fire();
  while ((rig.alarm() ?? Number.POSITIVE_INFINITY) <= clock.now());
}

function small(clock: MovedClock): RigOptions {
  return { clock: clock.now, limits: { versions: 3, versionsMs: 10 * DAY } };
}

describe("the sweep of a workspace", () => {
  it("[FILE-70] comes a day after a change, and not again when there is nothing more to do", async () => {
    const clock = new MovedClock();
    await inWorkspace(async (rig) => {
      expect(rig.alarm()).toBeNull();
      await rig.enter().writer.change("main", OVER_REST, [write("a", "1")]);
      await expect.poll(() => rig.alarm()).not.toBeNull();
      const due = rig.alarm() ?? 0;
      expect(due - clock.now()).toBeGreaterThan(DAY - 60_000);
      await rig.enter().writer.change("main", OVER_REST, [write("a", "2")]);
      expect(rig.alarm()).toBe(due);
      await rig.fire();
      expect(rig.alarm()).toBeNull();
    }, small(clock));
  });

  it("[FILE-71] removes an object that a change left behind when it died, once no change can be making it", async () => {
    const clock = new MovedClock();
    const dying = new Dying(2);
    const broken = {
      ...small(clock),
      bucket: (bucket: R2Bucket) => steppingBucket(bucket, () => {}, dying.step),
    };
    await inWorkspace(async (rig) => {
      await rig.enter().writer.change("main", OVER_REST, [write("a", "kept")]);
      await expect(rig.enter().writer.change("main", OVER_REST, [write("b", "lost")])).rejects.toThrow();
      expect(await objectsOf(rig)).toHaveLength(2);
      const later = rig.restart();
      await later.sweep.step();
      expect(await objectsOf(rig)).toHaveLength(2);
      clock.pass(2 * HOUR);
      await later.sweep.step();
      expect(await objectsOf(rig)).toEqual(namedObjects(rig));
      expect(await texts(later)).toEqual({ a: "kept" });
    }, broken);
  });

  it("[FILE-72] keeps so many of the newest versions, and those of so many days, whichever is more", async () => {
    const clock = new MovedClock();
    await inWorkspace(async (rig) => {
      const { writer, reader } = rig.enter();
      for (const text of ["1", "2", "3", "4", "5"])
        await writer.change("main", OVER_REST, [write("a", text)]);
      await sweep(rig, clock);
      const seen = (version: number) => reader.view({ branch: "main", version }).file("a")?.sha256;
      expect(seen(1)).not.toBe(seen(2));
      clock.pass(11 * DAY);
      await writer.change("main", OVER_REST, [write("b", "6")]);
      await sweep(rig, clock);
      expect(() => seen(3)).toThrow(
        expect.objectContaining({ code: "version_gone", details: { oldest: 4 } }),
      );
      expect(() => writer.restore("main", 1, OVER_REST)).toThrow(
        expect.objectContaining({ code: "version_gone" }),
      );
      expect(() => writer.fork("old", { branch: "main", version: 2 })).toThrow(
        expect.objectContaining({ code: "version_gone" }),
      );
      expect([seen(4), seen(5)].every((sha256) => sha256 !== undefined)).toBe(true);
      // Three versions and the files that they had: of what only older ones had, nothing is left.
      expect(await objectsOf(rig)).toEqual(namedObjects(rig));
      expect(await objectsOf(rig)).toHaveLength(3);
      writer.restore("main", 4, OVER_REST);
      expect(await texts(rig.restart())).toEqual({ a: "4" });
      expect(rig.alarm()).not.toBeNull();
    }, small(clock));
  });

  it("[FILE-73] keeps what a session can go back to until it is deleted, and what a fork reads", async () => {
    const clock = new MovedClock();
    await inWorkspace(async (rig) => {
      const { writer, reader, sweep: sweeper } = rig.enter();
      await writer.change("main", OVER_REST, [write("a", "1"), write("b", "1")]);
      writer.fork("forked", { branch: "main", version: 1 });
      await writer.change("main", toolWriter(1), [write("a", "2")]);
      for (const text of ["3", "4", "5", "6"]) await writer.change("main", OVER_REST, [write("b", text)]);
      clock.pass(11 * DAY);
      await sweep(rig, clock);
      const back = writer.revert(
        "main",
        { ...toolWriter(1, 1e6), source: { session: "s1", turn: 1, wakes: 1e6, callId: "back" } },
        {
          sessions: ["s1"],
          turn: 0,
          seq: 0,
          version: 1,
        },
      );
      expect(back).toEqual({ version: 7, skipped: [] });
      expect(await texts(rig.restart())).toEqual({ a: "1", b: "6" });
      clock.pass(11 * DAY);
      await sweeper.release("s1", null);
      await sweeper.release("s1", null);
      await sweep(rig, clock);
      expect(() => reader.view({ branch: "main", version: 2 })).toThrow(
        expect.objectContaining({ code: "version_gone" }),
      );
      expect(await texts(rig.restart(), "forked")).toEqual({ a: "1", b: "1" });
      expect(reader.view({ branch: "forked" }).totals()).toMatchObject({ files: 2, bytes: 2 });
      expect(await objectsOf(rig)).toEqual(namedObjects(rig));
    }, small(clock));
  });

  it("[FILE-74] forgets the branch of a deleted session, once nothing that was forked from it stands", async () => {
    const clock = new MovedClock();
    await inWorkspace(async (rig) => {
      const { writer, reader, sweep: sweeper } = rig.enter();
      await writer.change("main", OVER_REST, [write("a", "1")]);
      writer.fork("child", { branch: "main" });
      await writer.change("child", OVER_REST, [write("a", "child")]);
      writer.fork("grandchild", { branch: "child" });
      await sweeper.release("child", "child");
      await sweep(rig, clock);
      expect(() => reader.view({ branch: "child" })).toThrow(expect.objectContaining({ code: "not_found" }));
      await expect(writer.change("child", OVER_REST, [write("a", "x")])).rejects.toMatchObject({
        code: "not_found",
      });
      expect(await texts(rig.restart(), "grandchild")).toEqual({ a: "child" });
      await sweeper.release("grandchild", "grandchild");
      await sweeper.release("main", "main");
      clock.pass(2 * HOUR);
      await sweep(rig, clock);
      expect(rig.enter().store.branches.names()).toEqual(["main"]);
      expect(await texts(rig.restart())).toEqual({ a: "1" });
      expect(await objectsOf(rig)).toEqual(namedObjects(rig));
      expect(rig.storage.sql.exec("SELECT count(*) AS rows FROM texts").one()).toEqual({ rows: 1 });
    }, small(clock));
  });

  it("[FILE-75] passes over a content that a running change has found, though nothing else names it", async () => {
    const clock = new MovedClock();
    const held = new HeldPuts();
    await inWorkspace(
      async (rig) => {
        const { writer } = rig.enter();
        // A content that no version names: its only version is forgotten.
        const other = rig.restart().writer;
        await other.change("main", OVER_REST, [write("a", "wanted")]);
        await other.change("main", OVER_REST, [write("a", "2")]);
        rig.storage.sql.exec("DELETE FROM manifest WHERE version = 1");
        // The change finds it, and waits for R2 to take its other file.
        const changing = writer.change("main", OVER_REST, [write("b", "wanted"), write("c", "new")]);
        await held.arrival;
        clock.pass(2 * HOUR);
        await sweep(rig, clock);
        held.release();
        await changing;
        await sweep(rig, clock);
        expect(await texts(rig.restart())).toEqual({ a: "2", b: "wanted", c: "new" });
        expect(await objectsOf(rig)).toEqual(namedObjects(rig));
      },
      { ...small(clock), bucket: held.wrap },
    );
  });

  it("[FILE-76] may die at any step and be repeated: what is kept reads as it did, and nothing else is left", async () => {
    const paths = fc.constantFrom("a", "b", "d/c");
    const act = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ kind: fc.constant("write" as const), path: paths, text: fc.nat({ max: 4 }) }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), path: paths }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("fork" as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("release" as const) }) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant("sweep" as const), dies: fc.integer({ min: 1, max: 30 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant("wait" as const), days: fc.integer({ min: 1, max: 8 }) }),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40 }), async (acts) => {
        const clock = new MovedClock();
        let dying = new Dying(Number.POSITIVE_INFINITY);
        const step = (): void => dying.step();
        await inWorkspace(
          async (rig) => {
            /** What each version of each branch has been. */
            const was = new Map<string, Record<string, string>>();
            const branches = ["main"];
            let made = 0;
            for (const one of acts) {
              const { writer, sweep: sweeper } = rig.restart();
              const branch = branches.at(-1) ?? "main";
              if (one.kind === "wait") clock.pass(one.days * DAY);
              if (one.kind === "write")
                await writer.change(branch, OVER_REST, [write(one.path, `text ${one.text}`)]);
              if (one.kind === "delete") {
                await writer
                  .change(branch, OVER_REST, [{ kind: "delete", path: one.path }])
                  .catch(() => undefined);
              }
              if (one.kind === "fork") {
                const name = `b${(made += 1)}`;
                writer.fork(name, { branch });
                branches.push(name);
              }
              if (one.kind === "release" && branches.length > 1)
                await sweeper.release("gone", branches.pop() ?? null);
              if (one.kind === "sweep") {
                dying = new Dying(one.dies);
                await rig.keeper.alarm().catch(() => undefined);
                dying = new Dying(Number.POSITIVE_INFINITY);
              }
              for (const name of branches) {
                const { version } = rig.restart().reader.view({ branch: name }).totals();
                was.set(`${name} ${version}`, await texts(rig.restart(), name));
              }
            }
            clock.pass(2 * HOUR);
            await sweep(rig, clock);
            const { store, reader } = rig.restart();
            for (const name of branches) {
              const { version } = reader.view({ branch: name }).totals();
              expect(await texts(rig.restart(), name)).toEqual(was.get(`${name} ${version}`) ?? {});
            }
            for (const [at, files] of was) {
              const [name = "", version] = at.split(" ");
              if (!branches.includes(name) || Number(version) < store.record.oldest()) continue;
              const view = reader.view({ branch: name, version: Number(version) });
              expect(
                view
                  .files("")
                  .map(({ path }) => path)
                  .toSorted(),
              ).toEqual(Object.keys(files).toSorted());
            }
            expect(await objectsOf(rig)).toEqual(namedObjects(rig));
            const unread =
              "SELECT count(*) AS rows FROM blobs WHERE sha256 NOT IN (SELECT sha256 FROM manifest WHERE sha256 IS NOT NULL)";
            expect(rig.storage.sql.exec(unread).one()).toEqual({ rows: 0 });
          },
          {
            ...small(clock),
            bucket: (bucket) => steppingBucket(bucket, step),
            storage: (storage) => steppingStorage(storage, step),
          },
        );
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});
