import { env } from "cloudflare:workers";
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Environment } from "../../src/api/environment.ts";
import type { Answer } from "../../src/runtime/protocol/answer.ts";
import type { Act, SessionRequest, TenantApi } from "../../src/durable/tenant-management-api.ts";
import { TenantRecords } from "../../src/durable/tenant-record.ts";
import { openTenantStores } from "../../src/durable/tenant-stores.ts";
import { billedRows } from "./billed-rows.ts";
import { Product, freshName } from "./product.ts";

const ACT: Act = { by: { kind: "key", id: "k" }, keyId: "k", requestId: "r" };
const HASH = "0".repeat(64);
const PAGE = { limit: 50, cursor: null };

function objectOf(name: string): TenantApi {
  return (env as unknown as Environment).TENANT.getByName(name);
}

async function newTenant(): Promise<{ id: string; tenant: TenantApi; stub: DurableObjectStub }> {
  const id = freshName("object");
  const tenant = objectOf(id);
  const key = { id: "k", name: "first", role: "admin", hash: HASH } as const;
  const created = await tenant.create({ id, name: "", key, repeatable: false }, ACT);
  expect(created.ok).toBe(true);
  return { id, tenant, stub: env.TENANT.getByName(id) };
}

function codeOf(answer: Answer<unknown>): string {
  return answer.ok ? "ok" : answer.error.code;
}

function sessionRequest(id: string, extra: Partial<SessionRequest> = {}): SessionRequest {
  return { id, digest: "d", agent: "default", workspace: null, title: "", repeatable: false, ...extra };
}

describe("a tenant's object", () => {
  it("[TENANT-22] answers not_found for a tenant that was never created, and stores nothing", async () => {
    const name = freshName("never");
    const tenant = objectOf(name);
    const lease = { session: "s", turn: 1, admit: true };
    const answers: Answer<unknown>[] = await Promise.all([
      tenant.describe(),
      tenant.verifyKey("k", HASH),
      tenant.keyStanding("k"),
      tenant.createKey({ id: "k", name: "n", role: "admin", hash: HASH, repeatable: false }, ACT),
      tenant.admitSession(sessionRequest("s"), ACT),
      tenant.beginTurn(lease),
      tenant.audit(PAGE),
      tenant.remove(ACT),
    ]);
    expect(answers.map(codeOf)).toEqual(answers.map(() => "not_found"));
    const tables = await runInDurableObject(env.TENANT.getByName(name), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_schema").toArray(),
    );
    expect(tables).toEqual([]);
  });

  it("[TENANT-22] is its tenant's and no other's, and the directory is none", async () => {
    const { id, tenant } = await newTenant();
    const key = { id: "k", name: "first", role: "admin", hash: HASH } as const;
    const elsewhere = objectOf(freshName("other"));
    expect(codeOf(await elsewhere.create({ id, name: "", key, repeatable: false }, ACT))).toBe("not_found");
    expect(codeOf(await tenant.listTenants(PAGE))).toBe("not_found");
    const directory = objectOf("!root");
    expect(codeOf(await directory.create({ id: "!root", name: "", key, repeatable: false }, ACT))).toBe(
      "not_found",
    );
    expect(codeOf(await directory.describe())).toBe("not_found");
    expect(codeOf(await directory.listTenants(PAGE))).toBe("ok");
  });

  it("[TENANT-23] a create that was cut off is completed by the same one, and every other is refused", async () => {
    const { id, tenant } = await newTenant();
    const key = { id: "k", name: "first", role: "admin", hash: HASH } as const;
    const create = (extra: object): Promise<string> =>
      tenant.create({ id, name: "", key, repeatable: true, ...extra }, ACT).then(codeOf);
    expect(await create({})).toBe("ok");
    expect(await create({ repeatable: false })).toBe("id_taken");
    expect(await create({ name: "other" })).toBe("idempotency_mismatch");
    expect(await create({ key: { ...key, hash: "1".repeat(64) } })).toBe("idempotency_mismatch");
  });

  it("[TENANT-24] a change and its audit line are one transaction; a refusal leaves the line alone", async () => {
    const { tenant, stub } = await newTenant();
    const actions = async (): Promise<string[]> => {
      const answer = await tenant.audit(PAGE);
      return answer.ok ? answer.value.data.map(({ action, result }) => `${action} ${result}`) : [];
    };
    await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec("ALTER TABLE audit RENAME TO hidden"),
    );
    expect(
      codeOf(
        await tenant.createKey({ id: "x", name: "n", role: "viewer", hash: HASH, repeatable: false }, ACT),
      ),
    ).toBe("internal");
    await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec("ALTER TABLE hidden RENAME TO audit"),
    );
    const keys = await tenant.listKeys(PAGE);
    expect(keys.ok && keys.value.data.map(({ id }) => id)).toEqual(["k"]);
    expect(codeOf(await tenant.revokeKey("x", ACT))).toBe("not_found");
    expect(await actions()).toEqual(["key.revoke not_found", "tenant.create ok"]);
  });
});

