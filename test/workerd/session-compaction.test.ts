import { env, exports } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { beforeAll, expect, it } from "vitest";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import type { Usage } from "../../src/runtime/protocol/usage.ts";
import { alarmOf } from "./object-faults.ts";
import { Product } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";

/** Generous: a first call loads the model's SDK. */
const WAIT = { timeout: 15_000 };

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

async function budget(dayTokens: number | null): Promise<void> {
  const response = await exports.default.fetch(`https://light-agent.test/v1/tenants/${product.tenant}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${env.ROOT_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ budget: dayTokens === null ? {} : { dayTokens } }),
  });
  expect(response.status).toBe(200);
}

async function tokensUsed(): Promise<number> {
  const { body } = await product.call<{ data: { usage: Usage }[] }>("GET", "/v1/usage?limit=200");
  return body.data.reduce((sum, { usage }) => sum + usage.input + usage.output, 0);
}

it("[CONTEXT-6] [CONTEXT-9] a conversation is summarised over REST and a socket, counted, and the same after an eviction", async () => {
  const replies = ["one", "First gist.", "two", "Second gist.", "three"];
  const session = await product.session(replies.map((text) => ({ text: [text] })));
  expect(await product.call("POST", `${session.path}/compact`, {})).toMatchObject({
    status: 400,
    body: { error: { code: "invalid_request" } },
  });
  await session.prompt("remember the number 7");
  await session.ended();
  const first = await product.call("POST", `${session.path}/compact`, { instructions: "mind the number" });
  expect(first).toMatchObject({ status: 200, body: { throughSeq: 4 } });
  // The turn's call and the summary's: 15 tokens each.
  await expect.poll(tokensUsed, WAIT).toBe(30);
  await expect.poll(() => alarmOf(session.stub), WAIT).toBeNull();

  await session.prompt("and 8");
  await session.ended(2);
  const socket = await session.connect(9);
  const answer = await socket.ask({ type: "compact" });
  expect(answer).toMatchObject({ type: "ack", result: { throughSeq: 9 } });
  expect(await socket.ask({ type: "compact" })).toMatchObject({
    type: "nack",
    error: { code: "invalid_request" },
  });
  socket.close();

  await budget(1);
  expect(await product.call("POST", `${session.path}/compact`, {})).toMatchObject({
    status: 402,
    body: { error: { code: "budget_exceeded" } },
  });
  await budget(null);

  await evictDurableObject(session.stub);
  await session.prompt("what numbers?");
  const log = await session.ended(3);
  expect(checkLog(log)).toEqual([]);
  const asked = JSON.stringify((await modelRequests(session.model)).at(-1)?.body);
  for (const said of ["Second gist.", "remember the number 7", "and 8", "what numbers?"])
    expect(asked).toContain(said);
  expect(asked).not.toContain("First gist.");
  await expect.poll(tokensUsed, WAIT).toBe(75);
});
