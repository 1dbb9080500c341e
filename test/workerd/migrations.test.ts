import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { hasSchema, migrate } from "../../src/durable/migrations.ts";
import type { Migration } from "../../src/durable/migrations.ts";
import { WORKSPACE_MIGRATIONS } from "../../src/durable/workspace-migrations.ts";

const STEPS: Migration[] = [
  (sql) => sql.exec("CREATE TABLE fruit (name TEXT PRIMARY KEY) WITHOUT ROWID"),
  (sql) => {
    sql.exec("ALTER TABLE fruit ADD COLUMN colour TEXT");
    sql.exec("UPDATE fruit SET colour = 'green'");
  },
];

let objects = 0;

/** The storage of an object that nothing has used yet. */
async function inStorage(test: (storage: DurableObjectStorage) => void): Promise<void> {
  objects += 1;
  const stub = env.WORKSPACE.getByName(`migrations:${objects}`);
  await runInDurableObject(stub, (_object, state) => test(state.storage));
}

function tables(sql: SqlStorage): unknown[] {
  return sql.exec("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").toArray();
}

describe("migrations", () => {
  it("[STORE-1] looking for a schema makes none", async () => {
    await inStorage(({ sql }) => {
      expect(hasSchema(sql)).toBe(false);
      expect(tables(sql)).toEqual([]);
    });
  });

  it("[STORE-2] each step runs once, in order, and keeps the data", async () => {
    await inStorage((storage) => {
      migrate(storage, STEPS.slice(0, 1));
      storage.sql.exec("INSERT INTO fruit (name) VALUES ('lime')");
      migrate(storage, STEPS);
      migrate(storage, STEPS);
      expect(storage.sql.exec("SELECT * FROM fruit").toArray()).toEqual([{ name: "lime", colour: "green" }]);
      expect(storage.sql.exec("SELECT id FROM migrations").toArray()).toEqual([{ id: 1 }, { id: 2 }]);
    });
  });

  it("[STORE-2] a workspace whose texts were whole has none of them indexed any more", async () => {
    await inStorage((storage) => {
      const { sql } = storage;
      migrate(storage, WORKSPACE_MIGRATIONS.slice(0, 3));
      sql.exec("INSERT INTO texts (id, body) VALUES (1, 'needle'), (2, 'first half'), (3, 'second half')");
      sql.exec("INSERT INTO text_trigrams (rowid, body) VALUES (1, 'needle')");
      const columns = "(sha256, size, object, text, text_rows)";
      sql.exec(
        `INSERT INTO blobs ${columns} VALUES ('a', 1, 'x', 1, 1), ('b', 2, 'y', 2, 2), ('c', 3, 'z', 0, 0)`,
      );
      migrate(storage, WORKSPACE_MIGRATIONS);
      expect(sql.exec("SELECT sha256, size, object, text, text_rows FROM blobs").toArray()).toEqual([
        { sha256: "a", size: 1, object: "x", text: null, text_rows: 0 },
        { sha256: "b", size: 2, object: "y", text: null, text_rows: 0 },
        { sha256: "c", size: 3, object: "z", text: null, text_rows: 0 },
      ]);
      expect(sql.exec("SELECT * FROM texts").toArray()).toEqual([]);
      const hits = "SELECT rowid FROM text_trigrams WHERE text_trigrams MATCH ?";
      expect(sql.exec(hits, '"nee"').toArray()).toEqual([]);
    });
  });

  it("[STORE-2] a failing step leaves the schema that was there", async () => {
    await inStorage((storage) => {
      migrate(storage, STEPS.slice(0, 1));
      storage.sql.exec("INSERT INTO fruit (name) VALUES ('lime')");
      const failing: Migration = (sql) => {
        sql.exec("DELETE FROM fruit");
        throw new Error("dies half-way");
      };
      expect(() => migrate(storage, [...STEPS, failing])).toThrow("dies half-way");
      expect(storage.sql.exec("SELECT * FROM fruit").toArray()).toEqual([{ name: "lime" }]);
      migrate(storage, STEPS);
      expect(storage.sql.exec("SELECT * FROM fruit").toArray()).toEqual([{ name: "lime", colour: "green" }]);
    });
  });

  it("[STORE-2] storage of a later version is left alone", async () => {
    await inStorage((storage) => {
      migrate(storage, STEPS);
      expect(() => migrate(storage, STEPS.slice(0, 1))).toThrow(
        expect.objectContaining({ code: "unavailable" }),
      );
      expect(storage.sql.exec("SELECT id FROM migrations").toArray()).toEqual([{ id: 1 }, { id: 2 }]);
    });
  });
});
