import { describe, expect, it } from "vitest";
import type { WorkspaceParts } from "../../src/durable/workspace-parts.ts";
import { Dying, FailingOnce, steppingBucket, steppingStorage } from "./workspace-faults.ts";
import { checkInvariants, orphans } from "./workspace-invariants.ts";
import { OVER_REST, OWNER, inWorkspace, texts, toolWriter, unindex, write } from "./workspace-rig.ts";
import type { Rig } from "./workspace-rig.ts";

const MIB = 1024 * 1024;

/** So many bytes as a stream, with or without saying how many. */
function upload(size: number, announced: boolean): Request {
  let left = size;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = new Uint8Array(Math.min(left, 256 * 1024)).fill(left % 251);
      left -= chunk.length;
      if (chunk.length > 0) controller.enqueue(chunk);
      else controller.close();
    },
  });
  return new Request("https://workspace/files?path=big", {
    method: "PUT",
    body,
    headers: announced ? { "content-length": `${size}` } : {},
  });
}

async function put(parts: WorkspaceParts, request: Request): Promise<void> {
  const response = await parts.files.respond(request, OWNER);
  if (!response.ok) throw new Error(await response.text());
}

const BEFORE = { a: "1", "d/b": "2", "d/c": "3" };

/** A way to change files, and what their sizes are when it has. */
interface Change {
  readonly run: (parts: WorkspaceParts) => Promise<unknown>;
  readonly sizes: Record<string, number>;
}

const writeSeveral: Change["run"] = async ({ writer }) =>
  writer.change("main", toolWriter(1), [
    write("a", "22"),
    write("e", "333"),
    { kind: "move", from: "d", to: "f" },
    { kind: "delete", path: "f/c" },
  ]);

const CHANGES: Record<string, Change> = {
  "a write of several files": {
    run: writeSeveral,
    sizes: { a: 2, e: 3, "f/b": 1 },
  },
  "an upload of known length": {
    run: async (parts) => put(parts, upload(2 * MIB, true)),
    sizes: { a: 1, "d/b": 1, "d/c": 1, big: 2 * MIB },
  },
  "an upload of unknown length": {
    run: async (parts) => put(parts, upload(6 * MIB, false)),
    sizes: { a: 1, "d/b": 1, "d/c": 1, big: 6 * MIB },
  },
  "a restore": {
    run: async ({ writer }) => writer.restore("main", 1, OVER_REST),
    sizes: { a: 1 },
  },
};

async function prepare({ restart }: Rig): Promise<void> {
  const { writer } = restart();
  await writer.change("main", OVER_REST, [write("a", "1")]);
  await writer.change("main", OVER_REST, [write("d/b", "2"), write("d/c", "3")]);
}

function sizes(parts: WorkspaceParts): Record<string, number> {
  const files = parts.reader.view({ branch: "main" }).files("");
  return Object.fromEntries(files.map(({ path, size }) => [path, size]));
}

const OLD_SIZES = { a: 1, "d/b": 1, "d/c": 1 };

describe("faults", () => {
  for (const [name, change] of Object.entries(CHANGES)) {
    it(`[FILE-24] ${name} that dies at any step leaves the old files or the new ones`, async () => {
      const seen = new Set<string>();
      let completed = false;
      for (let at = 1; !completed; at += 1) {
        const process = new Dying(at);
        await inWorkspace(
          async (rig) => {
            await prepare(rig);
            completed = await Promise.resolve()
              .then(async () => change.run(rig.enter()))
              .then(
                () => true,
                () => false,
              );
            const after = rig.restart();
            const state = JSON.stringify(sizes(after)) === JSON.stringify(OLD_SIZES) ? "old" : "new";
            seen.add(state);
            expect(sizes(after)).toEqual(state === "old" ? OLD_SIZES : change.sizes);
            await checkInvariants(rig);
            // Whatever happened, the same can be done again: tried at some, since it costs as much as all the rest.
            if (state === "old" && at % 4 === 0) {
              await change.run(after);
              expect(sizes(after)).toEqual(change.sizes);
            }
          },
          {
            bucket: (bucket) => steppingBucket(bucket, process.step, process.step),
            storage: (storage) => steppingStorage(storage, process.step),
          },
        );
        expect(completed).toBe(!process.isDead);
      }
      expect([...seen].sort()).toEqual(["new", "old"]);
    });
  }

  for (const [name, change] of Object.entries(CHANGES)) {
    it(`[FILE-25] ${name} while R2 fails at any call is refused as unavailable and leaves nothing`, async () => {
      let completed = false;
      for (let at = 1; !completed; at += 1) {
        const r2 = new FailingOnce(at);
        await inWorkspace(
          async (rig) => {
            await prepare(rig);
            const failure = await change.run(rig.enter()).then(
              () => null,
              (caught: unknown) => caught,
            );
            completed = failure === null;
            if (!completed) {
              expect(failure).toMatchObject({ code: "unavailable" });
              expect(await texts(rig.restart())).toEqual(BEFORE);
              expect(await orphans(rig)).toBe(0);
            }
            await checkInvariants(rig);
          },
          { bucket: (bucket) => steppingBucket(bucket, r2.step) },
        );
      }
    });
  }

  it("[FILE-24] a change whose k-th row cannot be written leaves nothing, not even an object", async () => {
    let completed = false;
    for (let at = 1; !completed; at += 1) {
      const storage = new FailingOnce(at);
      await inWorkspace(
        async (rig) => {
          await prepare(rig);
          completed = await writeSeveral(rig.enter()).then(
            () => true,
            () => false,
          );
          if (!completed) expect(await texts(rig.restart())).toEqual(BEFORE);
          expect(await orphans(rig)).toBe(0);
          await checkInvariants(rig);
        },
        { storage: (bare) => steppingStorage(bare, storage.step, () => {}) },
      );
    }
  });

  it("[FILE-25] a read or search while R2 fails is unavailable, and then works again", async () => {
    for (const run of [
      async ({ reader }: WorkspaceParts) => reader.read({ branch: "main" }, "a", { offset: 0, length: 9 }),
      async ({ reader }: WorkspaceParts) => reader.search("main", { kind: "grep", pattern: "[0-9]" }),
      async ({ files }: WorkspaceParts) =>
        files.respond(new Request("https://workspace/files?path=a"), OWNER),
    ]) {
      const r2 = new FailingOnce(1);
      await inWorkspace(
        async (rig) => {
          await prepare(rig);
          unindex(rig);
          await expect(run(rig.enter())).rejects.toMatchObject({ code: "unavailable" });
          await run(rig.enter());
        },
        { bucket: (bucket) => steppingBucket(bucket, r2.step) },
      );
    }
  });

  it("[FILE-25] a content that is missing in R2 is unavailable, and the other files are not", async () => {
    await inWorkspace(async (rig) => {
      await prepare(rig);
      const { objects } = await rig.bucket.list({ prefix: rig.prefix });
      const { blobs } = rig.enter().store;
      const { sha256 = "" } = rig.enter().reader.view({ branch: "main" }).file("a") ?? {};
      const object = blobs.find(sha256)?.object ?? "";
      expect(objects.map(({ key }) => key)).toContain(rig.prefix + object);
      await rig.bucket.delete(rig.prefix + object);
      const { reader } = rig.enter();
      const range = { offset: 0, length: 9 };
      await expect(reader.read({ branch: "main" }, "a", range)).rejects.toMatchObject({
        code: "unavailable",
      });
      expect((await reader.read({ branch: "main" }, "d/b", range)).bytes).toEqual(new Uint8Array([50]));
    });
  });
});
