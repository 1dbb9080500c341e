import { beforeEach, expect, it } from "vitest";
import type { AgentVersion, ApiKey, UsageSum } from "../../../client/index.ts";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { Administration, usageByModel } from "../../../web/administration.ts";

const NOW = Date.UTC(2026, 2, 31, 12);
const version = (number: number, more: object = {}): AgentVersion => ({
  id: "a",
  version: number,
  createdAt: number,
  ...more,
});
const KEY: ApiKey = { id: "k", name: "ci", role: "member", createdAt: 1 };
const used = (day: string, model: string, input: number, cost: number): UsageSum => ({
  day,
  agent: "a",
  model,
  usage: { input, output: 1, cachedInput: 0, reasoning: 0 },
  cost,
});

let calls: unknown[];
let answers: Record<string, unknown>;
let admin: Administration;

beforeEach(() => {
  calls = [];
  answers = {
    agents: { data: [version(2)], next: null },
    agentVersions: { data: [version(2, { maxSteps: 5 }), version(1)], next: null },
    keys: { data: [KEY], next: null },
  };
  const call =
    (name: string) =>
    async (...args: unknown[]): Promise<never> => {
      calls.push([name, ...args]);
      const answer = answers[name];
      if (answer instanceof Error) throw answer;
      return (typeof answer === "function" ? answer(...args) : answer) as never;
    };
  const names = [
    "agents",
    "agentVersions",
    "changeAgent",
    "createAgent",
    "keys",
    "createKey",
    "deleteKey",
    "usage",
  ] as const;
  const rest = Object.fromEntries(names.map((name) => [name, call(name)]));
  admin = new Administration(rest as never, () => NOW);
});

it("[WEB-29] shows an agent's versions, and stores what was written as a new one", async () => {
  await admin.show("agents");
  await admin.showAgent("a");
  expect(admin.value.agent).toMatchObject({ id: "a", version: 2, text: '{\n  "maxSteps": 5\n}' });
  admin.showVersion(1);
  expect(admin.value.agent).toMatchObject({ version: 1, text: "{}" });
  admin.edit("{");
  await admin.saveAgent();
  expect(admin.value.problem).toMatchObject({ code: "invalid_json" });
  expect(admin.value.agent?.text).toBe("{");
  answers["changeAgent"] = new LightAgentError("invalid_request", "maxSteps is a number.");
  admin.edit('{"maxSteps":"x"}');
  await admin.saveAgent();
  expect(admin.value).toMatchObject({ problem: { message: "maxSteps is a number." }, busy: false });
  expect(admin.value.agent?.text).toBe('{"maxSteps":"x"}');
  answers["changeAgent"] = version(3);
  admin.edit('{"maxSteps":7}');
  await admin.saveAgent();
  expect(calls).toContainEqual(["changeAgent", "a", { maxSteps: 7 }]);
  expect(admin.value).toMatchObject({
    problem: null,
    notice: expect.stringContaining("Version 3 is stored"),
  });
});

it("[WEB-29] keeps what is written in the editor while something else is looked at", async () => {
  await admin.show("agents");
  await admin.showAgent("a");
  admin.edit("{ half");
  await admin.show("keys");
  admin.leave();
  await admin.show("agents");
  expect(admin.value.agent?.text).toBe("{ half");
});

it("[WEB-29] shows a new key's text until something else is looked at, and revokes keys", async () => {
  answers["createKey"] = { ...KEY, apiKey: "la_text" };
  await admin.show("keys");
  await admin.createKey("ci", "member");
  expect(calls).toContainEqual(["createKey", { name: "ci", role: "member" }]);
  expect(admin.value.created?.apiKey).toBe("la_text");
  await admin.show("usage");
  expect(admin.value.created).toBeNull();
  await admin.show("keys");
  await admin.revokeKey(KEY);
  expect(calls).toContainEqual(["deleteKey", "k"]);
  expect(admin.value.notice).toContain("ci is revoked");
});

it("[WEB-29] sums up thirty days of usage by model, however many parts the list has", async () => {
  answers["usage"] = (query: { cursor?: string }) =>
    query.cursor === "2"
      ? { data: [used("2026-03-31", "m", 20, 7)], next: null }
      : { data: [used("2026-03-02", "m", 10, 5), used("2026-03-31", "n", 50, 0)], next: "2" };
  await admin.show("usage");
  const span = { from: "2026-03-02", to: "2026-03-31", limit: 200 };
  expect(calls).toEqual([
    ["usage", span],
    ["usage", { ...span, cursor: "2" }],
  ]);
  expect(
    usageByModel(admin.value.usage ?? []).map(({ model, usage, cost }) => [
      model,
      usage.input,
      usage.output,
      cost,
    ]),
  ).toEqual([
    ["n", 50, 1, 0],
    ["m", 30, 2, 12],
  ]);
});

it("[WEB-29] says why something cannot be seen, and not where somebody has gone on", async () => {
  answers["keys"] = new LightAgentError("forbidden", "This needs the role admin.");
  const keys = admin.show("keys");
  await admin.show("agents");
  await keys;
  expect(admin.value).toMatchObject({ part: "agents", problem: null });
  await admin.show("keys");
  expect(admin.value).toMatchObject({ keys: null, problem: { code: "forbidden" } });
});
