import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryIndex, NewMemory } from "../../src/runtime/context/memory/memory-index.ts";
import { rank } from "../../src/runtime/context/rank.ts";
import type { MemoryKind } from "../../src/runtime/protocol/recalled-memory.ts";
import { DEFAULT_LIMITS } from "../../src/runtime/protocol/limits.ts";

const origin = { session: "s1", seq: 7 };

function memory(id: string, content: string, kind: MemoryKind = "semantic"): NewMemory {
  return { id, kind, content, origin };
}

/** What every index of memories does. @param open a new, empty one that holds so many memories at most */
export function describeMemory(name: string, open: (most: number) => Promise<MemoryIndex>): void {
  describe(name, () => {
    it("[MEMORY-1] keeps memories with all that belongs to them, the latest first, until they are removed", async () => {
      const index = await open(10);
      expect(await index.list({ limit: 10, cursor: null })).toEqual({ data: [], next: null });
      const first = await index.upsert(memory("a", "Likes tea.", "episodic"));
      expect(first).toMatchObject({ id: "a", kind: "episodic", content: "Likes tea.", origin });
      expect(first.createdAt).toBe(first.updatedAt);
      await index.upsert(memory("b", "Lives in Bonn."));
      await index.upsert(memory("c", "Knows Rust."));
      const again = await index.upsert({
        ...memory("a", "Likes coffee."),
        origin: { session: "s2", seq: 1 },
      });
      expect(again).toMatchObject({
        createdAt: first.createdAt,
        kind: "semantic",
        origin: { session: "s2", seq: 1 },
      });
      const page = await index.list({ limit: 2, cursor: null });
      expect(page.data.map(({ id }) => id)).toEqual(["a", "c"]);
      expect(await index.list({ limit: 2, cursor: page.next })).toMatchObject({
        data: [{ id: "b" }],
        next: null,
      });
      expect(await index.search("tea")).toEqual([]);
      expect(await index.search("coffee")).toEqual([again]);
      expect([await index.remove("a"), await index.remove("a")]).toEqual([true, false]);
      expect(await index.search("coffee")).toEqual([]);
      await expect(index.list({ limit: 1, cursor: "x" })).rejects.toMatchObject({ code: "invalid_request" });
    });

    it("[MEMORY-2] is full at its bound, where what is kept can still be replaced", async () => {
      const index = await open(2);
      await index.upsert(memory("a", "one"));
      await index.upsert(memory("b", "two"));
      await expect(index.upsert(memory("c", "three"))).rejects.toMatchObject({
        code: "memory_full",
        details: { limit: "memories", value: 2 },
      });
      await index.upsert(memory("a", "four"));
      await index.remove("b");
      await index.upsert(memory("c", "three"));
      expect((await index.list({ limit: 5, cursor: null })).data.map(({ content }) => content)).toEqual([
        "three",
        "four",
      ]);
    });

    it.each([
      ["a blank text", "a", " \n"],
      ["a text that is too long", "a", "x".repeat(DEFAULT_LIMITS.memoryChars + 1)],
      ["half of a character", "a", "x\ud800"],
      ["an empty id", "", "x"],
      ["an id with a slash", "a/b", "x"],
      ["a long id", "a".repeat(65), "x"],
    ])("[MEMORY-2] refuses %s", async (_what, id, content) => {
      const index = await open(2);
      await expect(index.upsert(memory(id, content))).rejects.toMatchObject({ code: "invalid_request" });
      expect((await index.list({ limit: 5, cursor: null })).data).toEqual([]);
    });

    it("[MEMORY-3] finds words of every script", async () => {
      const index = await open(20);
      const texts = [
        "Он живёт в Москве",
        "اسمُهُ أَحمَد",
        "用户喜欢深色模式",
        "コーヒーが好き",
        "Café in Zürich",
        "서울에 산다",
        "ชอบกาแฟ",
      ];
      for (const [at, text] of texts.entries()) await index.upsert(memory(`m${at}`, text));
      const queries = ["МОСКВЕ", "احمد", "深色", "ｺｰﾋｰ", "zurich cafe", "서울", "กาแฟ"];
      for (const [at, query] of queries.entries()) {
        expect([query, (await index.search(query)).map(({ id }) => id)]).toEqual([query, [`m${at}`]]);
      }
    });

    it("[MEMORY-4] takes nothing of a query for more than words", async () => {
      const index = await open(5);
      await index.upsert(memory("a", 'say "near" and not OR'));
      for (const query of [
        '"',
        "near(",
        "a AND",
        'x" OR "near',
        "words:near",
        "*",
        "-",
        "^near",
        "",
        "' OR 1=1 --",
      ]) {
        expect([query, (await index.search(query)).length]).toEqual([
          query,
          /near|and|or/i.test(query) ? 1 : 0,
        ]);
      }
    });

    it("[MEMORY-4] ranks by how rare words are and how short texts, of the kinds that are asked for", async () => {
      const word = fc.constantFrom("tea", "milk", "sugar", "чай", "深色模式", "café", "rare", "common");
      const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
      const kind = fc.constantFrom<MemoryKind[]>("episodic", "semantic", "procedural");
      const step = fc.record({
        id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
        text,
        kind,
        removes: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 10 }), text, kind, async (steps, query, only) => {
          const index = await open(6);
          let known: { id: string; text: string; kind: MemoryKind }[] = [];
          for (const { id, removes, ...rest } of steps) {
            known = known.filter((other) => other.id !== id);
            if (removes) await index.remove(id);
            else {
              known.unshift({ id, ...rest });
              await index.upsert(memory(id, rest.text, rest.kind));
            }
          }
          const ranked = rank(known, (one) => one.text, query).map(({ item }) => item);
          expect((await index.search(query, { limit: 20 })).map(({ id }) => id)).toEqual(
            ranked.map(({ id }) => id),
          );
          const ofKind = ranked.filter((one) => one.kind === only).slice(0, 2);
          const found = await index.search(query, { limit: 2, kinds: [only] });
          expect(found.map(({ id }) => id)).toEqual(ofKind.map(({ id }) => id));
        }),
        { numRuns: 40 },
      );
    });
  });
}
