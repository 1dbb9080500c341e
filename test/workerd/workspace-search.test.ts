import { describe, expect, it } from "vitest";
import { ContentCache } from "../../src/durable/content-cache.ts";
import type { Bucket } from "../../src/durable/object-storage.ts";
import { OVER_REST, inWorkspace, unindex, write } from "./workspace-rig.ts";

/** R2 that notes how many contents are on their way at once, and which were asked for. */
function watching(seen: { now: number; most: number; gets: number }): (bucket: R2Bucket) => Bucket {
  return (bucket) =>
    ({
      put: async (...args: Parameters<R2Bucket["put"]>) => bucket.put(...args),
      get: async (key: string, options?: R2GetOptions) => {
        seen.now += 1;
        seen.gets += 1;
        seen.most = Math.max(seen.most, seen.now);
        const object = await bucket.get(key, options);
        const bytes = await object?.arrayBuffer();
        seen.now -= 1;
        return bytes && { arrayBuffer: async () => bytes };
      },
    }) as unknown as Bucket;
}

describe("search", () => {
  it("[FILE-39] a search has at most six contents on their way, and stops asking when it has enough", async () => {
    const seen = { now: 0, most: 0, gets: 0 };
    await inWorkspace(
      async (rig) => {
        const { enter, restart } = rig;
        const files = Array.from({ length: 40 }, (_, n) =>
          write(`f${String(n).padStart(2, "0")}`, `needle ${n}`),
        );
        await restart().writer.change("main", OVER_REST, files);
        unindex(rig);
        const { reader } = enter();
        const all = await reader.search("main", { kind: "grep", pattern: "needle" });
        expect([all.matches?.length, all.more, seen]).toEqual([40, false, { now: 0, most: 6, gets: 40 }]);
        // Now they are indexed: the second search asks R2 for nothing.
        await reader.search("main", { kind: "grep", pattern: "needle" });
        expect(seen.gets).toBe(40);
      },
      { bucket: watching(seen) },
    );
    Object.assign(seen, { now: 0, most: 0, gets: 0 });
    await inWorkspace(
      async (rig) => {
        const { enter, restart } = rig;
        const files = Array.from({ length: 40 }, (_, n) =>
          write(`f${String(n).padStart(2, "0")}`, `needle ${n}`),
        );
        await restart().writer.change("main", OVER_REST, files);
        unindex(rig);
        const first = await enter().reader.search("main", { kind: "grep", pattern: "needle", limit: 2 });
        expect([first.matches?.length, first.more]).toEqual([2, true]);
        expect(seen.gets).toBeLessThan(12);
        const globbed = await enter().reader.search("main", { kind: "glob", pattern: "f0*" });
        expect(globbed.paths?.length).toBe(10);
        expect(seen.gets).toBeLessThan(12);
      },
      { bucket: watching(seen) },
    );
  });

  it("[FILE-39] what is beyond the limits of a search is named, not read", async () => {
    const seen = { now: 0, most: 0, gets: 0 };
    await inWorkspace(
      async ({ enter, restart }) => {
        await restart().writer.change("main", OVER_REST, [
          write("a", "needle"),
          write("b", "needle".repeat(10)),
          write("c", "a needle too"),
          write("d", "needle, later"),
        ]);
        const { matches, notSearched } = await enter().reader.search("main", {
          kind: "grep",
          pattern: "needle",
        });
        expect(matches?.map(({ path }) => path)).toEqual(["a", "c"]);
        expect(notSearched?.map(({ path }) => path)).toEqual(["b", "d"]);
      },
      { bucket: watching(seen), limits: { searchFileBytes: 20, searchScanBytes: 20 } },
    );
  });
});

describe("the cache of contents", () => {
  it("[FILE-47] holds no more bytes than it may, and lets the least recently used go", () => {
    const cache = new ContentCache(10, 5);
    const bytes = (length: number): Uint8Array => new Uint8Array(length);
    for (const key of ["a", "b"]) cache.set(key, bytes(5));
    cache.get("a");
    cache.set("c", bytes(4));
    expect(["a", "b", "c"].map((key) => cache.get(key)?.length)).toEqual([5, undefined, 4]);
    cache.set("too large", bytes(6));
    expect([cache.get("too large"), cache.takes(6), cache.takes(5)]).toEqual([undefined, false, true]);
    cache.set("c", bytes(5));
    cache.set("d", bytes(1));
    expect(["a", "c", "d"].map((key) => cache.get(key)?.length)).toEqual([5, 4, 1]);
  });
});
