import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Recovery } from "../../src/durable/session-settings.ts";
import type { Tenant } from "../../src/durable/tenant.ts";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { DEFAULT_LIMITS } from "../../src/runtime/protocol/limits.ts";
import { chatReply } from "./model-replies.ts";
import { SqlFaults, alarmOf, dieWithoutAlarm, metaOf } from "./object-faults.ts";
import { loadModel } from "./load-model.ts";
import { Product } from "./product.ts";
import type { TestSession } from "./product.ts";
import { modelRequests, scriptModel } from "./scripted-model.ts";

const WAIT = { timeout: 15_000 };
const WEEKS = 14 * 24 * 60 * 60_000;
const POLICY = { rules: [{ id: "writes", tool: "write_file", effect: "ask" }] };
const HANG = { text: ["shown"], ending: "hang" } as const;
const write = (path: string) => ({ name: "write_file", args: { path, content: path, _intent: "to write" } });
const APPROVAL = "approval_call_1_1_0";

let product: Product;
beforeAll(async () => {
  product = await Product.create();
  await loadModel(product);
});

async function asked(session: TestSession, times: number): Promise<void> {
  await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(times);
}

const status = async (session: TestSession) => (await product.call("GET", session.path)).body["status"];

/** A session whose turn waits for an approval, with an alarm due when that expires. */
async function waiting(...replies: Parameters<Product["session"]>[0]): Promise<TestSession> {
  const session = await product.session([{ calls: [write("a.txt")] }, ...replies], { policy: POLICY });
  await session.prompt("write");
  await expect.poll(() => status(session), WAIT).toBe("waiting");
  await runDurableObjectAlarm(session.stub);
  expect(await alarmOf(session.stub)).toBeGreaterThan(Date.now() + WEEKS);
  return session;
}

/** Due within the heartbeat of a running turn. */
async function expectHeartbeat(session: TestSession): Promise<void> {
  const due = await alarmOf(session.stub);
  expect(due).not.toBeNull();
  expect(due ?? 0).toBeLessThanOrEqual(Date.now() + DEFAULT_LIMITS.heartbeatMs);
}

