import fc from "fast-check";
import { expect, it } from "vitest";
import { SessionSocket } from "../../../client/session-socket.ts";
import { FakeSockets, sessionState } from "../support/fake-sockets.ts";
import { FakeTime } from "../support/fake-time.ts";
import { framesOf, inBlockOrder } from "../support/simulated-connection.ts";
import type { ConnectionScript } from "../support/simulated-connection.ts";
import { timelines, truthAt } from "../support/timeline.ts";
import type { Moment } from "../support/timeline.ts";

const connectionScripts: fc.Arbitrary<ConnectionScript> = fc.record({
  missed: fc.nat({ max: 20 }),
  lives: fc.nat({ max: 30 }),
  lost: fc.nat({ max: 5 }),
  overlap: fc.nat({ max: 5 }),
  page: fc.integer({ min: 1, max: 10 }),
  coalesces: fc.boolean(),
  single: fc.constant(false),
  repeats: fc.constant(0),
});

const LAST: ConnectionScript = {
  missed: 0,
  lives: Infinity,
  lost: 0,
  overlap: 0,
  page: 5,
  coalesces: true,
  single: false,
  repeats: 0,
};

/** Lives through a session on many connections, each of which breaks with some frames still on their way. */
async function liveThrough(
  moments: readonly Moment[],
  scripts: readonly ConnectionScript[],
): Promise<SessionSocket> {
  const sockets = new FakeSockets();
  const time = new FakeTime();
  const socket = new SessionSocket({
    url: "http://agents.test",
    credential: "key",
    session: "s",
    state: () => Promise.resolve(sessionState({ head: Infinity })),
    openWebSocket: sockets.open,
    timers: time,
    random: () => 0,
  });
  socket.open();
  const left = [...scripts];
  for (let now = 0; ;) {
    const script = left.shift() ?? LAST;
    const from = Math.min(moments.length, now + script.missed);
    const until = crashIn(moments, from, Math.min(moments.length, from + script.lives));
    expect(sockets.last.after).toBe(socket.view.head);
    const { opening, following } = framesOf(moments, from, until, sockets.last.after, script);
    sockets.last.accept();
    sockets.last.tell(...opening, ...following.slice(0, Math.max(0, following.length - script.lost)));
    expect(socket.connection.status).toBe("live");
    if (script === LAST && until === moments.length) return socket;
    now = moments[until]?.kind === "crash" ? until + 1 : until;
    sockets.last.drop();
    await time.pass(0);
  }
}

/** The first crash in a span of moments, which no connection survives; the span's end without one. */
function crashIn(moments: readonly Moment[], from: number, until: number): number {
  const index = moments.slice(from, until).findIndex(({ kind }) => kind === "crash");
  return index === -1 ? until : from + index;
}

it("[WIRE-10] a socket that is cut off anywhere, any number of times, holds what one that never was holds", async () => {
  await fc.assert(
    fc.asyncProperty(timelines, fc.array(connectionScripts, { maxLength: 6 }), async (moments, scripts) => {
      const { view } = await liveThrough(moments, scripts);
      const { log, partial } = truthAt(moments, moments.length);
      expect(view.events).toEqual(log);
      expect(inBlockOrder(view.blocks)).toEqual(inBlockOrder(partial));
      expect(view.gap).toBe(false);
    }),
    { numRuns: 150 },
  );
});
