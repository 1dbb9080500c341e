import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { EMPTY_FOLD, foldSession } from "../../src/runtime/protocol/session-fold.ts";

/**
 * Puts a log into a new session of a product that does not run: thousands of turns in the time of one.
 * @param state The folder of what the product persists
 */
export function seedLog(state: string, session: string, turns: readonly (readonly DurableEvent[])[]): void {
  const database = databaseOf(state, session);
  const commit = database.prepare("INSERT INTO log (first_seq, last_seq, body) VALUES (?, ?, ?)");
  const row = database.prepare(
    "INSERT INTO turns (turn, first_seq, prompts, preview, status, fold, usage) VALUES (?, ?, '[]', ?, 'stop', ?, '[]')",
  );
  let fold = EMPTY_FOLD;
  database.exec("BEGIN");
  for (const events of turns) {
    const [first] = events;
    const last = events.at(-1);
    if (first?.type !== "input" || !last) throw new TypeError("A turn begins with its input.");
    fold = foldSession(events, fold);
    commit.run(first.seq, last.seq, JSON.stringify(events));
    row.run(first.turn, first.seq, `Prompt ${first.turn}`, JSON.stringify(fold));
  }
  database.exec("COMMIT");
  database.close();
}

/** The database of the Session object that has this session's settings. */
function databaseOf(state: string, session: string): DatabaseSync {
  const folder = join(state, "v3/do/light-agent-Session");
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!name.endsWith(".sqlite") || name.startsWith("metadata")) continue;
    const database = new DatabaseSync(join(folder, name));
    const { found } = database
      .prepare("SELECT count(*) AS found FROM meta WHERE instr(value, ?) > 0")
      .get(JSON.stringify(session)) as { found: number };
    if (found > 0) return database;
    database.close();
  }
  throw new Error(`There is no session ${session} in ${folder}.`);
}
