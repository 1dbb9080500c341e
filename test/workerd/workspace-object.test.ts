import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { WorkspaceApi } from "../../src/durable/workspace-api.ts";
import { createWorkspaceSource } from "../../src/durable/workspace-client.ts";
import { FailingOnce, HeldPuts, steppingBucket } from "./workspace-faults.ts";
import { OVER_REST, OWNER, admitted, bytesOf, inWorkspace, write } from "./workspace-rig.ts";

type Stub = WorkspaceApi & Pick<DurableObjectStub, "fetch">;

function stubOf(name: string): { api: Stub; stub: DurableObjectStub } {
  const stub = env.WORKSPACE.getByName(name);
  // The platform's type of a stub gives up on the answers of its methods.
  return { api: stub as unknown as Stub, stub };
}

async function created(tenant: string, id: string): Promise<{ api: Stub; stub: DurableObjectStub }> {
  const object = stubOf(`${tenant}:${id}`);
  await admitted(tenant, id);
  await object.api.create({ tenant, id, name: id, by: OWNER });
  return object;
}

async function tables(stub: DurableObjectStub): Promise<unknown[]> {
  const query = "SELECT name FROM sqlite_schema WHERE name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";
  return runInDurableObject(stub, (_object, { storage }) => storage.sql.exec(query).toArray());
}

function fetchFile(api: Stub, path: string, init: RequestInit = {}, tenant = "t1"): Promise<Response> {
  const caller = JSON.stringify({ tenant, principal: OWNER, scopes: [], keyId: "k1" });
  const headers = { "x-light-agent-caller": caller };
  return api.fetch(`https://workspace/files?path=${path}`, { ...init, headers });
}

/** Every method, as a call that would succeed on a workspace that exists. */
const CALLS: Record<string, (api: Stub) => Promise<{ ok: boolean; error?: { code: string } }>> = {
  state: (api) => api.state(),
  version: (api) => api.version({ branch: "main" }),
  stat: (api) => api.stat({ branch: "main" }, ""),
  list: (api) => api.list({ branch: "main" }, "", { depth: 1, limit: 1 }),
  read: (api) => api.read({ branch: "main" }, "a", { offset: 0, length: 1 }),
  change: (api) => api.change("main", OVER_REST, [write("a", "1")]),
  search: (api) => api.search("main", { kind: "glob", pattern: "*" }),
  outcome: (api) => api.outcome(OVER_REST, "call_1_1_0"),
  versions: (api) => api.versions("main", { limit: 1 }),
  restore: (api) => api.restore("main", 0, OVER_REST),
  fork: (api) => api.fork("side", { branch: "main" }),
  versionAt: (api) => api.versionAt("main", { sessions: ["s1"], turn: 0, seq: 0, version: null }),
  revert: (api) => {
    const source = { session: "s1", turn: 1, wakes: 0, callId: "restore_1" };
    return api.revert("main", { ...OVER_REST, source }, { sessions: ["s1"], turn: 0, seq: 0, version: null });
  },
  remove: (api) => api.remove(),
};

