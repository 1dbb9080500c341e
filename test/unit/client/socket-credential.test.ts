import { beforeEach, expect, it } from "vitest";
import { SessionSocket } from "../../../client/session-socket.ts";
import type { SessionSocketOptions } from "../../../client/session-socket.ts";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import type { SessionState } from "../../../src/runtime/protocol/frames.ts";
import { CLOSE } from "../../../src/runtime/protocol/websocket.ts";
import { FakeSockets, hello, live, sessionState } from "../support/fake-sockets.ts";
import { FakeTime, settled } from "../support/fake-time.ts";

/** The first wait before a try, at most. */
const RETRY = 500;

let sockets: FakeSockets;
let time: FakeTime;
let answer: () => Promise<SessionState>;

beforeEach(() => {
  sockets = new FakeSockets();
  time = new FakeTime();
  answer = () => Promise.resolve(sessionState());
});

function connect(credential: SessionSocketOptions["credential"]): SessionSocket {
  const socket = new SessionSocket({
    url: "https://agents.test",
    credential,
    session: "s",
    state: () => answer(),
    openWebSocket: sockets.open,
    timers: time,
    random: () => 1,
  });
  socket.open();
  return socket;
}

function serve(): void {
  sockets.last.accept();
  sockets.last.tell(hello(), live(0));
}

function tokenOf(): string | undefined {
  return sockets.last.protocols[1];
}

it("[CLIENT-10] a credential that is given anew replaces the one that the server closed the connection for, and nothing is lost", async () => {
  let tokens = 0;
  const socket = connect(async () => `t${(tokens += 1)}`);
  await settled();
  expect(tokenOf()).toBe("token.t1");
  serve();
  const prompted = socket.prompt({ text: "hi", promptId: "p" });
  sockets.last.drop(CLOSE.credential);
  expect(socket.connection.status).toBe("waiting");
  await time.pass(RETRY);
  expect(tokenOf()).toBe("token.t2");
  serve();
  expect(sockets.last.frames).toMatchObject([{ type: "prompt", promptId: "p" }]);
  sockets.last.tell({ type: "ack", id: "1", result: { promptId: "p" } });
  expect(await prompted).toEqual({ promptId: "p" });
});

it("[CLIENT-10] a credential that is given anew replaces one that an opening was refused with, too", async () => {
  const given = ["old", "new"];
  answer = () => Promise.reject(new LightAgentError("unauthorized", "no"));
  const socket = connect(() => given.shift() ?? "new");
  sockets.last.drop();
  await time.pass(RETRY);
  expect(tokenOf()).toBe("token.new");
  serve();
  expect(socket.connection.status).toBe("live");
});

it("[CLIENT-10] the connection ends when the credential is the refused one again", async () => {
  const socket = connect(() => "t");
  serve();
  sockets.last.drop(CLOSE.credential);
  await time.pass(RETRY);
  expect(socket.connection).toMatchObject({ status: "ended", error: { code: "unauthorized" } });
  expect(sockets.opened).toHaveLength(1);
});

it("[CLIENT-10] a credential is asked for again when it could not be had, unless that is final", async () => {
  const answers = [new Error("no network"), "t", new LightAgentError("forbidden", "signed out")];
  const socket = connect(() => {
    const next = answers.shift();
    if (typeof next === "string") return next;
    throw next;
  });
  expect(socket.connection.status).toBe("waiting");
  await time.pass(RETRY);
  serve();
  expect(socket.connection.status).toBe("live");
  sockets.last.drop();
  // The second wait is twice the first.
  await time.pass(2 * RETRY);
  expect(socket.connection).toMatchObject({ status: "ended", error: { code: "forbidden" } });
});

it("[CLIENT-10] nothing is opened when the credential comes after the owner has closed", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(() => promise);
  socket.close();
  resolve("t");
  await settled();
  expect(sockets.opened).toHaveLength(0);
  socket.open();
  await settled();
  expect(sockets.opened).toHaveLength(1);
});
