import { abortAllDurableObjects, runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Workspace } from "../../src/durable/workspace.ts";
import type { SessionState } from "../../src/runtime/protocol/frames.ts";
import { Product, TestSession, freshName } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";
import {
  checkedLog,
  checkpoints,
  ends,
  failStatements,
  filesOf,
  lastConversation,
  metaOf,
  restore,
  rowsOf,
  runTurn,
  writes,
} from "./time-travel.ts";

const WAIT = { timeout: 15_000 };

/** What comes back when a workspace fails. */
const NO_ANSWER = { ok: false, error: { code: "unavailable", message: "Not now." } } as const;

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});
afterEach(() => vi.restoreAllMocks());

async function threeTurns(): Promise<{ session: TestSession; stops: number[] }> {
  const replies = [1, 2, 3].flatMap((turn) => writes({ a: `${turn}`, [`f${turn}`]: "x" }, `reply ${turn}`));
  const more = [4, 5, 6, 7].map((turn) => ({ text: [`reply ${turn}`] }));
  const session = await product.session([...replies, ...more]);
  for (const turn of [1, 2, 3]) await runTurn(session, turn);
  return { session, stops: ends(await session.log()) };
}

const fork = (session: TestSession, body: Record<string, unknown> = {}) =>
  product.call<SessionState & { error?: { code: string } }>("POST", `${session.path}/fork`, body);

