import { expect, it } from "vitest";
import { ALICE, Harness, echoTool, gate } from "../support/agent-harness.ts";

it.each([
  { what: "its turn is stopped", end: (h: Harness) => h.agent.interrupt({ by: ALICE }), code: "stopped" },
  { what: "its time is over", end: (h: Harness) => h.time.pass(61_000), code: "timeout" },
])("[STOP-12] a tool does not begin when $what while a hook keeps it waiting", async ({ end, code }) => {
  const hook = gate();
  const { tool, runs } = echoTool();
  const h = new Harness([{ calls: [{ name: "echo", args: { text: "a" } }] }, { text: "ok" }], {
    tools: [tool],
    hooks: { beforeTool: () => hook.opened },
  });
  await h.start("go");
  await end(h);
  hook.open();
  await h.finish();
  expect(runs).toEqual([]);
  expect(h.last("tool_result")).toMatchObject({ code, isError: true });
  expect(h.violations()).toEqual([]);
});
