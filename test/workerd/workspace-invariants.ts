import { expect } from "vitest";
import { sha256Hex } from "../../src/runtime/protocol/sha256.ts";
import { rowsOf } from "../../src/durable/text-store.ts";
import { readableText } from "../../src/runtime/workspace/text-file.ts";
import type { Rig } from "./workspace-rig.ts";

/** What must hold of a workspace's tables and objects at any time, whatever died on the way. */
export async function checkInvariants(rig: Rig): Promise<void> {
  const {
    storage: { sql },
    bucket,
    prefix,
  } = rig;
  const rows = (query: string) => sql.exec(query).toArray();
  const columns = "branch, path, version, sha256, size, modified_at";

  // The heads are the last rows of the manifest.
  const last = `SELECT ${columns} FROM manifest m WHERE version =
    (SELECT max(version) FROM manifest WHERE branch = m.branch AND path = m.path) ORDER BY branch, path`;
  expect(rows(`SELECT ${columns} FROM heads ORDER BY branch, path`)).toEqual(rows(last));

  // The last version of each branch says what its files come to, where the branch has no ancestors.
  for (const { branch, files, bytes } of rows(`SELECT branch, files, bytes FROM versions v
    WHERE branch IN (SELECT name FROM branches WHERE whole = 1)
    AND version = (SELECT max(version) FROM versions WHERE branch = v.branch)`)) {
    const query = `SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes FROM heads
      WHERE branch = ? AND sha256 IS NOT NULL`;
    expect(sql.exec(query, branch ?? "").one()).toEqual({ files, bytes });
  }

  // Every version number was given once, without a gap.
  const versions = rows("SELECT version FROM versions ORDER BY version").map((row) => row["version"]);
  expect(versions).toEqual(versions.map((_version, index) => index + 1));

  // Every content that is named lies in R2, whole.
  const missing = "SELECT sha256 FROM manifest WHERE sha256 NOT IN (SELECT sha256 FROM blobs)";
  expect(rows(missing)).toEqual([]);
  const contents = new Map<string, Uint8Array>();
  for (const { sha256, size, object } of blobRows(sql)) {
    const stored = await bucket.get(prefix + object);
    const bytes = new Uint8Array((await stored?.arrayBuffer()) ?? new ArrayBuffer(0));
    expect({ size: bytes.length, sha256: await sha256Hex(bytes) }).toEqual({ size, sha256 });
    contents.set(sha256, bytes);
  }
  checkIndex(rig, contents);
}

/** The index holds texts of contents that some branch's head names, each as it is, and nothing else. */
function checkIndex({ storage: { sql }, restart }: Rig, contents: ReadonlyMap<string, Uint8Array>): void {
  const { store, reader } = restart();
  const named = new Set(
    store.branches.names().flatMap((branch) =>
      reader
        .view({ branch })
        .files("")
        .map(({ sha256 }) => sha256),
    ),
  );
  const ids: number[] = [];
  const withTrigrams: number[] = [];
  for (const [sha256, bytes] of contents) {
    const text = store.blobs.find(sha256)?.text ?? null;
    if (text === null) continue;
    const readable = readableText(bytes);
    expect(text === "binary" ? null : store.texts.read(text)).toBe(readable);
    if (text === "binary") continue;
    expect([...named]).toContain(sha256);
    ids.push(...rowsOf(text));
    if (text.indexed) withTrigrams.push(...rowsOf(text));
  }
  const texts = sql.exec<{ id: number }>("SELECT id FROM texts ORDER BY id").toArray();
  expect(texts.map(({ id }) => id)).toEqual(ids.toSorted((a, b) => a - b));
  const trigrams = sql.exec<{ id: number }>("SELECT rowid AS id FROM text_trigrams ORDER BY rowid").toArray();
  expect(trigrams.map(({ id }) => id)).toEqual(withTrigrams.toSorted((a, b) => a - b));
}

/** Objects in R2 that no row names. */
export async function orphans({ storage: { sql }, bucket, prefix }: Rig): Promise<number> {
  const named = new Set(blobRows(sql).map(({ object }) => prefix + object));
  const { objects } = await bucket.list({ prefix });
  return objects.filter(({ key }) => !named.has(key)).length;
}

function blobRows(sql: SqlStorage): { sha256: string; size: number; object: string }[] {
  const query = "SELECT sha256, size, object FROM blobs";
  return sql.exec<{ sha256: string; size: number; object: string }>(query).toArray();
}