/** The fork as a session of tests; its model is its parent's. */
async function forked(session: TestSession, body: Record<string, unknown> = {}): Promise<TestSession> {
  const answer = await fork(session, { id: freshName("fork"), ...body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return new TestSession(product, answer.body.id, session.model);
}

async function sessionIds(): Promise<string[]> {
  const { body } = await product.call<{ data: { id: string }[] }>("GET", "/v1/sessions?limit=200");
  return body.data.map(({ id }) => id);
}

describe("a fork", () => {
  it("[TIME-20] begins as the session was at any of its turns, in a log and on a branch of its own", async () => {
    const { session, stops } = await threeTurns();
    const log = await session.log();
    const { body: parent } = await product.call<SessionState>("GET", session.path);
    const files: Record<string, string>[] = [{}, { a: "1", f1: "x" }, { a: "2", f1: "x", f2: "x" }];
    for (const [turn, expected] of files.entries()) {
      const id = freshName("fork");
      const answer = await fork(session, { id, atSeq: stops[turn], title: `at ${turn}` });
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({
        id,
        title: `at ${turn}`,
        agent: parent.agent,
        agentVersion: parent.agentVersion,
        workspace: session.id,
        branch: id,
        status: "idle",
        turn,
        head: stops[turn],
      });
      expect(answer.body.logId).not.toBe(parent.logId);
      const copy = new TestSession(product, id, session.model);
      expect(await checkedLog(copy)).toEqual(log.slice(0, stops[turn]));
      expect(await checkpoints(copy)).toEqual((await checkpoints(session)).slice(3 - turn));
      expect(await filesOf(product, session.id, id)).toEqual(expected);
    }
    expect(await session.log()).toEqual(log);
    expect(parent).not.toHaveProperty("branch");
  });

  it("[TIME-21] goes its own way: the model is given the conversation up to there, neither sees the other's files", async () => {
    const { session, stops } = await threeTurns();
    const copy = await forked(session, { atSeq: stops[2] });
    await runTurn(copy, 3, "prompt of the fork");
    expect(await lastConversation(session.model)).toEqual([
      "prompt 1",
      "reply 1",
      "prompt 2",
      "reply 2",
      "prompt of the fork",
    ]);
    await runTurn(session, 4);
    expect((await lastConversation(session.model)).slice(-3)).toEqual(["prompt 3", "reply 3", "prompt 4"]);
    await product.fetch(`/v1/workspaces/${session.id}/files/a`, { method: "PUT", body: "main" });
    await product.fetch(`/v1/workspaces/${session.id}/files/a?branch=${copy.id}`, {
      method: "PUT",
      body: "side",
    });
    expect(await filesOf(product, session.id)).toEqual({ a: "main", f1: "x", f2: "x", f3: "x" });
    expect(await filesOf(product, session.id, copy.id)).toEqual({ a: "side", f1: "x", f2: "x" });
    const log = await checkedLog(copy);
    expect(log.at(-1)).toMatchObject({ type: "agent_stop", turn: 3, reason: "stop" });
    expect((await checkedLog(session)).at(-1)).toMatchObject({ turn: 4 });
  });

  it("[TIME-21] writes with its tools to its own branch", async () => {
    const session = await product.session([...writes({ a: "1" }), ...writes({ a: "fork" })]);
    await runTurn(session, 1);
    const copy = await forked(session);
    await runTurn(copy, 2);
    expect(await filesOf(product, session.id)).toEqual({ a: "1" });
    expect(await filesOf(product, session.id, copy.id)).toEqual({ a: "fork" });
    expect((await checkpoints(copy))[0]).toMatchObject({ turn: 2, workspaceVersion: 1 });
  });

  it("[TIME-22] begins where the session stands when it is not told otherwise, or before the turn that runs", async () => {
    const { session, stops } = await threeTurns();
    await restore(session, { toSeq: stops[1] });
    const restored = await forked(session);
    expect(await checkedLog(restored)).toEqual(await session.log());
    expect(await filesOf(product, session.id, restored.id)).toEqual({ a: "1", f1: "x" });
    await runTurn(restored, 4);
    expect(await lastConversation(session.model)).toEqual(["prompt 1", "reply 1", "prompt 4"]);
    // At an explicit point the restore has not happened.
    const earlier = await forked(session, { atSeq: stops[3] });
    expect(await checkedLog(earlier)).toEqual((await session.log()).slice(0, stops[3]));
    expect(await filesOf(product, session.id, earlier.id)).toMatchObject({ a: "3", f3: "x" });

    const running = await product.session([
      ...writes({ a: "1" }),
      writes({ a: "2" })[0] ?? {},
      { text: ["x"], ending: "hang" },
      { text: ["reply of the fork"] },
    ]);
    const log = await runTurn(running, 1);
    await running.prompt("hang");
    await expect.poll(async () => (await modelRequests(running.model)).length, WAIT).toBe(4);
    await running.prompt("waits");
    const copy = await forked(running);
    const { body } = await product.call<SessionState>("GET", copy.path);
    expect(body).toMatchObject({
      status: "idle",
      queued: 0,
      head: log.length,
      turn: 1,
      usage: { input: 0, output: 0 },
    });
    expect(await filesOf(product, running.id, copy.id)).toEqual({ a: "1" });
    await runTurn(copy, 2);
    const after = await product.call<SessionState>("GET", copy.path);
    expect(after.body.usage).toMatchObject({ input: 10, output: 5 });
    await product.call("POST", `${running.path}/interrupt`, { clearQueue: true });
    await running.ended(2);
  });

  it("[TIME-23] knows the prompts of its past, the dropped ones too, and none that came later", async () => {
    const session = await product.session([
      { text: ["x"], ending: "hang" },
      { text: ["again"] },
      { text: ["of the fork"] },
    ]);
    await session.prompt({ text: "one", promptId: "p1" });
    await session.prompt({ text: "two", promptId: "p2" });
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(1);
    await product.call("POST", `${session.path}/interrupt`, { clearQueue: true });
    await session.ended(1);
    await session.prompt({ text: "three", promptId: "p3" });
    const log = await session.ended(2);
    const copy = await forked(session, { atSeq: ends(log)[1] });
    expect((await copy.prompt({ text: "one", promptId: "p1" })).status).toBe(202);
    expect((await copy.prompt({ text: "two", promptId: "p2" })).status).toBe(202);
    expect((await copy.prompt({ text: "else", promptId: "p2" })).status).toBe(409);
    expect(await copy.log()).toEqual(log.slice(0, ends(log)[1]));
    expect((await copy.prompt({ text: "three", promptId: "p3" })).body).toMatchObject({ status: "running" });
    await copy.ended(2);
    await checkedLog(copy);
  });

  it("[TIME-24] can be forked, and goes back to before it was a fork", async () => {
    const { session, stops } = await threeTurns();
    const first = await forked(session, { atSeq: stops[2] });
    await runTurn(first, 3, "of the first");
    const second = await forked(first);
    const log = await checkedLog(second);
    expect(log).toEqual(await first.log());
    expect(await filesOf(product, session.id, second.id)).toEqual({ a: "2", f1: "x", f2: "x" });
    const { body } = await restore(second, { toSeq: stops[1] });
    expect(body).toMatchObject({ skipped: [], workspaceVersion: 7 });
    expect(await filesOf(product, session.id, second.id)).toEqual({ a: "1", f1: "x" });
    await runTurn(second, 4, "of the second");
    expect(await lastConversation(session.model)).toEqual(["prompt 1", "reply 1", "of the second"]);
    expect(await filesOf(product, session.id, first.id)).toEqual({ a: "2", f1: "x", f2: "x" });
    expect(await filesOf(product, session.id)).toMatchObject({ a: "3" });
    await checkedLog(second);
  });

  it("[TIME-25] is repeated with its key, refused under a taken id, and made of nothing that is no point", async () => {
    const { session, stops } = await threeTurns();
    const before = await sessionIds();
    const send = async (
      key: string,
      body: unknown,
    ): Promise<{ status: number; body: Record<string, unknown> }> => {
      const headers = { "idempotency-key": key, "content-type": "application/json" };
      const response = await product.fetch(`${session.path}/fork`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    };
    for (const atSeq of [1, (stops[1] ?? 0) - 1, 1e9]) {
      expect(await fork(session, { atSeq })).toMatchObject({
        status: 400,
        body: { error: { code: "invalid_request" } },
      });
    }
    expect((await fork(session, { atSeq: -1 })).status).toBe(400);
    expect(await sessionIds()).toEqual(before);
    const key = freshName("key");
    const first = await send(key, {});
    expect(first.status).toBe(201);
    await runTurn(session, 4);
    expect(await send(key, {})).toEqual(first);
    expect(await send(key, { atSeq: 0 })).toMatchObject({
      status: 409,
      body: { error: { code: "idempotency_mismatch" } },
    });
    const taken = await fork(session, { id: String(first.body["id"]) });
    expect(taken).toMatchObject({ status: 409, body: { error: { code: "id_taken" } } });
    expect(await fork(session, { id: session.id })).toMatchObject({ status: 409 });
    expect((await sessionIds()).length).toBe(before.length + 1);
    expect((await product.call("POST", "/v1/sessions/nobody/fork", {})).status).toBe(404);
  });

  it("[TIME-25] stands in the tenant's list as far as it reaches", async () => {
    const { session, stops } = await threeTurns();
    const copy = await forked(session, { atSeq: stops[2] });
    await expect
      .poll(async () => {
        const { body } = await product.call<{ data: { id: string; head: number }[] }>("GET", "/v1/sessions");
        return body.data.find(({ id }) => id === copy.id)?.head;
      }, WAIT)
      .toBe(stops[2]);
  });

  it("[CONTEXT-11] shows a long result again part by part, as its parent does", async () => {
    const recall = (args: Record<string, unknown>) => ({ name: "recall_indexed", args });
    const session = await product.session([
      { calls: [{ name: "read_file", args: { path: "long.txt" } }] },
      { calls: [recall({ id: "call_1_1_0", offset: 60_000 }), recall({ id: "call_1_1_0", offset: 80_000 })] },
      { text: ["ok"] },
      { calls: [recall({ id: "call_1_1_0", offset: 60_000 })] },
      { text: ["ok"] },
    ]);
    const content = Array.from({ length: 2_000 }, (_, line) => `${line} ${"x".repeat(40)}`).join("\n");
    const path = `/v1/workspaces/${session.id}/files/long.txt`;
    expect((await product.fetch(path, { method: "PUT", body: content })).status).toBeLessThan(300);
    await session.prompt("read it");
    const log = await session.ended();
    const results = log.filter((event) => event.type === "tool_result");
    const [whole, ...parts] = results;
    if (!whole?.artifact) throw new Error("no artifact");
    const text = await (await product.fetch(`${session.path}/artifacts/${whole.artifact.ref}`)).text();
    const shown = parts.map((part) => part.content.slice(part.content.indexOf("[content]\n") + 10));
    expect(shown[0]).toBe(text.slice(60_000, 80_000));
    expect(shown.join("")).toBe(text.slice(60_000, 100_000));
    expect(parts.map((part) => part.artifact)).toEqual([undefined, undefined]);
    const copy = await forked(session);
    await copy.prompt("again");
    const [again] = (await copy.ended(2)).filter((event) => event.type === "tool_result" && event.turn === 2);
    expect(again).toMatchObject({
      isError: false,
      content: expect.stringContaining(text.slice(60_000, 80_000)),
    });
  });
});

describe("a fork that dies half-way", () => {
  /** A session whose past does not fit into one page. */
  async function longPast(): Promise<TestSession> {
    const session = await product.session([1, 2, 3, 4, 5].map((turn) => ({ text: [`reply ${turn}`] })));
    for (const turn of [1, 2, 3, 4]) await runTurn(session, turn, `${turn} ${"x".repeat(200_000)}`);
    return session;
  }

  it.each([
    ["before its first page", "INSERT INTO log", 1, 0],
    ["between two pages", "INSERT INTO log", 6, 4],
    ["among its turns", "INSERT INTO turns", 2, 4],
    ["with its last page", "DELETE FROM meta", 1, 4],
  ])(
    "[TIME-26] %s is not there until it is complete, and becomes so on the next wake",
    async (_when, statement, nth, rows) => {
      const session = await longPast();
      const id = freshName("fork");
      const copy = new TestSession(product, id, session.model);
      await failStatements(copy.stub, statement, nth);
      const answer = await fork(session, { id });
      expect(answer).toMatchObject({ status: 503, body: { error: { code: "unavailable" } } });
      expect((await copy.prompt("too early")).status).toBe(503);
      expect((await product.call("GET", `${copy.path}/events`)).status).toBe(503);
      expect(await metaOf(copy.stub)).toMatchObject({ forking: { session: session.id } });
      expect(await rowsOf(copy.stub, "log")).toBe(rows);
      await abortAllDurableObjects();
      const [state, again] = await Promise.all([
        product.call<SessionState>("GET", copy.path),
        product.call<SessionState>("GET", copy.path),
      ]);
      expect(state.body).toMatchObject({ status: "idle", turn: 4, branch: id });
      expect(again.body).toEqual(state.body);
      expect(await checkedLog(copy)).toEqual(await session.log());
      expect((await checkpoints(copy)).length).toBe(4);
      expect(await metaOf(copy.stub)).not.toHaveProperty("forking");
      await runTurn(copy, 5);
      await checkedLog(copy);
    },
  );

  it("[TIME-26] is completed by its alarm when nobody comes, and by the same request again", async () => {
    const session = await longPast();
    const [one, two] = [freshName("fork"), freshName("fork")];
    for (const id of [one, two]) {
      await failStatements(new TestSession(product, id, session.model).stub, "INSERT INTO log", 3);
    }
    const headers = { "idempotency-key": "again", "content-type": "application/json" };
    const send = () =>
      product.fetch(`${session.path}/fork`, { method: "POST", headers, body: JSON.stringify({ id: two }) });
    expect((await fork(session, { id: one })).status).toBe(503);
    expect((await send()).status).toBe(503);
    await abortAllDurableObjects();
    const copy = new TestSession(product, one, session.model);
    expect(await runDurableObjectAlarm(copy.stub)).toBe(true);
    expect(await metaOf(copy.stub)).not.toHaveProperty("forking");
    expect((await send()).status).toBe(201);
    for (const id of [one, two]) {
      expect(await checkedLog(new TestSession(product, id, session.model))).toEqual(await session.log());
    }
  });

  it("[TIME-26] after its branch was made has that branch, however the workspace has changed since", async () => {
    const { session } = await threeTurns();
    const original = Reflect.get(Workspace.prototype, "fork") as Workspace["fork"];
    vi.spyOn(Workspace.prototype, "fork").mockImplementationOnce(async function (this: Workspace, ...args) {
      await original.apply(this, args);
      return NO_ANSWER;
    });
    const id = freshName("fork");
    expect((await fork(session, { id })).status).toBe(503);
    await product.fetch(`/v1/workspaces/${session.id}/files/late`, { method: "PUT", body: "x" });
    await abortAllDurableObjects();
    expect((await product.call("GET", `/v1/sessions/${id}`)).status).toBe(200);
    expect(await filesOf(product, session.id, id)).toEqual({ a: "3", f1: "x", f2: "x", f3: "x" });
  });

  it("[TIME-27] is deleted when it can never be complete, and stands in no list", async () => {
    const { session } = await threeTurns();
    const error = {
      code: "workspace_full",
      message: "The workspace holds as many branches as it may.",
    } as const;
    vi.spyOn(Workspace.prototype, "fork").mockResolvedValueOnce({ ok: false, error });
    const id = freshName("fork");
    expect(await fork(session, { id })).toMatchObject({
      status: 409,
      body: { error: { code: "workspace_full" } },
    });
    expect((await product.call("GET", `/v1/sessions/${id}`)).status).toBe(404);
    expect(await sessionIds()).not.toContain(id);
    expect(await fork(session, { id })).toMatchObject({ status: 409, body: { error: { code: "id_taken" } } });

    const orphan = freshName("fork");
    await failStatements(new TestSession(product, orphan, session.model).stub, "INSERT INTO log", 1);
    expect((await fork(session, { id: orphan })).status).toBe(503);
    await abortAllDurableObjects();
    // What a fork needs of its parent is there also when that is deleted.
    expect((await product.call("DELETE", session.path)).status).toBe(202);
    const now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => now + 31_000);
    await runDurableObjectAlarm(session.stub);
    expect((await product.call("GET", `/v1/sessions/${orphan}`)).body).toMatchObject({ turn: 3 });
  });
});
