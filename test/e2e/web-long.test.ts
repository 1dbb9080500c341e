import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import { NO_USAGE } from "../../src/runtime/protocol/usage.ts";
import { PageRig, ask } from "./page-rig.ts";
import { seedLog } from "./seeded-session.ts";

/** A prompt and its answer each. */
const TURNS = 2_500;
/** Elements that a page with that session has at most: 160 entries of a few elements, and what is around them. */
const NODE_BOUND = 1_000;

let rig: PageRig;

function turnOf(turn: number): DurableEvent[] {
  const seq = (turn - 1) * 4;
  const at = 1_700_000_000_000 + turn * 1_000;
  const usage = { ...NO_USAGE, input: 200, output: 40 };
  const by = { kind: "key", id: "k" } as const;
  const reply = { turn, step: 1, attempt: 1 } as const;
  return [
    {
      type: "input",
      seq: seq + 1,
      at,
      turn,
      step: 0,
      promptId: `p${turn}`,
      content: [{ type: "text", text: `Prompt ${turn}` }],
      source: "user",
      by,
    },
    {
      type: "output",
      seq: seq + 2,
      at,
      ...reply,
      block: 0,
      text: `Answer **${turn}** with some words\n\n- one\n- two \`code\``,
    },
    {
      type: "agent_trace",
      seq: seq + 3,
      at,
      ...reply,
      model: "fake",
      usage,
      finishReason: "stop",
      startedAt: at,
      endedAt: at + 500,
    },
    {
      type: "agent_stop",
      seq: seq + 4,
      at,
      turn,
      step: 1,
      reason: "stop",
      cause: "model",
      promptIds: [`p${turn}`],
      usage,
    },
  ];
}

beforeAll(async () => {
  rig = await PageRig.start(() => ({ text: ["A new answer."] }));
  await rig.rest.createSession({ id: "long", title: "A long session" });
  await rig.product.kill();
  const turns = Array.from({ length: TURNS }, (_, index) => turnOf(index + 1));
  expect(checkLog(turns.flat())).toEqual([]);
  seedLog(rig.product.state, "long", turns);
  await rig.product.start();
});

afterAll(() => rig.stop());

afterEach(async () => expect(await rig.closePages()).toEqual([]));

const nodes = (page: Page): Promise<number> => page.evaluate("document.querySelectorAll('*').length");
const scrollBy = (page: Page, pixels: number): Promise<void> =>
  page.evaluate(`document.querySelector('.scroller').scrollBy(0, ${pixels})`);
const frame = (page: Page): Promise<void> =>
  page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
/** Where a turn that is drawn stands on the screen. */
const placeOf = (page: Page, turn: number): Promise<number> =>
  page.evaluate(`document.querySelector('[aria-label="Turn ${turn}"]').getBoundingClientRect().top`);
/** The turn at the top of the screen. */
const topTurn = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    const edge = document.querySelector('.scroller').getBoundingClientRect().top;
    const turns = [...document.querySelectorAll('.turn')];
    return Number(turns.find((turn) => turn.getBoundingClientRect().bottom > edge).ariaLabel.slice(5));
  })()`);

it("[WEB-22] [WEB-23] a session of 5,000 messages opens at its end, and however one scrolls few nodes are drawn", async () => {
  const page = await rig.open("long");
  await page.getByText(`Prompt ${TURNS}`, { exact: true }).waitFor();
  expect(await page.locator(".turn").count()).toBe(40);
  const fetched = (what: string): Promise<number> =>
    page.evaluate(
      `performance.getEntriesByType('resource').filter(({ name }) => name.includes('${what}')).length`,
    );
  expect([await fetched("/checkpoints"), await fetched("/events")]).toEqual([1, 0]);
  await page.evaluate(`(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longTasks.push(Math.round(entry.duration));
    }).observe({ type: "longtask" });
  })()`);

  let most = await nodes(page);
  await page.mouse.move(600, 400);
  for (let moves = 0; moves < 80; moves += 1) {
    const top = await topTurn(page);
    const before = await placeOf(page, top);
    await page.mouse.wheel(0, -400);
    await frame(page);
    // What was looked at has moved by as much as was scrolled, whatever was drawn above it meanwhile.
    const moved = (await placeOf(page, top)) - before;
    expect(moved).toBeGreaterThanOrEqual(-1);
    expect(moved).toBeLessThanOrEqual(401);
    most = Math.max(most, await nodes(page));
  }
  expect(await topTurn(page)).toBeLessThan(TURNS - 120);
  while (await page.getByRole("button", { name: "To the end" }).isVisible()) {
    await scrollBy(page, 1_500);
    await frame(page);
    most = Math.max(most, await nodes(page));
  }
  expect(await topTurn(page)).toBeGreaterThan(TURNS - 20);
  const tasks = await page.evaluate<number[]>("window.longTasks");
  console.log(
    `5,000 messages: at most ${most} nodes; long tasks while scrolling: ${tasks.join(", ") || "none"} ms`,
  );
  expect(most).toBeLessThanOrEqual(NODE_BOUND);

  await ask(page, "One more");
  await page.getByText("A new answer.").waitFor();
});
