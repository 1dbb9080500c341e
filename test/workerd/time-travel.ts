import { runInDurableObject } from "cloudflare:test";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import type { Reply } from "./model-replies.ts";
import type { Product, TestSession } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";

export interface Listed {
  turn: number;
  seq: number;
  at: number;
  preview: string;
  workspaceVersion: number | null;
}

/** A turn that writes some files, and then says so. */
export function writes(files: Record<string, string>, says = "done"): Reply[] {
  const calls = Object.entries(files).map(([path, content]) => ({
    name: "write_file",
    args: { path, content, _intent: "to write" },
  }));
  return [{ calls }, { text: [says] }];
}

/** Prompts, and answers with the log once the turn is over. */
export async function runTurn(
  session: TestSession,
  turn: number,
  text = `prompt ${turn}`,
): Promise<DurableEvent[]> {
  const { status, body } = await session.prompt(text);
  if (status !== 202) throw new Error(JSON.stringify(body));
  return session.ended(turn);
}

/** The `seq` of the end of each turn; 0 stands before the first. */
export function ends(log: readonly DurableEvent[]): number[] {
  return [0, ...log.filter(({ type }) => type === "agent_stop").map(({ seq }) => seq)];
}

/** The log, which has passed the grammar checker. */
export async function checkedLog(session: TestSession): Promise<DurableEvent[]> {
  const log = await session.log();
  const violations = checkLog(log);
  if (violations.length > 0) throw new Error(JSON.stringify(violations));
  return log;
}

export const restores = (log: readonly DurableEvent[]): DurableEvent[] =>
  log.filter(({ type }) => type === "checkpoint_restore");

export function restore(
  session: TestSession,
  body: Record<string, unknown>,
): Promise<{ status: number; body: Record<string, unknown> }> {
  return session.product.call("POST", `${session.path}/restore`, body);
}

export async function checkpoints(session: TestSession): Promise<Listed[]> {
  const { body } = await session.product.call<{ data: Listed[] }>("GET", `${session.path}/checkpoints`);
  return body.data;
}

/** The texts of the files at the root of a branch. */
export async function filesOf(
  product: Product,
  workspace: string,
  branch = "main",
): Promise<Record<string, string>> {
  const path = `/v1/workspaces/${workspace}/files`;
  const { body } = await product.call<{ entries: { kind: string; path: string }[] }>(
    "GET",
    `${path}/?branch=${branch}`,
  );
  const found: Record<string, string> = {};
  for (const entry of body.entries) {
    const response = await product.fetch(`${path}/${entry.path}?branch=${branch}`);
    found[entry.path] = new TextDecoder().decode(await response.arrayBuffer());
  }
  return found;
}

/** What people and the assistant said in the last request that the model had, in order. */
export async function lastConversation(model: string): Promise<string[]> {
  const requests = await modelRequests(model);
  const last = requests.at(-1);
  if (!last) throw new Error("the model was not asked");
  const { messages } = last.body as { messages: { role: string; content: unknown }[] };
  return messages.flatMap(({ role, content }) => {
    if (role !== "user" && role !== "assistant") return [];
    const text = typeof content === "string" ? content : JSON.stringify(content ?? "");
    return text === '""' || text === "" ? [] : [text];
  });
}

/**
 * From the `nth` time on, statements that contain a text fail, as on a full disk, so often or until the object's memory
 * goes. An object that was never created can be prepared, too.
 */
export async function failStatements(
  stub: DurableObjectStub,
  text: string,
  nth = 1,
  times = Number.POSITIVE_INFINITY,
): Promise<void> {
  await runInDurableObject(stub, (_object, state) => {
    const { sql } = state.storage;
    const exec = sql.exec.bind(sql);
    let seen = 0;
    const value = (...args: Parameters<typeof exec>) => {
      if (args[0].includes(text)) seen += 1;
      const fails = args[0].includes(text) && seen >= nth && seen < nth + times;
      if (fails) throw new Error("database or disk is full: SQLITE_FULL");
      return exec(...args);
    };
    Object.defineProperty(sql, "exec", { configurable: true, value });
  });
}

/** The values of the table `meta` of an object, by key. */
export async function metaOf(stub: DurableObjectStub): Promise<Record<string, unknown>> {
  return runInDurableObject(stub, (_object, state) => {
    const rows = state.storage.sql
      .exec<{ key: string; value: string }>("SELECT key, value FROM meta")
      .toArray();
    return Object.fromEntries(rows.map(({ key, value }) => [key, JSON.parse(value) as unknown]));
  });
}

/** How many rows a table of an object has; -1 when there is no such table. */
export async function rowsOf(stub: DurableObjectStub, table: string): Promise<number> {
  return runInDurableObject(stub, (_object, { storage: { sql } }) => {
    const there = sql.exec("SELECT 1 FROM sqlite_schema WHERE name = ?", table).toArray().length > 0;
    return there ? sql.exec<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`).one().rows : -1;
  });
}

/** How many lines of the tenant's audit log say that this was done to the session. */
export async function audited({ id, product }: TestSession, done: string): Promise<number> {
  const { body } = await product.call<{ data: { action: string; target: string }[] }>(
    "GET",
    "/v1/audit?limit=200",
  );
  return body.data.filter(({ action, target }) => action === done && target === `session:${id}`).length;
}
