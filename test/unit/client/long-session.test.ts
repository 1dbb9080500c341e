import { beforeEach, expect, it } from "vitest";
import { foldConversation } from "../../../client/conversation.ts";
import { SessionStore } from "../../../client/session-store.ts";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { FakeSockets, hello, live, sessionState } from "../support/fake-sockets.ts";
import { FakeTime, settled } from "../support/fake-time.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";

/** Six turns of three events each, and what happened after the third. */
const lines: Line[] = [1, 2, 3, 4, 5, 6].flatMap((turn): Line[] => [
  ["input", { turn, promptId: `p${turn}`, content: [{ type: "text", text: `Prompt ${turn}` }] }],
  ["agent_stop", { turn, promptIds: [`p${turn}`] }],
  ...(turn === 3 ? [["prompt_dropped", { turn, promptId: "x" }] as const] : []),
  ...(turn === 4 ? [["agent_summary", { turn, text: "So far" }] as const] : []),
]);
const log = logOf(...lines);
const beginnings = log.flatMap((event) => (event.type === "input" ? [event] : []));
const endBefore = (turn: number): number =>
  log.findLast((event) => event.type === "agent_stop" && event.turn < turn)?.seq ?? 0;
let fetched: string[];
let fail: boolean;
let logId: string;
let sockets: FakeSockets;
let long: SessionStore;

beforeEach(() => {
  sockets = new FakeSockets();
  fetched = [];
  fail = false;
  logId = "l";
  long = new SessionStore({
    url: "http://agents.test",
    credential: "key",
    session: "s",
    turnsAtOnce: 2,
    rest: {
      session: () => Promise.resolve(sessionState()),
      queue: () => Promise.resolve({ data: [], next: null }),
      checkpoints: (_session, { limit = 0, cursor = null } = {}) => {
        fetched.push(`turns before ${String(cursor)}`);
        if (fail) return Promise.reject(new LightAgentError("unavailable", "Gone."));
        const all = beginnings.filter(({ turn }) => !cursor || turn < Number(cursor)).toReversed();
        const data = all.slice(0, limit).map(({ turn, at }) => {
          return { turn, at, seq: endBefore(turn), preview: "", workspaceVersion: null };
        });
        return Promise.resolve({ data, next: all.length > limit ? String(data.at(-1)?.turn) : null });
      },
      events: (_session, { after = 0, limit = 0 } = {}) => {
        fetched.push(`events ${after} to ${after + limit}`);
        // The server may give fewer than were asked for.
        const events = log.slice(after, after + Math.min(limit, 3));
        return Promise.resolve({ events, head: log.length, next: null, logId });
      },
    },
    openWebSocket: sockets.open,
    timers: new FakeTime(),
    random: () => 0,
  });
});

/** Connects, and serves what was asked for. */
function serve(): void {
  sockets.last.accept();
  const events = log.slice(sockets.last.after);
  sockets.last.tell(hello({ head: log.length }), { type: "events", events }, live(log.length));
}

const turns = (): number[] => long.value.turns.map(({ turn }) => turn);

it("[WEB-22] a long session is fetched from its last turns on, and further back when that is asked for", async () => {
  long.open();
  long.open();
  await settled();
  // What followed turn 4 belongs to it, and is fetched with the turns after it.
  expect(sockets.last.after).toBe(endBefore(5));
  serve();
  expect(turns()).toEqual([4, 5, 6]);
  expect(long.value.older).toBe("some");
  await Promise.all([long.loadOlder(), long.loadOlder()]);
  expect(turns()).toEqual([3, 4, 5, 6]);
  await long.loadOlder();
  expect(turns()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(long.value.older).toBe("none");
  expect(long.value.turns).toEqual(foldConversation([], log));
  expect(fetched.filter((call) => call.startsWith("turns"))).toEqual([
    "turns before null",
    "turns before 5",
    "turns before 3",
  ]);
  await long.loadOlder();
  expect(fetched.filter((call) => call.startsWith("turns"))).toHaveLength(3);
});

it("[WEB-22] a long session that cannot be fetched further back says so, and can be asked again", async () => {
  long.open();
  await settled();
  serve();
  fail = true;
  await long.loadOlder();
  expect(long.value).toMatchObject({ older: "some", problem: { code: "unavailable" } });
  fail = false;
  await long.loadOlder();
  expect(turns()).toContain(3);
});

it("[WEB-22] a long session is fetched whole when its turns cannot be listed", async () => {
  fail = true;
  long.open();
  await settled();
  expect(sockets.last.after).toBe(0);
  serve();
  expect(turns()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(long.value.older).toBe("none");
});

it("[WEB-22] a long session is not mixed with the past of another log", async () => {
  long.open();
  await settled();
  serve();
  logId = "other";
  await long.loadOlder();
  expect(turns()).toEqual([4, 5, 6]);
});

it("[WEB-22] a long session that is closed before its beginning is found connects only when it is opened again", async () => {
  long.open();
  long.close();
  await settled();
  expect(sockets.opened).toEqual([]);
  long.open();
  await settled();
  expect(sockets.opened).toHaveLength(1);
  expect(sockets.last.after).toBe(endBefore(5));
  serve();
  expect(turns()).toEqual([4, 5, 6]);
});
