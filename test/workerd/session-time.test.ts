import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Tenant } from "../../src/durable/tenant.ts";
import { Workspace } from "../../src/durable/workspace.ts";
import { checkStream } from "../../src/runtime/protocol/stream-grammar.ts";
import { Product } from "./product.ts";
import type { TestSession } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";
import {
  audited,
  checkedLog,
  checkpoints,
  ends,
  failStatements,
  filesOf,
  lastConversation,
  metaOf,
  restore,
  restores,
  runTurn,
  writes,
} from "./time-travel.ts";

const WAIT = { timeout: 15_000 };
const workspaceStub = ({ product, id }: TestSession) => env.WORKSPACE.getByName(`${product.tenant}:${id}`);

/** What comes back when a workspace fails. */
const NO_ANSWER = { ok: false, error: { code: "unavailable", message: "Not now." } } as const;

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});
afterEach(() => vi.restoreAllMocks());

/** A session with three turns, each of which wrote `a` and a file of its own; two replies more are there. */
async function threeTurns(): Promise<{ session: TestSession; stops: number[] }> {
  const replies = [1, 2, 3].flatMap((turn) => writes({ a: `${turn}`, [`f${turn}`]: "x" }, `reply ${turn}`));
  const session = await product.session([...replies, { text: ["reply 4"] }, { text: ["reply 5"] }]);
  for (const turn of [1, 2, 3]) await runTurn(session, turn);
  return { session, stops: ends(await session.log()) };
}

describe("the checkpoints of a session", () => {
  it("[TIME-1] are listed newest first, in parts, one before each turn", async () => {
    const { session, stops } = await threeTurns();
    const log = await session.log();
    const inputs = log.filter(({ type }) => type === "input");
    const all = await checkpoints(session);
    expect(all).toEqual(
      [3, 2, 1].map((turn) => ({
        turn,
        seq: stops[turn - 1],
        at: inputs[turn - 1]?.at,
        preview: `prompt ${turn}`,
        workspaceVersion: (turn - 1) * 2,
      })),
    );
    const path = `${session.path}/checkpoints`;
    const { body: first } = await product.call("GET", `${path}?limit=2`);
    expect(first).toEqual({ data: all.slice(0, 2), next: "2" });
    const { body: rest } = await product.call("GET", `${path}?limit=2&cursor=2`);
    expect(rest).toEqual({ data: all.slice(2), next: null });
  });

  it("[TIME-1] say of a turn that follows a restore where the conversation stood, not where the turn before ended", async () => {
    const { session, stops } = await threeTurns();
    await restore(session, { toSeq: stops[1] });
    await runTurn(session, 4);
    const [latest] = await checkpoints(session);
    expect(latest).toMatchObject({ turn: 4, seq: stops[1], workspaceVersion: 7 });
  });

  it("[TIME-1] keep the version from before a turn that had changed files when its process died", async () => {
    const session = await product.session([
      writes({ a: "1" })[0] ?? {},
      { text: ["lost"], ending: "hang" },
      { text: ["whole"] },
    ]);
    await session.prompt("go");
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(2);
    await abortAllDurableObjects();
    await session.ended();
    await session.prompt("more");
    expect((await checkpoints(session)).at(-1)).toMatchObject({ turn: 1, workspaceVersion: 0 });
  });
});

