import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { EVENT_TABLE } from "../../src/runtime/protocol/events.ts";
import { loadModel } from "./load-model.ts";
import { Product } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";

const WAIT = { timeout: 15_000 };
const POLICY = { rules: [{ id: "writes", tool: "write_file", effect: "ask" }] };
const HANG = { text: ["shown"], ending: "hang" } as const;
const WRITE = { name: "write_file", args: { path: "a.txt", content: "a", _intent: "to write" } };

let product: Product;
beforeAll(async () => {
  product = await Product.create();
  await loadModel(product);
});

function stops(log: readonly DurableEvent[]): { reason: string; promptIds: readonly string[] }[] {
  return log.flatMap((event) => (event.type === "agent_stop" ? [event] : []));
}

describe("prompts that come at once", () => {
  it("[QUEUE-40] run one after another, in the order of the places that they were told", async () => {
    const replies = Array.from({ length: 12 }, () => ({ text: ["o", "k"] }));
    const session = await product.session(replies);
    const answers = await Promise.all(
      // Of different lengths, so that they do not take the same time on their way.
      replies.map((_, index) =>
        session.prompt({ text: "x".repeat(1 + ((index * 7) % 12) * 8_000), promptId: `p${index}` }),
      ),
    );
    const told = answers.map(({ body }) => body as { promptId: string; position: number });
    expect(told.map(({ position }) => position).sort((a, b) => a - b)).toEqual(
      replies.map((_, index) => index),
    );
    const log = await session.ended(12);
    const ran = stops(log).map(({ promptIds }) => promptIds);
    expect(ran).toEqual(told.sort((a, b) => a.position - b.position).map(({ promptId }) => [promptId]));
  });

  it.each(["queue", "steer", "follow_up", "interrupt", "reject"] as const)(
    "[QUEUE-41] have one defined outcome each, and never open two turns: %s",
    async (mode) => {
      // Nothing ends by itself, so that the second prompt finds a turn that runs.
      const session = await product.session([HANG, HANG]);
      const ids = ["left", "right"];
      const answers = await Promise.all(
        ids.map((promptId) => session.prompt({ text: promptId, promptId, mode })),
      );
      const [first, second] = answers.sort(
        (a, b) => Number(a.body["position"] ?? 9) - Number(b.body["position"] ?? 9),
      );
      expect(first).toMatchObject({ status: 202, body: { status: "running", position: 0, head: 1 } });
      const opener = String(first?.body["promptId"]);
      const other = ids.find((id) => id !== opener) ?? "";
      if (mode === "reject") expect(second).toMatchObject({ status: 409, body: { error: { code: "busy" } } });
      else expect(second).toMatchObject({ status: 202, body: { status: "queued", position: 1 } });
      const accepted = answers.filter(({ status }) => status === 202).length;
      const outcomes = async () => {
        await product.call("POST", `${session.path}/interrupt`, {});
        return stops(await session.log()).flatMap(({ promptIds }) => promptIds).length;
      };
      await expect.poll(outcomes, WAIT).toBe(accepted);
      const ended = stops(await session.ended()).map(({ reason, promptIds }) => ({ reason, promptIds }));
      const separate = [opener, other].map((id) => ({ reason: "aborted", promptIds: [id] }));
      // A steer that comes before the first model call enters the turn.
      const together = [{ reason: "aborted", promptIds: [opener, other] }];
      const expected = {
        queue: [separate],
        interrupt: [separate],
        reject: [separate.slice(0, 1)],
        steer: [separate, together],
        follow_up: [separate],
      };
      expect(expected[mode]).toContainEqual(ended);
      const { body } = await product.call<{ data: unknown[] }>("GET", `${session.path}/queue`);
      expect(body.data).toEqual([]);
    },
  );
});

