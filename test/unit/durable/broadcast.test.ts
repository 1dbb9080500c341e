import { expect, it } from "vitest";
import { Broadcast } from "../../../src/durable/broadcast.ts";
import type { LiveEvent } from "../../../src/runtime/protocol/live-events.ts";
import { FakeTime } from "../support/fake-time.ts";

const WINDOW = 4;

/** How often each of so many followers is told of `deltas` that come 5 ms apart. */
async function framesEach(followers: number, deltas: number): Promise<number[]> {
  const time = new FakeTime();
  const broadcast = new Broadcast(time, WINDOW, time.clock);
  const told = Array.from({ length: followers }, () => "");
  const frames = told.map(() => 0);
  for (const index of told.keys()) {
    broadcast.join({
      tell: ({ live }) => {
        if (live === null) return;
        told[index] += (JSON.parse(live.json) as LiveEvent<"text_delta">).text;
        frames[index] = (frames[index] ?? 0) + 1;
      },
    });
  }
  for (let offset = 0; offset < deltas; offset += 1) {
    const coordinates = { turn: 1, step: 1, attempt: 1, block: 0, offset };
    broadcast.publish({ events: [], live: [{ type: "text_delta", ...coordinates, text: "x" }] });
    await time.pass(5);
  }
  await time.pass(100);
  expect(new Set(told)).toEqual(new Set(["x".repeat(deltas)]));
  return frames;
}

it.each([1, 30])(
  "[WIRE-76] deltas that are not fast go out one by one to %s followers",
  async (followers) => {
    expect(new Set(await framesEach(followers, 40))).toEqual(new Set([40]));
  },
);

it("[WIRE-76] the more follow, the longer deltas are gathered, so that sending does not take longer than the window", async () => {
  // A window of 16 ms.
  const [first, ...others] = await framesEach(120, 40);
  expect(first).toBeLessThanOrEqual(14);
  expect(new Set(others)).toEqual(new Set([first]));
});
