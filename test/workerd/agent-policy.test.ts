import { beforeAll, expect, it } from "vitest";
import { Product, freshName } from "./product.ts";

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

const policy = {
  default: "ask",
  deny: ["bash"],
  rules: [{ id: "no-env", when: { path: { glob: "**/.env*", not: { regex: "example$" } } }, effect: "deny" }],
};

it("[GUARD-17] an agent keeps its policy through its versions", async () => {
  const id = freshName("agent");
  const created = await product.call("POST", "/v1/agents", { id, policy });
  expect(created).toMatchObject({ status: 201, body: { version: 1, policy } });
  const changed = await product.call("PUT", `/v1/agents/${id}`, { policy: { ...policy, dryRun: true } });
  expect(changed).toMatchObject({ status: 200, body: { version: 2, policy: { ...policy, dryRun: true } } });
  expect((await product.call("GET", `/v1/agents/${id}`)).body).toMatchObject({ policy: { dryRun: true } });
});

it.each([
  ["is not of the documented form", { defaults: "deny" }, {}],
  ["has an expression that is not RE2", rule("(?=a)"), { details: { rule: "r", field: "command" } }],
  ["has an expression that is too complex", rule("(?:[ab]{900}){5}"), { details: { rule: "r" } }],
])("[GUARD-17] no agent has a policy that %s", async (_what, wrong, error) => {
  const id = freshName("agent");
  const refusal = { status: 400, body: { error: { code: "invalid_request", ...error } } };
  expect(await product.call("POST", "/v1/agents", { id, policy: wrong })).toMatchObject(refusal);
  expect((await product.call("GET", `/v1/agents/${id}`)).status).toBe(404);
  await product.call("POST", "/v1/agents", { id, policy });
  expect(await product.call("PUT", `/v1/agents/${id}`, { policy: wrong })).toMatchObject(refusal);
  expect((await product.call("GET", `/v1/agents/${id}`)).body).toMatchObject({ version: 1, policy });
});

/** A policy whose rule has this expression. */
function rule(regex: string): unknown {
  return { rules: [{ id: "r", when: { command: { regex } }, effect: "deny" }] };
}