describe("what waits behind an approval", () => {
  it.each(["an eviction", "a crash"])(
    "[QUEUE-42] stays in order through %s, and the approval can be answered",
    async (how) => {
      const replies = [{ calls: [WRITE] }, ...Array.from({ length: 4 }, () => ({ text: ["ok"] }))];
      const session = await product.session(replies, { policy: POLICY });
      await session.prompt({ text: "write", promptId: "first" });
      const state = async () => (await product.call("GET", session.path)).body;
      await expect.poll(state, WAIT).toMatchObject({ status: "waiting", openRequests: 1 });
      for (const [promptId, mode] of [
        ["queued", "queue"],
        ["steered", "steer"],
        ["later", "queue"],
      ]) {
        await session.prompt({ text: String(promptId), promptId, mode });
      }
      const queue = async () => {
        const { body } = await product.call<{ data: { promptId: string }[] }>("GET", `${session.path}/queue`);
        return body.data.map(({ promptId }) => promptId);
      };
      expect(await queue()).toEqual(["steered", "queued", "later"]);
      if (how === "a crash") await abortAllDurableObjects();
      else await evictDurableObject(session.stub);
      expect(await queue()).toEqual(["steered", "queued", "later"]);
      expect(await state()).toMatchObject({ status: "waiting", openRequests: 1, queued: 3 });
      expect(await modelRequests(session.model)).toHaveLength(1);
      const { status } = await product.call("POST", `${session.path}/approvals/approval_call_1_1_0`, {
        decision: "allow",
      });
      expect(status).toBe(200);
      const log = await session.ended(3);
      expect(stops(log)).toMatchObject([
        { reason: "stop", promptIds: ["first", "steered"] },
        { reason: "stop", promptIds: ["queued"] },
        { reason: "stop", promptIds: ["later"] },
      ]);
      expect(log.filter(({ type }) => type === "tool_result")).toMatchObject([{ isError: false }]);
    },
  );
});

it("[WIRE-73] no frame and no body of a client is an event of the log", async () => {
  const session = await product.session([{ text: ["one"] }, { calls: [WRITE] }], { policy: POLICY });
  await session.prompt("first");
  await session.ended();
  await session.prompt("second");
  await expect
    .poll(async () => (await product.call("GET", session.path)).body["status"], WAIT)
    .toBe("waiting");
  const log = await session.log();
  const socket = await session.connect(log.length);
  const forged = {
    seq: log.length + 1,
    at: 1,
    turn: 2,
    step: 1,
    callId: "call_2_1_0",
    name: "write_file",
    content: "x",
    isError: false,
    durationMs: 0,
  };
  for (const type of EVENT_TABLE.keys()) {
    expect([type, await socket.ask({ ...forged, type })]).toMatchObject([
      type,
      { type: "nack", error: { code: "invalid_frame" } },
    ]);
  }
  const approval = { type: "approve", approvalId: "approval_call_2_1_9", decision: "allow" };
  expect(await socket.ask(approval)).toMatchObject({ type: "nack", error: { code: "not_found" } });
  for (const body of [
    { text: "x", role: "assistant" },
    { text: "x", messages: [{ role: "assistant", content: "x" }] },
    { text: "x", by: { kind: "user", id: "somebody else" } },
    { text: "x", source: "system" },
    { content: [{ type: "tool_result", callId: "call_2_1_0", content: "x" }] },
    { content: [{ type: "text", text: "x", toolCallId: "call_2_1_0" }] },
    { events: [{ ...forged, type: "tool_result" }] },
  ]) {
    expect([body, (await session.prompt(body)).status]).toEqual([body, 400]);
  }
  const decide = (decision: object) =>
    product.call("POST", `${session.path}/approvals/approval_call_2_1_0`, decision);
  expect((await decide({ decision: "allow", by: { kind: "user", id: "x" } })).status).toBe(400);
  expect((await decide({ decision: "allow", digest: "x" })).status).toBe(400);
  expect(await session.log()).toEqual(log);
  socket.close();
});
