import { expect, it } from "vitest";
import { Harness, gate } from "../support/agent-harness.ts";
import { settled } from "../support/fake-time.ts";

it("[QUEUE-14] a prompt that waited does not open its turn inside one that has begun meanwhile", async () => {
  const room = gate();
  const h = new Harness([{ text: "one", delayMs: 10 }, { text: "two", delayMs: 10 }, { text: "three" }], {
    beforeTurn: () => room.opened,
  });
  await h.start("first");
  await h.start({ text: "second", promptId: "second" });
  await h.time.pass(1_000);
  // The second is about to open its turn; instead it is withdrawn, and two others come.
  expect(h.types.at(-1)).toBe("agent_stop");
  await h.agent.withdraw("second");
  expect(await h.start({ text: "third", promptId: "third" })).toMatchObject({ status: "running" });
  expect(await h.start({ text: "fourth", promptId: "fourth" })).toMatchObject({ status: "queued" });
  room.open();
  await settled();
  await h.finish();
  expect(h.all("agent_stop").map(({ promptIds }) => promptIds)).toEqual([["p1"], ["third"], ["fourth"]]);
  expect(h.violations()).toEqual([]);
});

it("[QUEUE-15] a turn that has begun does not wait for what a prompt before it would have waited for", async () => {
  const h = new Harness([{ text: "one", delayMs: 10 }, { text: "two" }], {
    beforeTurn: () => new Promise(() => undefined),
  });
  await h.start("first");
  await h.start({ text: "second", promptId: "second" });
  await h.time.pass(1_000);
  await h.agent.withdraw("second");
  expect(await h.start({ text: "third", promptId: "third" })).toMatchObject({ status: "running" });
  await h.finish();
  expect(h.all("agent_stop").map(({ promptIds }) => promptIds)).toEqual([["p1"], ["third"]]);
  await h.start({ text: "fourth", promptId: "fourth" });
  await h.agent.close();
  expect(h.violations()).toEqual([]);
});
