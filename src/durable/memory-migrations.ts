import type { Migration } from "./migrations.ts";

/**
 * The schema of a Memory object. `memory_words` holds the words of each memory, by its number: not the text but what
 * words.ts makes of it, so that FTS5 has only to cut at spaces, and finds words of every script. It keeps them, since
 * without them a deleted memory would go on counting in how rare a word is and how long a text. The unique index over
 * ids costs a second row when a memory is kept.
 */
export const MEMORY_MIGRATIONS: readonly Migration[] = [
  (sql) => {
    sql.exec(`
      CREATE TABLE memories (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        content TEXT NOT NULL,
        session TEXT NOT NULL,
        seq INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      );
      CREATE VIRTUAL TABLE memory_words USING fts5(
        words, tokenize='ascii'
      );
    `);
  },
];
