import { expect, it } from "vitest";
import { Harness, echoTool, gate } from "../support/agent-harness.ts";

it("[TURN-51] a definition that is replaced between turns holds from the next one on", async () => {
  const first = echoTool({ name: "first" }).tool;
  const second = echoTool({ name: "second" }).tool;
  const h = new Harness(
    [{ text: "one" }, { calls: [{ name: "second", args: { text: "a" } }] }, { text: "never" }],
    { tools: [first], context: { prompts: [{ name: "who", content: "You are one." }], windowTokens: 9_000 } },
  );
  await h.start("go");
  await h.finish();
  h.agent.redefine({
    tools: [second],
    context: { prompts: [{ name: "who", content: "You are two." }], windowTokens: 8_000 },
    policy: { deny: ["second"] },
    maxSteps: 1,
    prices: {},
  });
  expect(h.agent.getState().contextWindow).toBe(8_000);
  await h.start("go");
  await h.finish();
  expect(h.model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([["first"], ["second"]]);
  const systems = h.model.requests.map(({ system }) => JSON.stringify(system));
  expect(systems[0]).toContain("You are one.");
  expect(systems[1]).toContain("You are two.");
  expect(h.last("permission_decision")).toMatchObject({ decision: "deny" });
  expect(h.last("agent_stop").reason).toBe("max_steps");
  expect(h.violations()).toEqual([]);
});

it("[TURN-51] a definition is not replaced while a turn is open", async () => {
  const held = gate<{ content: string }>();
  const { tool } = echoTool({ run: () => held.opened });
  const h = new Harness([{ calls: [{ name: "echo", args: { text: "a" } }] }, { text: "done" }], {
    tools: [tool],
  });
  await h.start("go");
  expect(() => h.agent.redefine({})).toThrow(expect.objectContaining({ code: "busy" }));
  held.open({ content: "a" });
  await h.finish();
  expect(h.last("tool_result")).toMatchObject({ isError: false });
  expect(h.violations()).toEqual([]);
});
