import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";

type Exec = SqlStorage["exec"];

const WRITES = /^\s*(INSERT|UPDATE|DELETE)\b/i;

/** Statements of one object that fail when a test says so, as a full disk makes them fail. */
export class SqlFaults {
  /** Writing statements so far, those that failed included. */
  writes = 0;
  /** Statements that failed. */
  failed = 0;
  /** Whether a statement fails; `write` counts the writing ones from 1. */
  fails: (query: string, write: number) => boolean = () => false;

  /** Puts itself between the object's present instance and its storage. */
  static async of(stub: DurableObjectStub): Promise<SqlFaults> {
    const faults = new SqlFaults();
    await runInDurableObject(stub, (_object, { storage: { sql } }) => {
      const exec = sql.exec.bind(sql) as Exec;
      const value = (...args: Parameters<Exec>) => {
        if (WRITES.test(args[0])) faults.#check(args[0]);
        return exec(...args);
      };
      Object.defineProperty(sql, "exec", { configurable: true, value });
    });
    return faults;
  }

  #check(query: string): void {
    this.writes += 1;
    if (!this.fails(query, this.writes)) return;
    this.failed += 1;
    throw new Error("database or disk is full: SQLITE_FULL");
  }
}

/** When the object's alarm is due, in ms since the epoch; null without one. */
export function alarmOf(stub: DurableObjectStub): Promise<number | null> {
  return runInDurableObject(stub, (_object, { storage }) => storage.getAlarm());
}

/** Kills every object's instance in the middle of what it does. The alarm of this one is lost, too. */
export async function dieWithoutAlarm(stub: DurableObjectStub): Promise<void> {
  await runInDurableObject(stub, (_object, { storage }) => storage.deleteAlarm());
  await abortAllDurableObjects();
}

/** A value of the Session object's table `meta`. */
export async function metaOf<T>(stub: DurableObjectStub, key: string): Promise<T | undefined> {
  const query = "SELECT value FROM meta WHERE key = ?";
  const rows = await runInDurableObject(stub, (_object, { storage }) =>
    storage.sql.exec<{ value: string }>(query, key).toArray(),
  );
  return rows[0] && (JSON.parse(rows[0].value) as T);
}
