import { beforeEach, describe, expect, it } from "vitest";
import type { ConnectionState } from "../../../client/connection-state.ts";
import { SessionSocket } from "../../../client/session-socket.ts";
import type { SessionSocketOptions } from "../../../client/session-socket.ts";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import type { ServerFrame, SessionState } from "../../../src/runtime/protocol/frames.ts";
import { CLOSE } from "../../../src/runtime/protocol/websocket.ts";
import { FakeSockets, hello, live, sessionState } from "../support/fake-sockets.ts";
import { FakeTime, settled } from "../support/fake-time.ts";
import { logOf } from "../support/log-builder.ts";

const log = logOf(
  ["input"],
  ["output", { step: 1 }],
  ["agent_trace", { step: 1 }],
  ["agent_stop", { step: 1 }],
);
const events = (from = 0, to = log.length): ServerFrame => ({ type: "events", events: log.slice(from, to) });

let sockets: FakeSockets;
let time: FakeTime;
let states: ConnectionState[];
let answer: () => Promise<SessionState>;
let random: number;

beforeEach(() => {
  sockets = new FakeSockets();
  time = new FakeTime();
  states = [];
  answer = () => Promise.resolve(sessionState({ head: log.length }));
  random = 0.5;
});

function connect(options: Partial<SessionSocketOptions> = {}): SessionSocket {
  let ids = 0;
  const socket = new SessionSocket({
    url: "https://agents.test",
    credential: "la_t.k.secret",
    session: "s",
    state: () => answer(),
    onConnection: (state) => states.push(state),
    openWebSocket: sockets.open,
    timers: time,
    random: () => random,
    newId: () => `p${(ids += 1)}`,
    ...options,
  });
  socket.open();
  return socket;
}

/** Brings the last connection to life, with so much of the log as it lacks. */
function serve(until = log.length): void {
  sockets.last.accept();
  sockets.last.tell(hello({ head: until }), events(sockets.last.after, until), live(until));
}

/** The longest wait before a try. */
const LONG = 15_000;

/** What a promise that is expected to reject rejects with. */
async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (caught: unknown) => (caught instanceof LightAgentError ? caught.code : caught),
  );
}

describe("a connection", () => {
  it("[WIRE-11] names the session, the protocol, the credential and the cursor", () => {
    const socket = connect();
    expect(sockets.last.url.href).toBe("wss://agents.test/v1/sessions/s/ws?after=0");
    expect(sockets.last.protocols).toEqual(["light-agent.v1", "token.la_t.k.secret"]);
    serve();
    expect(socket.view).toMatchObject({ head: 4, events: log });
    expect(states.map(({ status }) => status)).toEqual(["connecting", "catching_up", "live"]);
  });

  it("[WIRE-11] that follows another asks for what comes after the last event held", async () => {
    const socket = connect();
    serve(2);
    sockets.last.drop();
    expect(socket.connection.status).toBe("waiting");
    await time.pass(LONG);
    expect(sockets.last.after).toBe(2);
    serve();
    expect(socket.view.events).toEqual(log);
  });

  it("[WIRE-17] answers each sync with its synced", () => {
    connect();
    serve();
    sockets.last.tell({ type: "sync", n: 1 }, { type: "sync", n: 2 });
    expect(sockets.last.frames).toEqual([
      { type: "synced", n: 1 },
      { type: "synced", n: 2 },
    ]);
  });

  it("[WIRE-19] with a gap is given up, and the next one begins at the cursor", async () => {
    const socket = connect();
    serve(2);
    const gapped = sockets.last;
    gapped.tell({ type: "events", events: log.slice(3) });
    expect(gapped.closed).toBe(true);
    await time.pass(LONG);
    expect(sockets.last.after).toBe(2);
    serve();
    expect(socket.view).toMatchObject({ events: log, gap: false });
  });

  it("[WIRE-19] that brings another log begins anew with it", async () => {
    const socket = connect();
    serve();
    sockets.last.drop();
    await time.pass(LONG);
    sockets.last.accept();
    sockets.last.tell(hello({ logId: "another", head: 9 }));
    await time.pass(LONG);
    expect(sockets.last.after).toBe(0);
    sockets.last.accept();
    sockets.last.tell(hello({ logId: "another" }), events(0, 1), live(1));
    expect(socket.view.events).toEqual(log.slice(0, 1));
    expect(socket.connection.status).toBe("live");
  });

  it("[WIRE-19] that is refused because the server's log is shorter begins anew", async () => {
    answer = () => Promise.resolve(sessionState({ head: 1 }));
    connect();
    serve();
    sockets.last.drop();
    await time.pass(LONG);
    expect(sockets.last.after).toBe(4);
    sockets.last.drop();
    await time.pass(LONG);
    expect(sockets.last.after).toBe(0);
  });

  it("ignores what is no frame, and frames of a later protocol", () => {
    const socket = connect();
    serve(1);
    for (const text of ["", "{", "null", "[]", "7", '{"type":7}', new ArrayBuffer(2)])
      sockets.last.tellText(text);
    sockets.last.tellText('{"type":"of_the_future","turn":1,"step":1}');
    sockets.last.tell(events(1));
    expect(socket.view.events).toEqual(log);
    expect(sockets.last.closed).toBe(false);
  });
});

