import { runInDurableObject } from "cloudflare:test";

type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>;

/** The rows that an object writes in SQLite while some work is done: what the platform bills. */
export async function billedRows(stub: DurableObjectStub, work: () => Promise<unknown>): Promise<number> {
  const cursors: Cursor[] = [];
  await runInDurableObject(stub, (_instance, state) => {
    const { sql } = state.storage;
    const exec = sql.exec.bind(sql);
    const value = (...args: Parameters<typeof exec>): Cursor => {
      const cursor = exec(...args);
      cursors.push(cursor);
      return cursor;
    };
    Object.defineProperty(sql, "exec", { configurable: true, value });
  });
  await work();
  // Cursors belong to their object, so they are read inside it.
  return runInDurableObject(stub, () => cursors.reduce((sum, cursor) => sum + cursor.rowsWritten, 0));
}