describe("the Workspace object", () => {
  it("[FILE-40] an id that was never created is not found, by every method, and leaves no storage", async () => {
    const { api, stub } = stubOf("t1:never");
    for (const [name, call] of Object.entries(CALLS)) {
      expect([name, await call(api)]).toMatchObject([name, { ok: false, error: { code: "not_found" } }]);
    }
    for (const init of [{}, { method: "PUT", body: "x" }, { method: "DELETE" }]) {
      const response = await fetchFile(api, "a", init);
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
    }
    expect(await tables(stub)).toEqual([]);
    expect((await env.FILES.list({ prefix: "t/t1/w/never/" })).objects).toEqual([]);
  });

  it("[FILE-41] creating again with the same input answers the same, with another is refused", async () => {
    const input = { tenant: "t1", id: "twice", name: "Twice", by: OWNER };
    await admitted("t1", "twice");
    const { api } = stubOf("t1:twice");
    const first = await api.create(input);
    expect(first).toMatchObject({
      ok: true,
      value: { id: "twice", name: "Twice", version: 0, files: 0, bytes: 0 },
    });
    await api.change("main", OVER_REST, [write("a", "12")]);
    expect(await api.create(input)).toMatchObject({ ok: true, value: { version: 1, files: 1, bytes: 2 } });
    expect(await api.create({ ...input, name: "Other" })).toMatchObject({
      ok: false,
      error: { code: "id_taken" },
    });
  });

  it("[FILE-42] everything is there after an eviction", async () => {
    const { api, stub } = await created("t1", "evicted");
    const source = createWorkspaceSource(api);
    const workspace = source.open({ writer: OVER_REST });
    await workspace.change([write("d/a", "one")]);
    await source.fork("side");
    await evictDurableObject(stub);
    await workspace.change([write("d/b", "two")]);
    await evictDurableObject(stub);
    expect(new TextDecoder().decode((await workspace.read("d/a")).bytes)).toBe("one");
    expect(await workspace.version()).toBe(2);
    const side = source.open({ branch: "side", writer: OVER_REST });
    expect(await side.stat("d")).toEqual({ kind: "directory", path: "d", files: 1 });
    await evictDurableObject(stub);
    const { matches } = await workspace.search({ kind: "grep", pattern: "tw." });
    expect(matches).toEqual([{ path: "d/b", line: 1, text: "two" }]);
  });

  it("[FILE-43] a long file crosses in several reads, and a change that is too large is refused", async () => {
    const { api } = await created("t1", "long");
    const workspace = createWorkspaceSource(api).open({ writer: OVER_REST });
    const size = 20 * 1024 * 1024 + 3;
    const body = new Uint8Array(size).map((_, index) => index % 253);
    expect((await fetchFile(api, "big", { method: "PUT", body })).status).toBe(201);
    const { bytes, entry } = await workspace.read("big");
    expect([bytes.length, entry.size]).toEqual([size, size]);
    expect(bytes.every((byte, index) => byte === index % 253)).toBe(true);
    const tail = await workspace.read("big", { offset: size - 2, length: 100 });
    expect([...tail.bytes]).toEqual([(size - 2) % 253, (size - 1) % 253]);
    const half = new Uint8Array(5 * 1024 * 1024);
    const both = ["x", "y"].map((path) => ({ kind: "write", path, bytes: half }) as const);
    await expect(workspace.change(both)).rejects.toMatchObject({ code: "file_too_large" });
  });

  it("[FILE-44] a removed workspace is gone at once, its files soon, its neighbours' never", async () => {
    const { api, stub } = await created("t1", "gone1");
    const neighbours = [
      { tenant: "t1", ...(await created("t1", "gone10")) },
      { tenant: "t2", ...(await created("t2", "gone1")) },
    ];
    for (const object of [api, ...neighbours.map((neighbour) => neighbour.api)]) {
      const files = Array.from({ length: 20 }, (_, n) => write(`f${n}`, `content ${n}`));
      expect(await object.change("main", OVER_REST, files)).toMatchObject({ ok: true });
    }
    expect(await api.remove()).toEqual({ ok: true, value: null });
    const again = { tenant: "t1", id: "gone1", name: "gone1", by: OWNER };
    for (const call of Object.values(CALLS))
      expect(await call(api)).toMatchObject({ error: { code: "not_found" } });
    expect((await fetchFile(api, "f1")).status).toBe(404);
    // The platform may have begun by itself, so how often the alarm is still due is not known.
    expect(await api.create(again).then((answer) => answer.ok || answer.error.code)).toBe("id_taken");
    for (let n = 0; n < 3; n += 1) await runDurableObjectAlarm(stub);
    expect((await env.FILES.list({ prefix: "t/t1/w/gone1/" })).objects).toEqual([]);
    expect(await tables(stub)).toEqual([]);
    expect(await runDurableObjectAlarm(stub)).toBe(false);
    expect(await api.state()).toMatchObject({ ok: false, error: { code: "not_found" } });
    for (const { tenant, api: neighbour } of neighbours) {
      expect(await neighbour.state()).toMatchObject({ value: { files: 20 } });
      expect((await fetchFile(neighbour, "f7", {}, tenant)).status).toBe(200);
    }
    expect((await env.FILES.list({ prefix: "t/t1/w/gone10/" })).objects.length).toBe(20);
  });

  it("[FILE-44] a removal goes on after R2 has failed, and an alarm too many does nothing", async () => {
    // The first thing that it is asked for is a list, by the alarm that finds nothing to do.
    const r2 = new FailingOnce(2);
    await inWorkspace(
      async ({ keeper, alarm, fire, bucket, prefix, restart }) => {
        await restart().writer.change("main", OVER_REST, [write("a", "1")]);
        await fire();
        expect(restart().store.versions.last(["main"])).toBe(1);
        await keeper.remove();
        await fire();
        expect((await bucket.list({ prefix })).objects.length).toBe(1);
        expect(alarm()).not.toBe(null);
        for (let n = 0; n < 4; n += 1) await fire();
        expect((await bucket.list({ prefix })).objects.length).toBe(0);
        expect(alarm()).toBe(null);
      },
      { bucket: (bucket) => steppingBucket(bucket, r2.step) },
    );
  });

  it("[FILE-45] a change that is under way when the workspace is removed leaves nothing behind", async () => {
    for (const isErased of [false, true]) {
      const held = new HeldPuts();
      await inWorkspace(
        async ({ keeper, enter, bucket, prefix }) => {
          const writing = enter().writer.change("main", OVER_REST, [write("a", "late")]);
          const refused = expect(writing).rejects.toMatchObject({ code: "not_found" });
          await held.arrival;
          await keeper.remove();
          if (isErased) await keeper.alarm();
          held.release();
          await refused;
          expect((await bucket.list({ prefix })).objects).toEqual([]);
        },
        { bucket: held.wrap },
      );
    }
  });

  it("[FILE-51] the object knows whose it is", async () => {
    const { api } = await created("t1", "mine");
    await api.change("main", OVER_REST, [write("a", "1")]);
    expect((await fetchFile(api, "a")).status).toBe(200);
    expect((await fetchFile(api, "a", {}, "t2")).status).toBe(404);
    const { api: unmade, stub } = stubOf("t1:misnamed");
    const input = { tenant: "t2", id: "misnamed", name: "", by: OWNER };
    expect(await unmade.create(input)).toMatchObject({ ok: false, error: { code: "not_found" } });
    expect(await tables(stub)).toEqual([]);
  });

  it("[FILE-46] a request that does not say who calls is refused", async () => {
    const { api } = await created("t1", "anonymous");
    const response = await api.fetch("https://workspace/files?path=a", { method: "PUT", body: bytesOf("x") });
    expect(response.status).toBe(401);
    expect(await api.state()).toMatchObject({ value: { version: 0 } });
  });
});
