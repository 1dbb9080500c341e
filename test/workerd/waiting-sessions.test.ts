import { abortAllDurableObjects, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { Product } from "./product.ts";
import type { TestSession } from "./product.ts";
import type { Reply } from "./model-replies.ts";
import { modelRequests } from "./scripted-model.ts";

/** Generous: a first call loads the model's SDK. */
const WAIT = { timeout: 15_000 };
const write: Reply = { calls: [{ name: "write_file", args: { path: "a.txt", content: "a" } }] };
const APPROVAL = "approval_call_1_1_0";

let product: Product;
beforeEach(async () => {
  product = await Product.create();
});

async function limit(limits: Record<string, number>, budget: Record<string, number> = {}): Promise<void> {
  const headers = { authorization: `Bearer ${env.ROOT_KEY}`, "content-type": "application/json" };
  const body = JSON.stringify({ limits, budget });
  const answer = await product.fetch(`/v1/tenants/${product.tenant}`, { method: "PATCH", headers, body });
  expect(answer.status).toBe(200);
}

/** How the tenant's list says that a session stands. */
async function listed({ id }: TestSession): Promise<string | undefined> {
  const { body } = await product.call<{ data: { id: string; status: string }[] }>("GET", "/v1/sessions");
  return body.data.find((session) => session.id === id)?.status;
}

function asking(...after: readonly Reply[]): Promise<TestSession> {
  return product.session([write, ...after], { policy: { ask: ["write_file"] } });
}

const allow = ({ path }: TestSession) =>
  product.call("POST", `${path}/approvals/${APPROVAL}`, { decision: "allow" });

describe("a session that waits for a person", () => {
  it("[TENANT-46] is listed as waiting, leaves its place to another turn, and counts again when it goes on", async () => {
    await limit({ runningTurns: 1, promptsPerMinute: 2 });
    const waiting = await asking({ text: ["late"], ending: "hang" });
    await waiting.prompt("write");
    await expect.poll(() => listed(waiting), WAIT).toBe("waiting");

    const other = await product.session([{ text: ["fine"] }, { text: ["never"] }]);
    expect((await other.prompt("go")).status).toBe(202);
    await other.ended();
    await expect.poll(() => listed(other), WAIT).toBe("idle");

    // To go on is no further prompt, and is never refused.
    expect((await allow(waiting)).status).toBe(200);
    await expect.poll(() => listed(waiting), WAIT).toBe("running");
    expect((await other.prompt("again")).body).toMatchObject({ error: { code: "too_many_turns" } });
    await product.call("POST", `${waiting.path}/interrupt`, {});
    await waiting.ended();
    await expect.poll(() => listed(waiting), WAIT).toBe("idle");
  });

  it("[TENANT-46] is so after a restart, and is idle once it was stopped", async () => {
    const waiting = await asking();
    await waiting.prompt("write");
    await expect.poll(() => listed(waiting), WAIT).toBe("waiting");
    await abortAllDurableObjects();
    expect((await product.call("GET", waiting.path)).body["status"]).toBe("waiting");
    expect(await listed(waiting)).toBe("waiting");
    await product.call("POST", `${waiting.path}/interrupt`, {});
    await waiting.ended();
    await expect.poll(() => listed(waiting), WAIT).toBe("idle");
  });

  it("[TENANT-46] has of the tenant's budget what it had, what it used before it waited being counted once", async () => {
    const use = async (dayTokens: number): Promise<unknown> => {
      product = await Product.create();
      await limit({}, { dayTokens });
      const waiting = await asking({ text: ["done"] });
      await waiting.prompt("write");
      await expect.poll(() => listed(waiting), WAIT).toBe("waiting");
      await allow(waiting);
      return (await waiting.ended()).at(-1);
    };
    // A call takes 15 tokens, and the second is expected to take what the first did and what has come since.
    expect(await use(40)).toMatchObject({ reason: "stop" });
    expect(await use(20)).toMatchObject({ reason: "budget" });
  });

  it("[TENANT-46] keeps its queue, which is no turn that runs", async () => {
    await limit({ runningTurns: 1 });
    const waiting = await asking({ text: ["1"] }, { text: ["2"] });
    await waiting.prompt("write");
    expect((await waiting.prompt("and then")).body).toMatchObject({ status: "queued" });
    await expect.poll(() => listed(waiting), WAIT).toBe("waiting");
    const other = await product.session([{ text: ["fine"] }]);
    expect((await other.prompt("go")).status).toBe(202);
    await allow(waiting);
    await waiting.ended(2);
    await expect.poll(() => listed(waiting), WAIT).toBe("idle");
  });
});

describe("a turn that runs for long", () => {
  it("[TENANT-47] renews its lease by the alarm that looks after it", async () => {
    await limit({ leaseMs: 1_000 });
    const session = await product.session([{ text: ["so"], ending: "hang" }]);
    await session.prompt("go");
    await expect.poll(async () => (await modelRequests(session.model)).length, WAIT).toBe(1);
    await expect.poll(() => listed(session), WAIT).toBe("idle");
    await runDurableObjectAlarm(session.stub);
    await expect.poll(() => listed(session), WAIT).toBe("running");
    await product.call("POST", `${session.path}/interrupt`, {});
    await session.ended();
  });
});
