import { expect, it } from "vitest";
import { checkStream } from "../../../src/runtime/protocol/stream-grammar.ts";
import { ALICE, Harness, echoTool, gate } from "../support/agent-harness.ts";

it("[WIRE-20] withdraws what a dead process had shown, also when its turn is stopped before a model is asked again", async () => {
  const before = new Harness([{ text: "shown and lost", end: "hang" }]);
  await before.start("go");
  const after = new Harness([], { session: before.session });
  after.agent.resume(1);
  await after.agent.interrupt({ by: ALICE });
  await after.finish();
  expect(after.model.requests).toEqual([]);
  expect(after.last("attempt_reset")).toMatchObject({ turn: 1, step: 1, attempt: 1000 });
  // One socket that outlived the first process.
  expect(checkStream([...before.told, ...after.told])).toEqual([]);
  expect(after.types).toEqual(["input", "interrupt", "agent_stop"]);
});

it("[WIRE-20] withdraws nothing of a reply that is in the log", async () => {
  const { tool } = echoTool({ run: () => gate<{ content: string }>().opened });
  const tools = [tool];
  const before = new Harness([{ text: "kept", calls: [{ name: "echo", args: { text: "a" } }] }], { tools });
  await before.start("go");
  const after = new Harness([{ text: "more" }], { session: before.session, tools });
  after.agent.resume(1);
  await after.finish();
  expect(after.all("attempt_reset")).toEqual([]);
  expect(checkStream([...before.told, ...after.told])).toEqual([]);
});