describe("tries", () => {
  async function delays(count: number): Promise<number[]> {
    const waited: number[] = [];
    for (let index = 0; index < count; index += 1) {
      sockets.last.drop();
      const state = states.at(-1);
      const delayMs = state?.status === "waiting" ? state.delayMs : -1;
      waited.push(delayMs);
      await time.pass(delayMs);
    }
    return waited;
  }

  it("[WIRE-15] come at growing distances up to a bound, each by chance below it", async () => {
    connect();
    random = 1;
    expect(await delays(8)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
    random = 0.25;
    expect(await delays(1)).toEqual([3_750]);
  });

  it("[WIRE-15] begin anew only after a connection that was live for a while", async () => {
    random = 1;
    connect();
    await delays(3);
    serve();
    await time.pass(1_000);
    expect(await delays(1)).toEqual([4_000]);
    serve();
    await time.pass(5_000);
    expect(await delays(1)).toEqual([500]);
  });

  it("[WIRE-15] are made at once when the owner says so", () => {
    const socket = connect();
    sockets.last.drop();
    socket.open();
    expect(sockets.opened).toHaveLength(2);
    socket.open();
    expect(sockets.opened).toHaveLength(2);
  });

  it.each([
    [CLOSE.protocolError, "invalid_frame"],
    [CLOSE.credential, "unauthorized"],
    [CLOSE.deleted, "not_found"],
  ])("[WIRE-16] end with close code %i, and all that waits is rejected", async (code, reason) => {
    const socket = connect();
    serve();
    const prompted = refusal(socket.prompt({ text: "hi" }));
    sockets.last.drop(code);
    expect(socket.connection).toMatchObject({ status: "ended", error: { code: reason } });
    expect(await prompted).toBe(reason);
    expect(await refusal(socket.prompt({ text: "again" }))).toBe("unavailable");
    await time.pass(LONG);
    expect(sockets.opened).toHaveLength(1);
    expect(time.pending).toBe(0);
  });

  it.each(["unauthorized", "forbidden", "not_found"] as const)(
    "[WIRE-16] end when REST answers a refused opening with %s",
    async (code) => {
      answer = () => Promise.reject(new LightAgentError(code, "no"));
      const socket = connect();
      const prompted = refusal(socket.prompt({ text: "hi" }));
      sockets.last.drop();
      await settled();
      expect(socket.connection).toEqual({ status: "ended", error: { code, message: "no" } });
      expect(await prompted).toBe(code);
      await time.pass(LONG);
      expect(sockets.opened).toHaveLength(1);
    },
  );

  it("[WIRE-16] go on when REST does not explain a refused opening", async () => {
    answer = () => Promise.reject(new LightAgentError("unavailable", "no network"));
    const socket = connect();
    sockets.last.drop();
    await time.pass(LONG);
    serve();
    expect(socket.connection.status).toBe("live");
  });

  it("[WIRE-16] end at once when the address or the credential cannot be used", () => {
    const socket = connect({
      openWebSocket: () => {
        throw new SyntaxError("not a subprotocol");
      },
    });
    expect(socket.connection).toMatchObject({ status: "ended", error: { code: "invalid_request" } });
  });

  it("end when the owner closes, who is told of nothing that comes later", async () => {
    const socket = connect();
    serve(2);
    const prompted = refusal(socket.prompt({ text: "hi" }));
    socket.close();
    expect(await prompted).toBe("unavailable");
    sockets.last.tell(events(2));
    expect(socket.view.head).toBe(2);
    expect(states.at(-1)).toEqual({ status: "ended", error: null });
    expect(time.pending).toBe(0);
  });

  it("[CLIENT-8] go on at the cursor when the owner opens them again, but not what the server has ended", () => {
    const socket = connect();
    serve(2);
    socket.close();
    socket.open();
    expect(sockets.opened).toHaveLength(2);
    expect(sockets.last.after).toBe(2);
    serve(2);
    expect(socket.connection.status).toBe("live");
    sockets.last.drop(CLOSE.deleted);
    socket.open();
    expect(sockets.opened).toHaveLength(2);
    expect(socket.connection).toMatchObject({ status: "ended", error: { code: "not_found" } });
  });
});

describe("a silent connection", () => {
  it("[WIRE-18] is pinged, and kept while it answers", async () => {
    connect();
    serve();
    await time.pass(25_000);
    for (let index = 0; index < 3; index += 1) {
      await time.pass(25_000);
      sockets.last.tellText("pong");
      await time.pass(10_000);
    }
    expect(sockets.last.sent).toEqual(["ping", "ping", "ping"]);
    expect(sockets.opened).toHaveLength(1);
  });

  it("[WIRE-18] is not pinged while frames come", async () => {
    connect();
    serve(1);
    await time.pass(20_000);
    sockets.last.tell(events(1));
    await time.pass(20_000);
    expect(sockets.last.sent).toEqual([]);
  });

  it("[WIRE-18] that does not answer a ping is replaced at once", async () => {
    const socket = connect();
    serve(2);
    const dead = sockets.last;
    await time.pass(50_000 + 10_000 + 250);
    expect(dead.sent).toEqual(["ping"]);
    expect(dead.closed).toBe(true);
    expect(sockets.opened).toHaveLength(2);
    serve();
    expect(socket.view.events).toEqual(log);
  });

  it("[WIRE-18] that does not open in time is replaced", async () => {
    connect();
    await time.pass(10_000 + 250);
    expect(sockets.opened[0]?.closed).toBe(true);
    expect(sockets.opened.length).toBeGreaterThan(1);
  });
});

describe("commands", () => {
  const receipt = { promptId: "p1", status: "running", position: 0, head: 1 } as const;

  it("[WIRE-13] are resolved by their ack and rejected by their nack", async () => {
    const socket = connect();
    serve();
    const prompted = socket.prompt({ text: "hi", mode: "steer" });
    const withdrawn = refusal(socket.unqueue("p7"));
    const stopped = socket.interrupt({ turn: 3 });
    expect(sockets.last.frames).toEqual([
      { id: "1", type: "prompt", text: "hi", mode: "steer", promptId: "p1" },
      { id: "2", type: "unqueue", promptId: "p7" },
      { id: "3", type: "interrupt", turn: 3 },
    ]);
    sockets.last.tell(
      { type: "ack", id: "3", result: { interrupted: true, turn: 3 } },
      { type: "nack", id: "2", error: { code: "not_found", message: "does not wait" } },
      { type: "ack", id: "1", result: receipt },
      { type: "ack", id: "99", result: null },
    );
    expect(await prompted).toEqual(receipt);
    expect(await withdrawn).toBe("not_found");
    expect(await stopped).toEqual({ interrupted: true, turn: 3 });
  });

  it("[WIRE-12] that wait for a connection are sent when it opens, in their order", () => {
    const socket = connect();
    void socket.prompt({ text: "one" });
    void socket.prompt({ text: "two", promptId: "mine" });
    expect(sockets.last.sent).toEqual([]);
    serve();
    expect(sockets.last.frames.map(({ promptId }) => promptId)).toEqual(["p1", "mine"]);
  });

  it("[WIRE-12] without an answer are sent again under their ids, before those that came later", async () => {
    const socket = connect();
    serve();
    const first = socket.prompt({ text: "one" });
    const answered = socket.prompt({ text: "two" });
    sockets.last.tell({ type: "ack", id: "2", result: { ...receipt, promptId: "p2" } });
    await answered;
    const [sent] = sockets.last.sent;
    sockets.last.drop(CLOSE.restart);
    void socket.prompt({ text: "three" });
    await time.pass(LONG);
    serve();
    expect(sockets.last.sent[0]).toBe(sent);
    expect(sockets.last.frames.map(({ promptId }) => promptId)).toEqual(["p1", "p3"]);
    sockets.last.tell({ type: "ack", id: "1", result: receipt });
    expect(await first).toEqual(receipt);
  });

  it("[WIRE-14] that stop a named turn outlive a loss", async () => {
    const socket = connect();
    serve();
    const stopped = socket.interrupt({ turn: 3 });
    sockets.last.drop();
    await time.pass(LONG);
    serve();
    expect(sockets.last.frames).toEqual([{ id: "1", type: "interrupt", turn: 3 }]);
    sockets.last.tell({ type: "ack", id: "1", result: { interrupted: false, turn: 4 } });
    expect(await stopped).toEqual({ interrupted: false, turn: 4 });
  });

  it("[WIRE-14] that stop whatever runs are rejected by a loss, and without a connection", async () => {
    const socket = connect();
    expect(await refusal(socket.interrupt())).toBe("unavailable");
    serve();
    const stopped = refusal(socket.interrupt({ reason: "enough" }));
    sockets.last.drop();
    expect(await stopped).toBe("unavailable");
    await time.pass(LONG);
    serve();
    expect(sockets.last.sent).toEqual([]);
  });

  it("that are too large are refused before they are sent", async () => {
    const socket = connect();
    serve();
    expect(await refusal(socket.prompt({ text: "ü".repeat(600_000) }))).toBe("frame_too_large");
    expect(sockets.last.sent).toEqual([]);
  });

  it("that a server finds too large are the largest ones", async () => {
    const socket = connect();
    serve();
    const small = socket.prompt({ text: "small" });
    const large = refusal(socket.prompt({ text: "x".repeat(1_000) }));
    sockets.last.tell({ type: "nack", id: null, error: { code: "frame_too_large", message: "too large" } });
    expect(await large).toBe("frame_too_large");
    sockets.last.tell({ type: "ack", id: "1", result: receipt });
    expect(await small).toEqual(receipt);
  });
});
