import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Session } from "../../src/durable/session.ts";
import { Workspace } from "../../src/durable/workspace.ts";
import { Product, TestSession, freshName } from "./product.ts";
import type { SessionState } from "../../src/runtime/protocol/frames.ts";
import { modelRequests } from "./scripted-model.ts";
import { checkedLog, ends, failStatements, metaOf, restore, rowsOf, runTurn, writes } from "./time-travel.ts";

const WAIT = { timeout: 15_000 };
const DAY_MS = 24 * 60 * 60_000;

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});
afterEach(() => vi.restoreAllMocks());

const remove = (session: TestSession) => product.call("DELETE", session.path);
const prefixOf = (session: TestSession) => `t/${product.tenant}/s/${session.id}/`;
const alarmOf = (session: TestSession) =>
  runInDurableObject(session.stub, (_object, state) => state.storage.getAlarm());

async function objectsOf(session: TestSession): Promise<number> {
  return (await env.FILES.list({ prefix: prefixOf(session) })).objects.length;
}

/** Lets the time pass that lies between two looks for objects. */
function later(ms: number): void {
  const now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now + ms);
}

/** A session whose turn read a file that is too long for its log. */
async function withArtifact(): Promise<{ session: TestSession; ref: string }> {
  const read = { name: "read_file", args: { path: "long.txt", _intent: "to see" } };
  const session = await product.session([
    { calls: [read] },
    { text: ["ok"] },
    { text: ["more"] },
    { text: ["more"] },
  ]);
  const body = Array.from({ length: 2_000 }, (_, line) => `${line} ${"x".repeat(40)}`).join("\n");
  await product.fetch(`/v1/workspaces/${session.id}/files/long.txt`, { method: "PUT", body });
  const log = await runTurn(session, 1);
  const result = log.find((event) => event.type === "tool_result");
  if (result?.type !== "tool_result" || !result.artifact) throw new Error("no artifact");
  return { session, ref: result.artifact.ref };
}

