import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { hasSchema, migrate } from "../../src/durable/migrations.ts";
import type { Migration } from "../../src/durable/migrations.ts";

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