describe("sessions of a tenant", () => {
  it("[TENANT-25] an admission is pinned: the same again gets the same agent version and workspace", async () => {
    const { tenant } = await newTenant();
    await tenant.admitWorkspace(
      { id: "s", name: "a workspace that is there already", repeatable: false },
      ACT,
    );
    const first = await tenant.admitSession(sessionRequest("s", { repeatable: true }), ACT);
    if (!first.ok) throw new Error("not admitted");
    expect(first.value).toMatchObject({
      fresh: true,
      agent: { id: "default", version: 1, definition: {} },
      limits: {},
    });
    expect(first.value.workspace).not.toBe("s");
    await tenant.changeAgent("default", { name: "changed" }, ACT);
    const again = await tenant.admitSession(sessionRequest("s", { repeatable: true }), ACT);
    expect(again).toEqual({ ok: true, value: { ...first.value, fresh: false } });
    const other = { digest: "e" };
    expect(codeOf(await tenant.admitSession(sessionRequest("s", other), ACT))).toBe("id_taken");
    expect(codeOf(await tenant.admitSession(sessionRequest("s", { ...other, repeatable: true }), ACT))).toBe(
      "idempotency_mismatch",
    );
    const newer = await tenant.admitSession(sessionRequest("t"), ACT);
    expect(newer).toMatchObject({ value: { agent: { version: 2 }, workspace: "t" } });
  });

  it("[TENANT-26] deletes a deleted tenant's sessions and workspaces by alarm, however many there are", async () => {
    const product = await Product.create();
    for (const id of ["a", "b"]) await product.call("POST", "/v1/sessions", { id });
    await product.call("DELETE", "/v1/sessions/b");
    const tenant = objectOf(product.tenant);
    const stub = env.TENANT.getByName(product.tenant);
    // Admitted, but never created: its object answers not_found.
    for (let index = 0; index < 60; index += 1)
      await tenant.admitSession(sessionRequest(`never-${index}`), ACT);
    const session = (env as unknown as Environment).SESSION.getByName(`${product.tenant}:a`);
    const workspace = (env as unknown as Environment).WORKSPACE.getByName(`${product.tenant}:a`);
    expect([codeOf(await session.state()), codeOf(await workspace.state())]).toEqual(["ok", "ok"]);
    expect(codeOf(await tenant.remove(ACT))).toBe("ok");
    expect(codeOf(await tenant.describe())).toBe("not_found");
    expect(codeOf(await tenant.keyStanding("k"))).toBe("not_found");
    let alarms = 0;
    while (await runDurableObjectAlarm(stub)) alarms += 1;
    expect(alarms).toBeGreaterThan(0);
    expect([codeOf(await session.state()), codeOf(await workspace.state())]).toEqual([
      "not_found",
      "not_found",
    ]);
    const left = await runInDurableObject(stub, (_, { storage }) => {
      const stores = openTenantStores(storage.sql);
      return [stores.sessions.list(PAGE, 0).data, stores.workspaces.list(PAGE).data];
    });
    expect(left).toEqual([[], []]);
    expect(codeOf(await tenant.admitSession(sessionRequest("c"), ACT))).toBe("not_found");
  });

  it("[TENANT-31] a deleted session holds no lease", async () => {
    const { tenant } = await newTenant();
    await tenant.update({ limits: { runningTurns: 1 } }, ACT);
    for (const id of ["s", "t"]) await tenant.admitSession(sessionRequest(id), ACT);
    const begin = (session: string): Promise<string> =>
      tenant.beginTurn({ session, turn: 1, admit: true }).then(codeOf);
    expect([await begin("s"), await begin("t")]).toEqual(["ok", "too_many_turns"]);
    await tenant.removeSession("s", ACT);
    expect(await begin("t")).toBe("ok");
  });

  it("[TENANT-26] an alarm of a tenant that is not deleted deletes nothing", async () => {
    const { tenant, stub } = await newTenant();
    await tenant.admitSession(sessionRequest("s"), ACT);
    await runInDurableObject(stub, (_, { storage }) => storage.setAlarm(Date.now() + 60_000));
    await runDurableObjectAlarm(stub);
    const listed = await tenant.listSessions(PAGE);
    expect(listed.ok && listed.value.data.map(({ id }) => id)).toEqual(["s"]);
  });

  it("[TENANT-27] a tenant's storage of a later version of the product is left alone", async () => {
    const { tenant, stub } = await newTenant();
    await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec("INSERT INTO migrations (id) VALUES (99)"),
    );
    expect(codeOf(await tenant.describe())).toBe("unavailable");
    const record = await runInDurableObject(stub, (_, { storage }) => new TenantRecords(storage.sql).find());
    expect(record).toBeDefined();
  });

  it("[TENANT-38] a session is 6 rows, a turn 2 at its start, and at its end 2 and 3 for each model", async () => {
    const { tenant, stub } = await newTenant();
    // The session and its id, its workspace and that one's id, their number, the audit line.
    expect(await billedRows(stub, () => tenant.admitSession(sessionRequest("s"), ACT))).toBe(6);
    const begin = (): Promise<unknown> => tenant.beginTurn({ session: "s", turn: 1, admit: true });
    expect(await billedRows(stub, begin)).toBe(2);
    const total = {
      day: "2026-11-30",
      agent: "default",
      model: "demo",
      usage: { input: 1, output: 1, cachedInput: 0, reasoning: 0 },
      cost: 0,
    };
    const counts = { requests: 1, successes: 1, failures: 0, failing: 0 };
    const tally = { model: "demo", ...counts, inputTokens: 1, outputTokens: 1 };
    const index = { title: "", agentVersion: 1, status: "idle", head: 4, updatedAt: 1 };
    const end = (): Promise<unknown> =>
      tenant.endTurn({
        session: "s",
        turn: 1,
        continues: false,
        usage: [total],
        models: [tally],
        auditAfter: 0,
        audit: [],
        index,
      });
    expect(await billedRows(stub, end)).toBe(5);
    expect(await billedRows(stub, end)).toBe(0);
  });
});
