import { expect, it } from "vitest";
import { MemorySession } from "../../../src/runtime/session/memory-session.ts";
import { Harness, echoTool, gate } from "../support/agent-harness.ts";

it("[TURN-49] tells the tools that still run to stop when a commit fails", async () => {
  const quick = gate<{ content: string }>();
  const signals: AbortSignal[] = [];
  const { tool } = echoTool();
  const watching = {
    ...tool,
    execute: (args: Record<string, unknown>, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return args["text"] === "quick" ? quick.opened : gate<{ content: string }>().opened;
    },
  };
  const calls = ["quick", "slow"].map((text) => ({ name: "echo", args: { text } }));
  const session = new MemorySession("s");
  const h = new Harness([{ calls }], { session, tools: [watching] });
  await h.start("go");
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  session.append = () => {
    throw new Error("database or disk is full");
  };
  quick.open({ content: "done" });
  await h.waitFor(async () => {
    await h.time.pass(1);
    return h.agent.failure !== null;
  });
  expect(h.agent.failure).toMatchObject({ code: "log_write_failed" });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});
