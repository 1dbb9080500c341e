import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { billedRows } from "./billed-rows.ts";
import { Product } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";

/** Generous: a first call loads the model's SDK. */
const WAIT = { timeout: 15_000 };

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

const read = (path: string) => ({ name: "read_file", args: { path, _intent: "to see" } });

describe("turns of a session object", () => {
  it("[TURN-30] cost 4 rows when they are text, and 24 with 10 tool steps", async () => {
    const text = await product.session([{ text: ["hello ", "you"] }]);
    const turn = async (): Promise<void> => {
      expect((await text.prompt("hi")).status).toBe(202);
      await text.ended();
    };
    expect(await billedRows(text.stub, turn)).toBe(4);

    const steps = Array.from({ length: 10 }, () => ({ calls: [read("none.txt")] }));
    const tools = await product.session([...steps, { text: ["done"] }]);
    const long = async (): Promise<void> => {
      await tools.prompt("read");
      expect((await tools.ended()).at(-1)).toMatchObject({ type: "agent_stop", reason: "stop", step: 11 });
    };
    expect(await billedRows(tools.stub, long)).toBe(24);
  });

  it("[TURN-30] cost 2 rows more for a prompt that waited", async () => {
    const session = await product.session([{ text: ["one"], delayMs: 50 }, { text: ["two"] }]);
    const rows = await billedRows(session.stub, async () => {
      await session.prompt("first");
      expect((await session.prompt("second")).body).toMatchObject({ status: "queued", position: 1 });
      await session.ended(2);
    });
    expect(rows).toBe(4 + 4 + 2);
  });

  it("[TURN-31] leave no alarm behind, and have one while they run", async () => {
    const session = await product.session([{ text: ["x"], ending: "hang" }]);
    await session.prompt("hi");
    const alarm = () => runInDurableObject(session.stub, (_object, state) => state.storage.getAlarm());
    expect(await alarm()).toBeGreaterThan(Date.now());
    await product.call("POST", `${session.path}/interrupt`, {});
    await session.ended();
    await expect.poll(alarm, WAIT).toBeNull();
  });

  it("[STOP-10] close the model's connection when they are interrupted, and the next prompt runs", async () => {
    const session = await product.session([{ text: ["shown"], ending: "hang" }, { text: ["next"] }]);
    await session.prompt("go");
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(1);
    const socket = await session.connect();
    await socket.until(
      (frame) => frame.type === "text_delta" || JSON.stringify(frame["partial"] ?? "").includes("shown"),
    );
    const stop = await product.call("POST", `${session.path}/interrupt`, { turn: 1, reason: "enough" });
    expect(stop).toMatchObject({ status: 200, body: { interrupted: true, turn: 1 } });
    await session.ended();
    await expect.poll(async () => (await modelRequests(session.model))[0]?.aborted, WAIT).toBe(true);
    await session.prompt("again");
    const late = await product.call("POST", `${session.path}/interrupt`, { turn: 1 });
    expect(late.body).toEqual({ interrupted: false, turn: 2 });
    const log = await session.ended(2);
    expect(log.filter(({ type }) => type === "interrupt")).toHaveLength(1);
    expect(log.at(-1)).toMatchObject({ type: "agent_stop", reason: "stop", turn: 2 });
    socket.close();
  });

  it("[STOP-11] answer an interrupt of an idle session with 200 and no event", async () => {
    const session = await product.session([]);
    const stop = () => product.call("POST", `${session.path}/interrupt`, {});
    expect(await stop()).toEqual({ status: 200, body: { interrupted: false, turn: 0 } });
    expect(await stop()).toEqual({ status: 200, body: { interrupted: false, turn: 0 } });
    expect(await session.log()).toEqual([]);
  });

  it("[LOG-30] number prompts that come at once without a gap, and refuse those beyond the limit", async () => {
    const session = await product.session([{ text: ["x"], ending: "hang" }]);
    const answers = await Promise.all(
      Array.from({ length: 110 }, (_, index) => session.prompt(`prompt ${index}`)),
    );
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(101);
    const refused = answers.filter(({ status }) => status !== 202);
    expect(
      new Set(refused.map(({ status, body }) => `${status} ${(body["error"] as { code: string }).code}`)),
    ).toEqual(new Set(["429 queue_full"]));
    await product.call("POST", `${session.path}/interrupt`, { clearQueue: true });
    const log = await session.ended();
    const outcomes = log.flatMap((event) =>
      event.type === "agent_stop" ? event.promptIds : event.type === "prompt_dropped" ? [event.promptId] : [],
    );
    expect(outcomes.sort()).toEqual(accepted.map(({ body }) => String(body["promptId"])).sort());
  });

  it("[QUEUE-30] remember a prompt's id for as long as the session lives", async () => {
    const session = await product.session([{ text: ["one"] }, { text: ["two"] }]);
    const first = await session.prompt({ text: "hi", promptId: "p1" });
    await session.ended();
    await session.prompt({ text: "hi", promptId: "p2" });
    await session.ended(2);
    expect(await session.prompt({ text: "hi", promptId: "p1" })).toEqual(first);
    const other = await session.prompt({ text: "other", promptId: "p1" });
    expect(other).toMatchObject({ status: 409, body: { error: { code: "idempotency_mismatch" } } });
    expect((await session.log()).filter(({ type }) => type === "input")).toHaveLength(2);
  });

  it("[LOG-31] keep a long result as an artifact that can be read by range, and both ends in the log", async () => {
    const session = await product.session([{ calls: [read("long.txt")] }, { text: ["ok"] }]);
    const content = Array.from({ length: 2_000 }, (_, line) => `${line} ${"x".repeat(40)}`).join("\n");
    const put = await product.fetch(`/v1/workspaces/${session.id}/files/long.txt`, {
      method: "PUT",
      body: content,
    });
    expect(put.status).toBeLessThan(300);
    await session.prompt("read it");
    const log = await session.ended();
    const result = log.find((event) => event.type === "tool_result");
    if (result?.type !== "tool_result" || !result.artifact) throw new Error("no artifact");
    expect(result.content.length).toBeLessThan(50_000);
    const whole = await product.fetch(`${session.path}/artifacts/${result.artifact.ref}`);
    const text = await whole.text();
    expect(text).toContain("1999 xxxx");
    expect(new TextEncoder().encode(text)).toHaveLength(result.artifact.size);
    const part = await product.fetch(`${session.path}/artifacts/${result.artifact.ref}`, {
      headers: { range: "bytes=10-19" },
    });
    expect(part.status).toBe(206);
    expect(await part.text()).toBe(text.slice(10, 20));
    const beyond = await product.fetch(`${session.path}/artifacts/${result.artifact.ref}`, {
      headers: { range: "bytes=9999999-" },
    });
    expect(beyond.status).toBe(416);
    await beyond.body?.cancel();
    expect((await product.call("GET", `${session.path}/artifacts/call_9_9_9`)).status).toBe(404);
  });

  it("[TENANT-30] leave no storage behind for an id that was never created", async () => {
    const before = await listDurableObjectIds(env.SESSION);
    const stored = async (): Promise<string[]> => {
      const ids = await listDurableObjectIds(env.SESSION);
      return ids.map(String).filter((id) => !before.map(String).includes(id));
    };
    for (const path of ["", "/events", "/events?after=3", "/queue", "/messages", "/artifacts/x", "/ws"]) {
      const headers: HeadersInit = path === "/ws" ? { upgrade: "websocket" } : {};
      const response = await product.fetch(`/v1/sessions/nobody${path}`, { headers });
      expect([path, response.status]).toEqual([path, 404]);
      await response.body?.cancel();
    }
    expect((await product.call("POST", "/v1/sessions/nobody/prompt", { text: "x" })).status).toBe(404);
    expect((await product.call("POST", "/v1/sessions/nobody/interrupt", {})).status).toBe(404);
    for (const id of await stored()) {
      const stub = env.SESSION.get(env.SESSION.idFromString(id));
      const tables = await runInDurableObject(stub, (_object, state) => [
        ...state.storage.sql.exec("SELECT name FROM sqlite_schema WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'"),
      ]);
      expect(tables).toEqual([]);
    }
  });

  it("[API-30] are gone with their session: sockets closed, 404, and the id never free again", async () => {
    const session = await product.session([{ text: ["x"], ending: "hang" }]);
    await session.prompt("hi");
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(1);
    const socket = await session.connect();
    const removed = await product.call("DELETE", session.path);
    expect(removed.status).toBe(202);
    expect(await socket.untilClosed()).toMatchObject({ code: 4404 });
    expect((await product.call("GET", session.path)).status).toBe(404);
    expect((await session.prompt("more")).status).toBe(404);
    expect((await product.call("POST", "/v1/sessions", { id: session.id })).status).toBe(409);
    await expect.poll(async () => (await modelRequests(session.model))[0]?.aborted, WAIT).toBe(true);
  });
});