describe("the alarm of a turn", () => {
  it("[TURN-41] comes again each time while the turn runs with nobody there, and changes nothing in it", async () => {
    const session = await product.session([HANG]);
    await session.prompt("go");
    await asked(session, 1);
    for (let beat = 1; beat <= 5; beat += 1) {
      await expectHeartbeat(session);
      expect(await runDurableObjectAlarm(session.stub)).toBe(true);
    }
    await expectHeartbeat(session);
    expect(await metaOf<Recovery>(session.stub, "recovery")).toBeUndefined();
    await product.call("POST", `${session.path}/interrupt`, {});
    const log = await session.ended();
    expect(log.find((event) => event.type === "output")).toMatchObject({ text: "shown", attempt: 1 });
    expect(await modelRequests(session.model)).toHaveLength(1);
    await expect.poll(() => alarmOf(session.stub), WAIT).toBeNull();
  });

  it("[TURN-40] is due soon again when a person's answer lets the turn go on", async () => {
    const session = await waiting(HANG);
    await product.call("POST", `${session.path}/approvals/${APPROVAL}`, { decision: "allow" });
    await asked(session, 2);
    await expectHeartbeat(session);
    await product.call("POST", `${session.path}/interrupt`, {});
    await session.ended();
  });

  it("[TURN-42] changes nothing when it comes twice, or when nothing is due", async () => {
    const session = await product.session([HANG, HANG, { text: ["next"] }]);
    await session.prompt("go");
    await asked(session, 1);
    await abortAllDurableObjects();
    for (let time = 1; time <= 4; time += 1) {
      expect(await runDurableObjectAlarm(session.stub)).toBe(true);
      await asked(session, 2);
      expect(await metaOf<Recovery>(session.stub, "recovery")).toMatchObject({ wakes: 1, stalls: 1 });
    }
    await product.call("POST", `${session.path}/interrupt`, {});
    const log = await session.ended();
    await expect.poll(() => alarmOf(session.stub), WAIT).toBeNull();
    await runInDurableObject(session.stub, (_object, { storage }) => storage.setAlarm(Date.now() + 60_000));
    await runDurableObjectAlarm(session.stub);
    expect(await session.log()).toEqual(log);
    await expect.poll(() => alarmOf(session.stub), WAIT).toBeNull();
    expect(await modelRequests(session.model)).toHaveLength(2);
  });

  it("[TURN-43] is set anew by the next wake when it was lost: for a turn that runs, waits, or is erased", async () => {
    const running = await product.session([HANG, HANG]);
    await running.prompt("go");
    await asked(running, 1);
    await dieWithoutAlarm(running.stub);
    await product.call("GET", running.path);
    await expectHeartbeat(running);
    await product.call("POST", `${running.path}/interrupt`, {});
    await running.ended();

    const asking = await waiting();
    await dieWithoutAlarm(asking.stub);
    await product.call("GET", asking.path);
    expect(await alarmOf(asking.stub)).toBeGreaterThan(Date.now() + WEEKS);

    const condemned = JSON.stringify({ at: 0, held: false });
    await runInDurableObject(asking.stub, (_object, { storage }) => {
      storage.sql.exec("INSERT INTO meta (key, value) VALUES ('condemned', ?)", condemned);
    });
    await dieWithoutAlarm(asking.stub);
    expect((await product.call("GET", asking.path)).status).toBe(404);
    expect(await alarmOf(asking.stub)).not.toBeNull();
  });

  it("[TURN-43] that fails comes again, as often as it takes", async () => {
    const session = await product.session([HANG, { text: ["whole"] }]);
    await session.prompt("go");
    await asked(session, 1);
    await abortAllDurableObjects();
    const faults = await SqlFaults.of(session.stub);
    faults.fails = () => true;
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    for (let time = 1; time <= 7; time += 1) {
      expect(await runDurableObjectAlarm(session.stub)).toBe(true);
      expect(faults.failed).toBe(time);
      expect(await alarmOf(session.stub)).toBeGreaterThan(Date.now());
      await expectHeartbeat(session);
    }
    expect(await modelRequests(session.model)).toHaveLength(1);
    faults.fails = () => false;
    await runDurableObjectAlarm(session.stub);
    expect((await session.ended()).at(-1)).toMatchObject({ type: "agent_stop", reason: "stop" });
  });

  it("[TURN-44] stays while a prompt waits whose turn could not be opened", async () => {
    const session = await product.session([HANG, { text: ["two"] }]);
    await session.prompt("first");
    await asked(session, 1);
    await session.prompt({ text: "second", promptId: "second" });
    const faults = await SqlFaults.of(session.stub);
    faults.fails = (query) => query.startsWith("INSERT INTO turns");
    await product.call("POST", `${session.path}/interrupt`, {});
    await expect.poll(() => faults.failed, WAIT).toBe(1);
    const [{ seq: head }] = (await session.log()).slice(-1) as [DurableEvent];
    // The tenant knows of the first turn's end: that was the moment to take the alarm away.
    const listed = async () => {
      const { body } = await product.call<{ data: { id: string; head: number }[] }>("GET", "/v1/sessions");
      return body.data.find(({ id }) => id === session.id)?.head;
    };
    await expect.poll(listed, WAIT).toBe(head);
    await expectHeartbeat(session);
    faults.fails = () => false;
    await runDurableObjectAlarm(session.stub);
    expect((await session.ended(2)).at(-1)).toMatchObject({ promptIds: ["second"], reason: "stop" });
    await expect.poll(() => alarmOf(session.stub), WAIT).toBeNull();
  });

  it("[TURN-46] does not come again and again for a turn that waits, whatever an earlier one waited for", async () => {
    const session = await product.session([], { policy: POLICY });
    const limited = { status: 429, headers: { "retry-after": "600" }, chunks: ["{}"] };
    await scriptModel(session.model, [limited, chatReply({ calls: [write("a.txt")] })]);
    await session.prompt("first");
    await expect.poll(() => status(session), WAIT).toBe("waiting");
    await product.call("POST", `${session.path}/interrupt`, {});
    await session.ended();
    await session.prompt("second");
    await expect
      .poll(async () => (await product.call("GET", session.path)).body, WAIT)
      .toMatchObject({ openRequests: 1 });
    for (const wake of ["in memory", "evicted"]) {
      if (wake === "evicted") await evictDurableObject(session.stub);
      await runDurableObjectAlarm(session.stub);
      expect([wake, (await alarmOf(session.stub)) ?? 0]).toEqual([wake, expect.any(Number)]);
      expect(await alarmOf(session.stub)).toBeGreaterThan(Date.now() + WEEKS);
    }
  });

  it("[TURN-47] and restarts cost a turn that waits for a person nothing, however many there are", async () => {
    const session = await waiting({ text: ["done"] });
    for (let time = 1; time <= 7; time += 1) {
      await abortAllDurableObjects();
      expect(await status(session)).toBe("waiting");
    }
    expect(await metaOf<Recovery>(session.stub, "recovery")).toBeUndefined();
    expect(await modelRequests(session.model)).toHaveLength(1);
    await product.call("POST", `${session.path}/approvals/${APPROVAL}`, { decision: "allow" });
    const log = await session.ended();
    expect(log.at(-1)).toMatchObject({ type: "agent_stop", reason: "stop" });
    expect(log.filter(({ type }) => type === "tool_result")).toMatchObject([{ isError: false }]);
  });

  it("[TURN-48] stays until the tenant knows of the turn's end, and tells it again", async () => {
    const session = await product.session([{ text: ["ok"] }]);
    const tenant = (env.TENANT as DurableObjectNamespace<Tenant>).getByName(product.tenant);
    const faults = await SqlFaults.of(tenant);
    faults.fails = (query) => query.startsWith("UPDATE sessions");
    await session.prompt("go");
    await session.ended();
    await expect.poll(() => faults.failed, WAIT).toBe(1);
    await runDurableObjectAlarm(session.stub);
    expect(faults.failed).toBe(2);
    await expectHeartbeat(session);
    faults.fails = () => false;
    await runDurableObjectAlarm(session.stub);
    expect(await alarmOf(session.stub)).toBeNull();
    const { body } = await product.call<{ data: Record<string, unknown>[] }>("GET", "/v1/sessions");
    expect(body.data.find(({ id }) => id === session.id)).toMatchObject({ head: 4, status: "idle" });
  });
});