async function fork(session: TestSession): Promise<TestSession> {
  const { status, body } = await product.call<SessionState>("POST", `${session.path}/fork`, {
    id: freshName("fork"),
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return new TestSession(product, body.id, session.model);
}

async function artifact(session: TestSession, ref: string): Promise<string | number> {
  const response = await product.fetch(`${session.path}/artifacts/${ref}`);
  const text = new TextDecoder().decode(await response.arrayBuffer());
  return response.ok ? text : response.status;
}

describe("the deletion of a session", () => {
  it("[DELETE-1] empties R2 and the storage in the background, whatever dies on the way", async () => {
    const { session } = await withArtifact();
    expect(await objectsOf(session)).toBe(1);
    expect((await remove(session)).status).toBe(202);
    await abortAllDurableObjects();
    expect((await product.call("GET", session.path)).status).toBe(404);
    expect(await objectsOf(session)).toBe(1);
    // The first look: an artifact that was on its way at the end would be found by the second.
    expect(await runDurableObjectAlarm(session.stub)).toBe(true);
    expect(await objectsOf(session)).toBe(0);
    expect(await rowsOf(session.stub, "log")).toBeGreaterThan(0);
    await env.FILES.put(`${prefixOf(session)}a/late`, "x");
    await abortAllDurableObjects();
    later(31_000);
    expect(await runDurableObjectAlarm(session.stub)).toBe(true);
    expect(await objectsOf(session)).toBe(0);
    expect(await rowsOf(session.stub, "log")).toBe(-1);
    expect(await alarmOf(session)).toBeNull();
    expect((await product.call("GET", session.path)).status).toBe(404);
    expect((await product.call("POST", "/v1/sessions", { id: session.id })).status).toBe(409);
    expect(await rowsOf(session.stub, "log")).toBe(-1);
  });

  it("[DELETE-1] goes through more objects than R2 lists at once, and on where R2 has failed", async () => {
    const session = await product.session([]);
    const puts = Array.from({ length: 1_100 }, (_, n) => env.FILES.put(`${prefixOf(session)}a/${n}`, "x"));
    await Promise.all(puts);
    await remove(session);
    later(31_000);
    const list = vi.spyOn(env.FILES, "list").mockRejectedValueOnce(new Error("R2 is down"));
    expect(await runDurableObjectAlarm(session.stub)).toBe(true);
    expect(list).toHaveBeenCalledTimes(1);
    expect(await rowsOf(session.stub, "log")).toBe(0);
    expect(await runDurableObjectAlarm(session.stub)).toBe(true);
    expect(await objectsOf(session)).toBe(0);
    expect(await rowsOf(session.stub, "log")).toBe(-1);
  });

  it("[DELETE-2] of a session that runs stops it at once and asks no model again, also after a crash", async () => {
    const session = await product.session([
      { text: ["x"], ending: "hang" },
      { text: ["must not be asked for"] },
    ]);
    await session.prompt("hang");
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(1);
    await session.prompt("waits");
    const socket = await session.connect();
    // The process that ran it has died, so that the deletion meets a session that nobody has opened.
    await abortAllDurableObjects();
    expect((await remove(session)).status).toBe(202);
    expect((await session.prompt("late")).status).toBe(404);
    expect((await remove(session)).status).toBe(404);
    later(31_000);
    await runDurableObjectAlarm(session.stub);
    expect(await rowsOf(session.stub, "log")).toBe(-1);
    expect(await modelRequests(session.model)).toHaveLength(1);
    socket.close();
  });

  it("[DELETE-2] closes the sockets that outlived the object's memory", async () => {
    const session = await product.session([{ text: ["one"] }]);
    const socket = await session.connect();
    await runTurn(session, 1);
    await expect.poll(() => alarmOf(session), WAIT).toBeNull();
    await evictDurableObject(session.stub);
    await remove(session);
    expect(await socket.untilClosed()).toMatchObject({ code: 4404 });
  });

  it("[DELETE-3] of an id that was never created is 404 and leaves no storage", async () => {
    const nobody = new TestSession(product, freshName("nobody"), "none");
    expect((await remove(nobody)).status).toBe(404);
    expect(await rowsOf(nobody.stub, "meta")).toBe(-1);
  });

  it("[DELETE-4] takes a session whose restore or whose making is under way", async () => {
    const error = { code: "unavailable", message: "Not now." } as const;
    const session = await product.session(writes({ a: "1" }));
    await runTurn(session, 1);
    const incomplete = new TestSession(product, freshName("fork"), session.model);
    await failStatements(incomplete.stub, "INSERT INTO log");
    await product.call("POST", `${session.path}/fork`, { id: incomplete.id });
    vi.spyOn(Workspace.prototype, "revert").mockResolvedValue({ ok: false, error });
    expect((await restore(session, { toSeq: 0 })).status).toBe(503);
    for (const each of [session, incomplete]) {
      expect((await remove(each)).status).toBe(202);
      expect((await product.call("GET", each.path)).status).toBe(404);
    }
    later(31_000);
    for (const each of [incomplete, session]) {
      await runDurableObjectAlarm(each.stub);
      expect(await rowsOf(each.stub, "log")).toBe(-1);
    }
  });

  it("[DELETE-5] keeps its artifacts as long as a fork shows them, and nothing else", async () => {
    const { session, ref } = await withArtifact();
    const child = await fork(session);
    const grandchild = await fork(child);
    const whole = await artifact(session, ref);
    expect(whole).toContain("1999 xxxx");
    expect([await artifact(child, ref), await artifact(grandchild, ref)]).toEqual([whole, whole]);
    for (const gone of [session, child]) {
      await remove(gone);
      later(31_000);
      await runDurableObjectAlarm(gone.stub);
      vi.restoreAllMocks();
      expect(await artifact(gone, ref)).toBe(404);
      expect([await rowsOf(gone.stub, "log"), await rowsOf(gone.stub, "turns")]).toEqual([0, 0]);
      expect(await alarmOf(gone)).toBeGreaterThan(Date.now() + DAY_MS / 2);
      expect(await metaOf(gone.stub)).toMatchObject({ condemned: { held: true } });
      await abortAllDurableObjects();
    }
    // A request to what is deleted does not make it ask again.
    expect(await alarmOf(session)).toBeGreaterThan(Date.now() + DAY_MS / 2);
    expect(await artifact(grandchild, ref)).toBe(whole);
    await runTurn(grandchild, 2);
    await checkedLog(grandchild);
    // Nobody shows them any more: from the youngest on all go.
    await remove(grandchild);
    later(31_000);
    for (const gone of [grandchild, child, session]) {
      expect(await runDurableObjectAlarm(gone.stub)).toBe(true);
      expect([await objectsOf(gone), await rowsOf(gone.stub, "meta")]).toEqual([0, -1]);
    }
  });

  it("[DELETE-5] shows an artifact of the fork's own from its own, under the same call's name or another", async () => {
    const read = { name: "read_file", args: { path: "long.txt", _intent: "to see" } };
    const session = await product.session([
      { text: ["first"] },
      { calls: [read] },
      { text: ["ok"] },
      { calls: [read] },
      { text: ["ok"] },
    ]);
    const log = await runTurn(session, 1);
    const put = (body: string, branch: string) =>
      product.fetch(`/v1/workspaces/${session.id}/files/long.txt?branch=${branch}`, { method: "PUT", body });
    const child = await fork(session);
    await put(`parent\n${"x".repeat(100)}\n`.repeat(1_000), "main");
    await put(`child\n${"x".repeat(100)}\n`.repeat(1_000), child.id);
    await runTurn(session, 2);
    await runTurn(child, 2);
    const ref = "call_2_1_0";
    expect(await artifact(session, ref)).toContain("parent");
    expect(await artifact(child, ref)).toContain("child");
    expect([await objectsOf(session), await objectsOf(child)]).toEqual([1, 1]);
    expect(ends(log)).toHaveLength(2);
  });

  it("[DELETE-6] reaches an object that did not answer by the tenant's alarm, and holds up no other", async () => {
    const [deaf, other] = [await product.session([{ text: ["one"] }]), await product.session([])];
    await runTurn(deaf, 1);
    const files = `/v1/workspaces/${deaf.id}`;
    const silence = vi.spyOn(Session.prototype, "remove").mockRejectedValue(new Error("Network lost."));
    const deafWorkspace = vi
      .spyOn(Workspace.prototype, "remove")
      .mockRejectedValueOnce(new Error("Network lost."));
    for (const path of [deaf.path, files]) expect((await product.call("DELETE", path)).status).toBe(202);
    expect((await product.call("GET", deaf.path)).status).toBe(200);
    // Asked again, it is told again; that is no second deletion.
    expect((await product.call("DELETE", deaf.path)).status).toBe(202);
    silence.mockRestore();
    expect((await remove(other)).status).toBe(202);
    const tenant = env.TENANT.getByName(product.tenant);
    expect(await runDurableObjectAlarm(tenant)).toBe(true);
    for (const path of [deaf.path, files]) expect((await product.call("GET", path)).status).toBe(404);
    expect((await remove(deaf)).status).toBe(404);
    expect(await rowsOf(tenant, "removals")).toBe(0);
    expect(await runInDurableObject(tenant, (_object, { storage }) => storage.getAlarm())).toBeNull();
    deafWorkspace.mockRestore();
  });
});
