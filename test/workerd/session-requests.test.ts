import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { Product } from "./product.ts";
import type { TestSession } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";

const WAIT = { timeout: 15_000 };
const POLICY = { rules: [{ id: "writes", tool: "write_file", effect: "ask" }] };
const write = (path: string) => ({ name: "write_file", args: { path, content: path, _intent: "to write" } });
const A = "approval_call_1_1_0";
const B = "approval_call_1_1_1";

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

/** A session whose turn waits for approvals of two writes. */
async function asking(): Promise<TestSession> {
  const session = await product.session([{ calls: [write("a.txt"), write("b.txt")] }, { text: ["done"] }], {
    policy: POLICY,
  });
  await session.prompt("write");
  await expect
    .poll(async () => (await product.call("GET", session.path)).body["status"], WAIT)
    .toBe("waiting");
  return session;
}

const decide = (session: TestSession, approval: string, body: unknown) =>
  product.call("POST", `${session.path}/approvals/${approval}`, body);

async function file(session: TestSession, path: string): Promise<string | number> {
  const response = await product.fetch(`/v1/workspaces/${session.id}/files/${path}`);
  const text = await response.text();
  return response.ok ? text : response.status;
}

describe("what a session's turn waits for", () => {
  it("[GUARD-40] is listed, answered over REST by whom the credential names, and the turn goes on", async () => {
    const session = await asking();
    const { body } = await product.call<{ data: Record<string, unknown>[] }>(
      "GET",
      `${session.path}/requests`,
    );
    expect(body.data).toMatchObject([
      { type: "approval_request", approvalId: A, name: "write_file", args: { path: "a.txt" } },
      { type: "approval_request", approvalId: B },
    ]);
    const answer = await product.fetch(`${session.path}/approvals/${B}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-user-id": "alice" },
      body: JSON.stringify({ decision: "allow" }),
    });
    expect(answer.status).toBe(200);
    await expect.poll(() => file(session, "b.txt"), WAIT).toBe("b.txt");
    expect(await file(session, "a.txt")).toBe(404);
    expect(await modelRequests(session.model)).toHaveLength(1);
    expect((await decide(session, A, { decision: "deny" })).status).toBe(200);
    const log = await session.ended();
    expect(log.filter(({ type }) => type === "approval_resolved")).toMatchObject([
      { approvalId: B, decision: "allow", by: { kind: "user", id: "alice" } },
      { approvalId: A, decision: "deny", by: { kind: "key" } },
    ]);
    expect(await file(session, "a.txt")).toBe(404);
  });

  it("[GUARD-41] is decided once, whoever asks at once, twice, or late", async () => {
    const session = await asking();
    const both = await Promise.all([
      decide(session, A, { decision: "allow" }),
      decide(session, A, { decision: "deny" }),
    ]);
    expect(both.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
    const won = both[0]?.status === 200 ? "allow" : "deny";
    expect((await decide(session, A, { decision: won })).status).toBe(200);
    expect((await decide(session, "approval_call_7_7_7", { decision: "allow" })).status).toBe(404);
    expect((await decide(session, B, { decision: "maybe" })).status).toBe(400);
    await product.call("POST", `${session.path}/interrupt`, {});
    const log = await session.ended();
    expect(log.filter((event) => event.type === "approval_resolved" && event.approvalId === A)).toHaveLength(
      1,
    );
    expect((await decide(session, B, { decision: "allow" })).status).toBe(409);
    expect(await file(session, "b.txt")).toBe(404);
  });

  it.each(["eviction", "crash"])(
    "[GUARD-42] waits through an %s without an alarm loop or a model call",
    async (how) => {
      const session = await asking();
      const alarm = () => runInDurableObject(session.stub, (_object, state) => state.storage.getAlarm());
      if (how === "eviction") await evictDurableObject(session.stub);
      else await abortAllDurableObjects();
      expect((await product.call("GET", session.path)).body).toMatchObject({
        status: "waiting",
        openRequests: 2,
      });
      await runDurableObjectAlarm(session.stub);
      const weeks = 14 * 24 * 60 * 60_000;
      expect(await alarm()).toBeGreaterThan(Date.now() + weeks);
      expect(await modelRequests(session.model)).toHaveLength(1);
      await decide(session, A, { decision: "allow" });
      await decide(session, B, { decision: "allow", args: { path: "b.txt", content: "edited" } });
      const log = await session.ended();
      expect(log.at(-1)).toMatchObject({ type: "agent_stop", reason: "stop" });
      expect(await file(session, "a.txt")).toBe("a.txt");
      expect(await file(session, "b.txt")).toBe("edited");
    },
  );

  it("[GUARD-43] is answered over a WebSocket, within the socket's scopes", async () => {
    const session = await asking();
    const socket = await session.connect();
    expect(await socket.ask({ type: "approve", approvalId: A, decision: "allow" })).toMatchObject({
      type: "ack",
    });
    expect(await socket.ask({ type: "approve", approvalId: A, decision: "deny" })).toMatchObject({
      error: { code: "already_decided" },
    });
    const token = await product.call<{ token: string }>("POST", `${session.path}/tokens`, {
      scopes: ["read", "prompt"],
    });
    const headers = { authorization: `Bearer ${token.body.token}`, upgrade: "websocket" };
    const { webSocket } = await product.fetch(`${session.path}/ws`, { headers });
    if (!webSocket) throw new Error("no socket");
    webSocket.accept();
    const refused = new Promise<string>((resolve) => {
      webSocket.addEventListener(
        "message",
        ({ data }) => String(data).includes("nack") && resolve(String(data)),
      );
    });
    webSocket.send(JSON.stringify({ id: 1, type: "approve", approvalId: B, decision: "allow" }));
    expect(JSON.parse(await refused)).toMatchObject({ type: "nack", id: 1, error: { code: "forbidden" } });
    await socket.ask({ type: "approve", approvalId: B, decision: "deny" });
    await session.ended();
    webSocket.close();
    socket.close();
  });

  it("[GUARD-44] can be a question of the model's, whose answer is the call's result", async () => {
    const ask = { name: "ask_user", args: { question: "Which?", options: ["x", "y"], _intent: "to know" } };
    const session = await product.session([{ calls: [ask] }, { text: ["thanks"] }], { tools: ["ask_user"] });
    await session.prompt("go");
    await expect
      .poll(async () => (await product.call("GET", session.path)).body["openRequests"], WAIT)
      .toBe(1);
    const input = `${session.path}/inputs/input_call_1_1_0`;
    expect((await product.call("POST", input, {})).status).toBe(400);
    expect((await product.call("POST", input, { selected: ["y"] })).status).toBe(200);
    expect((await product.call("POST", input, { selected: ["y"] })).status).toBe(200);
    expect((await product.call("POST", input, { selected: ["x"] })).status).toBe(409);
    const log = await session.ended();
    expect(log.find((event) => event.type === "tool_result")).toMatchObject({
      content: "- y",
      isError: false,
    });
  });
});