describe("a restore", () => {
  it("[TIME-2] makes the conversation what it was; seq, turns and usage go on, files stay", async () => {
    const { session, stops } = await threeTurns();
    const before = await product.call("GET", session.path);
    const answer = await restore(session, { toSeq: stops[1], files: false });
    const seq = (stops[3] ?? 0) + 1;
    const said = {
      type: "checkpoint_restore",
      seq,
      toSeq: stops[1],
      conversation: true,
      files: false,
      skipped: [],
    };
    expect(answer).toMatchObject({ status: 200, body: said });
    const { body: after } = await product.call("GET", session.path);
    expect(after).toMatchObject({ head: seq, turn: 3, status: "idle", usage: before.body["usage"] });
    await runTurn(session, 4);
    expect(await lastConversation(session.model)).toEqual(["prompt 1", "reply 1", "prompt 4"]);
    expect(await filesOf(product, session.id)).toMatchObject({ a: "3", f3: "x" });
    expect((await checkedLog(session)).at(-1)).toMatchObject({ turn: 4 });
    expect(await metaOf(session.stub)).not.toHaveProperty("restore");
  });

  it("[TIME-3] takes back files alone, as one version, when it is asked to", async () => {
    const { session, stops } = await threeTurns();
    const answer = await restore(session, { toSeq: stops[1], conversation: false });
    expect(answer.body).toMatchObject({ conversation: false, files: true, workspaceVersion: 7, skipped: [] });
    expect(await filesOf(product, session.id)).toEqual({ a: "1", f1: "x" });
    const { body } = await product.call<{ data: unknown[] }>(
      "GET",
      `/v1/workspaces/${session.id}/versions?limit=1`,
    );
    expect(body.data[0]).toMatchObject({
      version: 7,
      session: session.id,
      turn: 3,
      paths: ["a", "f2", "f3"],
    });
    await runTurn(session, 4);
    expect(await lastConversation(session.model)).toContain("reply 3");
  });

  it("[TIME-4] takes back both, brings back what an earlier restore had skipped, and undoes itself", async () => {
    const { session, stops } = await threeTurns();
    const states: [toSeq: number | undefined, files: Record<string, string>, said: string[]][] = [
      [stops[1], { a: "1", f1: "x" }, ["prompt 1", "reply 1"]],
      [stops[2], { a: "2", f1: "x", f2: "x" }, ["prompt 1", "reply 1", "prompt 2", "reply 2"]],
      [0, {}, []],
      [
        stops[3],
        { a: "3", f1: "x", f2: "x", f3: "x" },
        [1, 2, 3].flatMap((n) => [`prompt ${n}`, `reply ${n}`]),
      ],
    ];
    for (const [toSeq, files, said] of states) {
      expect((await restore(session, { toSeq })).status).toBe(200);
      expect(await filesOf(product, session.id)).toEqual(files);
      const { body } = await product.call<{ data: { role: string }[] }>("GET", `${session.path}/messages`);
      const texts = JSON.stringify(body.data);
      for (const text of [1, 2, 3].flatMap((n) => [`prompt ${n}`, `reply ${n}`])) {
        expect([text, texts.includes(text)]).toEqual([text, said.includes(text)]);
      }
    }
    await runTurn(session, 4);
    expect(restores(await checkedLog(session))).toHaveLength(4);
  });

  it("[TIME-5] leaves a file that another session has changed, and makes no version when there is nothing else", async () => {
    const { session, stops } = await threeTurns();
    const other = await product.session(writes({ a: "the other's" }), {});
    const shared = { id: `${other.id}-shared`, agent: (await product.call("GET", other.path)).body["agent"] };
    await product.call("POST", "/v1/sessions", { ...shared, workspace: session.id });
    await product.call("POST", `/v1/sessions/${shared.id}/prompt`, { text: "write" });
    await expect.poll(async () => (await filesOf(product, session.id))["a"], WAIT).toBe("the other's");
    const { body } = await restore(session, { toSeq: stops[1] });
    const skipped = [{ path: "a", reason: "somebody else has changed it since" }];
    expect(body).toMatchObject({ workspaceVersion: 8, skipped });
    expect(await filesOf(product, session.id)).toEqual({ a: "the other's", f1: "x" });
    const again = await restore(session, { toSeq: stops[1] });
    expect(again.body).toMatchObject({ skipped });
    expect(again.body).not.toHaveProperty("workspaceVersion");
    await checkedLog(session);
  });

  it("[TIME-6] is refused while a turn runs, or for a point that is none, and then changes nothing", async () => {
    const session = await product.session([...writes({ a: "1" }), { text: ["x"], ending: "hang" }]);
    const log = await runTurn(session, 1);
    for (const toSeq of [1, log.length - 1, log.length + 1, 1e9]) {
      const answer = await restore(session, { toSeq });
      expect([toSeq, answer.status, answer.body]).toMatchObject([
        toSeq,
        400,
        { error: { code: "invalid_request" } },
      ]);
    }
    for (const body of [
      {},
      { toSeq: "0" },
      { toSeq: 0, conversation: false, files: false },
      { toSeq: 0, extra: 1 },
    ]) {
      expect((await restore(session, body)).status).toBe(400);
    }
    await session.prompt("hang");
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(3);
    const busy = await restore(session, { toSeq: 0 });
    expect(busy).toMatchObject({ status: 409, body: { error: { code: "busy" } } });
    await session.prompt("waits");
    expect((await restore(session, { toSeq: 0 })).status).toBe(409);
    expect(restores(await session.log())).toEqual([]);
    expect(await metaOf(session.stub)).not.toHaveProperty("restore");
    expect(await filesOf(product, session.id)).toEqual({ a: "1" });
    await product.call("POST", `${session.path}/interrupt`, { clearQueue: true });
    await session.ended(2);
    expect((await restore(session, { toSeq: 0 })).status).toBe(200);
    expect(await filesOf(product, session.id)).toEqual({});
  });

  const deaths: [step: string, where: "session" | "workspace", statement: string, files: boolean][] = [
    ["after its intent", "workspace", "INSERT INTO fences", false],
    ["while the files go back", "workspace", "INSERT INTO versions", false],
    ["after the files", "session", "INSERT INTO log", true],
    ["inside its commit", "session", "DELETE FROM meta", true],
  ];
  it.each(deaths)(
    "[TIME-7] that dies %s is finished by the next wake, exactly once",
    async (_step, where, statement, filesAreBack) => {
      const { session, stops } = await threeTurns();
      await failStatements(where === "session" ? session.stub : workspaceStub(session), statement);
      const answer = await restore(session, { toSeq: stops[1] });
      expect(answer.status).toBe(503);
      expect(await metaOf(session.stub)).toMatchObject({
        restore: { toSeq: stops[1], seq: (stops[3] ?? 0) + 1 },
      });
      await abortAllDurableObjects();
      expect((await filesOf(product, session.id))["a"]).toBe(filesAreBack ? "1" : "3");
      // Whoever comes, be it at once and together, finds it finished.
      const [state] = await Promise.all([
        product.call("GET", session.path),
        product.call("GET", `${session.path}/messages`),
      ]);
      expect(state.body).toMatchObject({ status: "idle", head: (stops[3] ?? 0) + 1 });
      expect(await filesOf(product, session.id)).toEqual({ a: "1", f1: "x" });
      expect(restores(await checkedLog(session))).toMatchObject([{ workspaceVersion: 7, skipped: [] }]);
      const workspace = await product.call("GET", `/v1/workspaces/${session.id}`);
      expect(workspace.body).toMatchObject({ version: 7 });
      await abortAllDurableObjects();
      expect(restores(await session.log())).toHaveLength(1);
      expect(await metaOf(session.stub)).not.toHaveProperty("restore");
    },
  );

  it("[TIME-7] that lost the workspace's answer and then its process is finished by the alarm when nobody comes", async () => {
    const { session, stops } = await threeTurns();
    const alarm = () => runInDurableObject(session.stub, (_object, state) => state.storage.getAlarm());
    await expect.poll(alarm, WAIT).toBeNull();
    const original = Reflect.get(Workspace.prototype, "revert") as Workspace["revert"];
    vi.spyOn(Workspace.prototype, "revert").mockImplementationOnce(async function (this: Workspace, ...args) {
      await original.apply(this, args);
      return NO_ANSWER;
    });
    expect((await restore(session, { toSeq: stops[1] })).status).toBe(503);
    expect(await filesOf(product, session.id)).toEqual({ a: "1", f1: "x" });
    await abortAllDurableObjects();
    expect(await runDurableObjectAlarm(session.stub)).toBe(true);
    expect(restores(await checkedLog(session))).toMatchObject([{ workspaceVersion: 7 }]);
    expect(await filesOf(product, session.id)).toEqual({ a: "1", f1: "x" });
    await expect.poll(alarm, WAIT).toBeNull();
  });

  it("[TIME-7] whose commit the storage refused once is finished by whoever comes next, in the same process", async () => {
    const { session, stops } = await threeTurns();
    await failStatements(session.stub, "INSERT INTO log", 1, 1);
    const answer = await restore(session, { toSeq: stops[1] });
    expect(answer).toMatchObject({ status: 503, body: { error: { code: "log_write_failed" } } });
    await runTurn(session, 4);
    const log = await checkedLog(session);
    expect(restores(log)).toMatchObject([{ seq: (stops[3] ?? 0) + 1, workspaceVersion: 7 }]);
    expect(await lastConversation(session.model)).toEqual(["prompt 1", "reply 1", "prompt 4"]);
  });

  it("[TIME-8] makes a prompt wait that arrives meanwhile, and one that was on its way", async () => {
    const { session, stops } = await threeTurns();
    // Flags, not promises: each side waits in its own context, as the runtime wants it.
    const restoreGate = { reached: false, open: false };
    const revert = Reflect.get(Workspace.prototype, "revert") as Workspace["revert"];
    vi.spyOn(Workspace.prototype, "revert").mockImplementationOnce(async function (this: Workspace, ...args) {
      restoreGate.reached = true;
      while (!restoreGate.open) await scheduler.wait(5);
      return revert.apply(this, args);
    });
    const promptGate = { reached: false, open: false, left: false };
    const beginTurn = Reflect.get(Tenant.prototype, "beginTurn") as Tenant["beginTurn"];
    vi.spyOn(Tenant.prototype, "beginTurn").mockImplementationOnce(async function (this: Tenant, lease) {
      promptGate.reached = true;
      while (!promptGate.open) await scheduler.wait(5);
      promptGate.left = true;
      return beginTurn.call(this, lease);
    });
    // It has entered the session, found it idle, and asks the tenant for leave.
    const early = session.prompt("prompt 4");
    await expect.poll(() => promptGate.reached, WAIT).toBe(true);
    const restoring = restore(session, { toSeq: stops[1] });
    await expect.poll(() => restoreGate.reached, WAIT).toBe(true);
    const late = session.prompt("prompt 5");
    promptGate.open = true;
    await expect.poll(() => promptGate.left, WAIT).toBe(true);
    // What the prompt does with its leave happens in the session's object: this call goes there, too, and comes later.
    expect(await metaOf(session.stub)).toHaveProperty("restore");
    restoreGate.open = true;
    expect((await restoring).status).toBe(200);
    expect([(await early).status, (await late).status]).toEqual([202, 202]);
    const log = await session.ended(5);
    expect(log[stops[3] ?? 0]).toMatchObject({ type: "checkpoint_restore" });
    expect(log[(stops[3] ?? 0) + 1]).toMatchObject({ type: "input", turn: 4 });
  });

  it("[TIME-9] goes by WebSocket too, for who may prompt, and tells how far it has come", async () => {
    const { session, stops } = await threeTurns();
    const socket = await session.connect(stops[3]);
    await socket.until(({ type }) => type === "live");
    const answer = await socket.ask({ type: "restore", toSeq: stops[2] });
    const seq = (stops[3] ?? 0) + 1;
    expect(answer).toMatchObject({
      type: "ack",
      result: { type: "checkpoint_restore", seq, workspaceVersion: 7 },
    });
    expect(await socket.ask({ type: "restore", toSeq: 1 })).toMatchObject({
      type: "nack",
      error: { code: "invalid_request" },
    });
    const told = socket.events.map((event) =>
      "phase" in event ? `${event.phase} ${event.completed}` : event.type,
    );
    expect(told).toEqual(["start 0", "progress 1", "checkpoint_restore", "done 2"]);
    expect(checkStream(socket.events)).toEqual([]);
    socket.close();
    const issued = await product.call("POST", `${session.path}/tokens`, { scopes: ["read"] });
    const headers = {
      authorization: `Bearer ${String(issued.body["token"])}`,
      "content-type": "application/json",
    };
    const body = JSON.stringify({ toSeq: 0 });
    const refused = await product.fetch(`${session.path}/restore`, { method: "POST", headers, body });
    expect(refused.status).toBe(403);
    const read = await product.fetch(`${session.path}/checkpoints`, { headers });
    expect(read.status).toBe(200);
  });

  it("[TIME-10] ends without the files when the workspace is gone, or does not answer time and again", async () => {
    const { session, stops } = await threeTurns();
    const spy = vi.spyOn(Workspace.prototype, "revert").mockResolvedValue(NO_ANSWER);
    const socket = await session.connect(stops[3]);
    await socket.until(({ type }) => type === "live");
    const first = await restore(session, { toSeq: stops[1] });
    expect(first).toMatchObject({ status: 503, body: { error: { code: "unavailable" } } });
    expect(socket.events.at(-1)).toMatchObject({ type: "checkpoint_restore_progress", phase: "error" });
    socket.close();
    for (const status of [503, 503, 503, 503, 200]) {
      expect((await product.call("GET", session.path)).status).toBe(status);
    }
    expect(spy).toHaveBeenCalledTimes(5);
    const reason = "the workspace does not answer";
    expect(restores(await checkedLog(session))).toMatchObject([{ skipped: [{ path: "", reason }] }]);
    vi.restoreAllMocks();
    await product.call("DELETE", `/v1/workspaces/${session.id}`);
    const { body } = await restore(session, { toSeq: stops[2] });
    expect(body).toMatchObject({ skipped: [{ path: "", reason: "There is no such workspace." }] });
    await runTurn(session, 4);
    expect(await lastConversation(session.model)).toEqual([
      "prompt 1",
      "reply 1",
      "prompt 2",
      "reply 2",
      "prompt 4",
    ]);
  });

  it("[TIME-11] takes back what a turn changed before its process died, known or not", async () => {
    const session = await product.session([
      writes({ a: "1" })[0] ?? {},
      { text: ["lost"], ending: "hang" },
      { text: ["whole"] },
      { text: ["next"] },
    ]);
    await session.prompt("go");
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(2);
    await abortAllDurableObjects();
    await session.ended();
    await evictDurableObject(session.stub);
    const { body } = await restore(session, { toSeq: 0 });
    expect(body).toMatchObject({ workspaceVersion: 2, skipped: [] });
    expect(await filesOf(product, session.id)).toEqual({});
    await checkedLog(session);
  });

  it("[TIME-12] is in the tenant's audit log at once, and once, also when a turn has followed", async () => {
    const { session, stops } = await threeTurns();
    await restore(session, { toSeq: stops[1] });
    await expect.poll(() => audited(session, "session.restore"), WAIT).toBe(1);
    await runTurn(session, 4);
    await expect.poll(() => audited(session, "session.prompt"), WAIT).toBe(4);
    expect(await audited(session, "session.restore")).toBe(1);
  });

  it("[TIME-13] that comes while another one stands begins when that is through, and each is answered with its own", async () => {
    const { session, stops } = await threeTurns();
    const bodies = [
      { toSeq: stops[1] },
      { toSeq: 0, files: false },
      { toSeq: stops[2], conversation: false },
    ];
    const answers = await Promise.all(bodies.map((body) => restore(session, body)));
    expect(answers.map(({ body }) => body["toSeq"])).toEqual(bodies.map(({ toSeq }) => toSeq));
    const log = restores(await checkedLog(session));
    expect(log).toHaveLength(3);
    for (const { body } of answers) expect(log).toContainEqual(body);
  });

  it("[WIRE-35] that cannot be finished refuses commands of a socket under their ids", async () => {
    const { session, stops } = await threeTurns();
    vi.spyOn(Workspace.prototype, "revert").mockResolvedValue(NO_ANSWER);
    const socket = await session.connect(stops[3]);
    await socket.until(({ type }) => type === "live");
    expect((await restore(session, { toSeq: stops[1] })).status).toBe(503);
    socket.send({ id: 77, type: "prompt", text: "not now" });
    await socket.until((frame) => frame.type === "nack");
    const nack = socket.frames.find(({ type }) => type === "nack");
    expect(nack).toMatchObject({ id: 77, error: { code: "unavailable" } });
    socket.close();
  });
});
