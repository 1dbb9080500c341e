import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { applyFrame, EMPTY_VIEW } from "../../src/runtime/protocol/session-view.ts";
import type { SessionView } from "../../src/runtime/protocol/session-view.ts";
import { checkStream } from "../../src/runtime/protocol/stream-grammar.ts";
import { Product } from "./product.ts";
import type { TestSession, TestSocket } from "./product.ts";

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

/** What a client holds after everything that a socket got. */
function viewOf(socket: TestSocket, before: SessionView = EMPTY_VIEW): SessionView {
  return socket.frames.reduce((view, frame) => applyFrame(view, frame as never), before);
}

async function oneTurn(text: string[] = ["hello ", "you"]): Promise<TestSession> {
  const session = await product.session([{ text }, { text: ["second"] }]);
  await session.prompt("hi");
  await session.ended();
  return session;
}

describe("the WebSocket of a session", () => {
  it("[WIRE-30] says hello with the state, replays the log, and goes live at the head", async () => {
    const session = await oneTurn();
    const socket = await session.connect();
    await socket.until(({ type }) => type === "live");
    expect(socket.frames.map(({ type }) => type)).toEqual(["hello", "events", "live"]);
    expect(socket.frames[0]).toMatchObject({
      protocol: 1,
      state: { id: session.id, status: "idle", turn: 1, head: 4 },
    });
    expect(socket.frames[1]?.["events"]).toEqual(await session.log());
    expect(socket.frames[2]).toEqual({ type: "live", head: 4, partial: [] });
    socket.close();
  });

  it("[WIRE-31] streams deltas, one events frame per commit, and commands with their acks", async () => {
    const session = await product.session([
      { text: ["a ", "b ", "c"], delayMs: 10 },
      { text: ["x"], ending: "hang" },
    ]);
    const socket = await session.connect();
    const ack = await socket.ask({ type: "prompt", text: "go", promptId: "p1" });
    expect(ack).toMatchObject({
      type: "ack",
      result: { promptId: "p1", status: "running", position: 0, head: 1 },
    });
    await socket.untilStop();
    expect(checkStream(socket.events)).toEqual([]);
    const deltas = socket.frames.filter(({ type }) => type === "text_delta");
    expect(deltas.map((frame) => frame["text"]).join("")).toBe("a b c");
    const commits = socket.frames.filter(({ type }) => type === "events");
    expect(commits.map((frame) => (frame["events"] as unknown[]).length)).toEqual([1, 3]);
    await socket.ask({ type: "prompt", text: "hang" });
    await socket.ask({ type: "prompt", text: "wait", promptId: "w" });
    expect(await socket.ask({ type: "unqueue", promptId: "w" })).toMatchObject({ type: "ack" });
    expect(await socket.ask({ type: "unqueue", promptId: "w" })).toMatchObject({
      type: "nack",
      error: { code: "not_found" },
    });
    expect(await socket.ask({ type: "interrupt", reason: "enough" })).toMatchObject({
      result: { interrupted: true, turn: 2 },
    });
    await socket.untilStop(2);
    expect(checkStream(socket.events)).toEqual([]);
    socket.close();
  });

  it("[WIRE-32] sends a reconnecting client what it missed and nothing else, to the byte", async () => {
    const session = await oneTurn(["first ", "x".repeat(10_000)]);
    const log = await session.log();
    for (const after of [0, 1, 2, 3]) {
      const socket = await session.connect(after);
      await socket.until(({ type }) => type === "live");
      const missed = log.filter(({ seq }) => seq > after);
      expect(socket.texts.slice(1, -1)).toEqual([JSON.stringify({ type: "events", events: missed })]);
      socket.close();
    }
    const current = await session.connect(4);
    await current.until(({ type }) => type === "live");
    expect(current.texts).toHaveLength(2);
    current.close();
  });

  it("[WIRE-33] holds the same log and the same text wherever a client was cut off", async () => {
    const text = Array.from({ length: 12 }, (_, index) => `word${index} `);
    const session = await product.session([{ text, delayMs: 15 }]);
    const steady = await session.connect();
    await session.prompt("go");
    let view = EMPTY_VIEW;
    while (!view.events.some(({ type }) => type === "agent_stop")) {
      const socket = await session.connect(view.head);
      await socket.until(({ type }) => type === "live");
      await new Promise((resolve) => setTimeout(resolve, 25));
      view = viewOf(socket, view);
      expect(view.gap).toBe(false);
      socket.close();
    }
    await steady.untilStop();
    expect(view.events).toEqual(viewOf(steady).events);
    expect(view.blocks).toEqual([]);
    expect(checkStream(steady.events)).toEqual([]);
    steady.close();
  });

  it("[WIRE-34] shows a client that joins in mid-stream all of the open text", async () => {
    const session = await product.session([{ text: ["shown ", "before"], ending: "hang" }]);
    const first = await session.connect();
    await session.prompt("go");
    await first.until((frame) => frame.type === "text_delta" && frame["text"] === "before");
    const second = await session.connect();
    const live = await second.until(({ type }) => type === "live");
    expect(live["partial"]).toEqual([
      { turn: 1, step: 1, attempt: 1, block: 0, kind: "text", text: "shown before" },
    ]);
    expect(viewOf(second).blocks).toEqual(viewOf(first).blocks);
    first.close();
    second.close();
  });

  it("[WIRE-35] answers a bad frame with a nack, and the socket stays open", async () => {
    const session = await product.session([]);
    const socket = await session.connect();
    const bad: [unknown, string, unknown][] = [
      ["not json", "invalid_frame", null],
      [new ArrayBuffer(8), "invalid_frame", null],
      [{ id: "a", type: "unknown" }, "invalid_frame", "a"],
      [{ id: "b", type: "prompt" }, "invalid_request", "b"],
      [{ id: "c", type: "prompt", text: "x", extra: 1 }, "invalid_frame", "c"],
      [{ id: "d", type: "events", events: [] }, "invalid_frame", "d"],
      [`{"id":"e","type":"prompt","text":"${"x".repeat(1024 * 1024)}"}`, "frame_too_large", null],
      [{ id: "f", type: "prompt", text: "x".repeat(300 * 1024) }, "prompt_too_large", "f"],
      [{ id: "g", type: "prompt", text: "x", model: "nonesuch" }, "invalid_request", "g"],
    ];
    for (const [frame, code, id] of bad) {
      const before = socket.frames.length;
      socket.send(frame);
      await socket.until((answer) => answer.type === "nack" && socket.frames.indexOf(answer) >= before);
      expect(socket.frames.at(-1)).toMatchObject({ type: "nack", id, error: { code } });
      expect(JSON.stringify(socket.frames.at(-1))).not.toContain("    at ");
    }
    socket.send("ping");
    await expect.poll(() => socket.texts.at(-1)).toBe("pong");
    expect(await session.log()).toEqual([]);
    socket.close();
  });

  it("[WIRE-36] answers a flood of messages, each once", async () => {
    const session = await product.session([]);
    const socket = await session.connect();
    for (let id = 0; id < 1_000; id += 1) socket.send({ id, type: "interrupt" });
    await socket.until((frame) => frame["id"] === 999);
    const answered = socket.frames.filter(({ type }) => type === "ack").map((frame) => frame["id"]);
    expect(answered).toEqual(Array.from({ length: 1_000 }, (_, id) => id));
    socket.close();
  });

  it("[WIRE-37] refuses a cursor beyond the head, and more sockets than allowed, before it accepts", async () => {
    const session = await product.session([]);
    const refused = async (query: string): Promise<unknown> => {
      const response = await product.fetch(`${session.path}/ws${query}`, {
        headers: { upgrade: "websocket" },
      });
      const body = await response.json<{ error: { code: string } }>();
      return [response.status, body.error.code];
    };
    expect(await refused("?after=5")).toEqual([416, "cursor_ahead"]);
    for (const after of ["abc", "-1", "1.5", "1e3", "99999999999999999999"]) {
      expect([after, await refused(`?after=${after}`)]).toEqual([after, [400, "invalid_cursor"]]);
    }
    const sockets: TestSocket[] = [];
    for (let count = 0; count < 64; count += 1) sockets.push(await session.connect());
    expect(await refused("?after=0")).toEqual([429, "too_many_sockets"]);
    sockets[0]?.close();
    await expect.poll(async () => (await session.connect()).frames.length >= 0).toBe(true);
    for (const socket of sockets) socket.close();
  });

  it("[WIRE-38] pauses a replay and closes a live socket whose client does not keep pace", async () => {
    const slow = await Product.create();
    const headers = { authorization: `Bearer ${env.ROOT_KEY}`, "content-type": "application/json" };
    const limits = {
      syncBytes: 2_000,
      replayPauseBytes: 8_000,
      socketCloseBytes: 20_000,
      replayPageBytes: 1_000,
    };
    const body = JSON.stringify({ limits });
    const patched = await slow.fetch(`/v1/tenants/${slow.tenant}`, { method: "PATCH", headers, body });
    expect(patched.status).toBe(200);
    const texts = Array.from({ length: 12 }, () => ({ text: ["y".repeat(1_500)] }));
    const session = await slow.session([...texts, { text: ["z".repeat(30_000)] }]);
    for (let turn = 1; turn <= 12; turn += 1) {
      await session.prompt("more");
      await session.ended(turn);
    }
    const replay = await session.connect();
    await replay.until((frame) => frame.type === "sync" && frame["n"] === 4);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const paused = replay.frames.length;
    expect(replay.frames.some(({ type }) => type === "live")).toBe(false);
    replay.send({ type: "synced", n: 4 });
    await replay.until((frame) => frame.type === "sync" && frame["n"] === 5);
    expect(replay.frames.length).toBeGreaterThan(paused);
    for (let n = 5; !replay.frames.some(({ type }) => type === "live"); n += 1) {
      await replay.until(
        (frame) => frame.type === "live" || (frame.type === "sync" && Number(frame["n"]) >= n),
      );
      replay.send({ type: "synced", n });
    }
    const live = await session.connect((await session.log()).length);
    await live.until(({ type }) => type === "live");
    await session.prompt("much");
    await session.ended(13);
    expect(await live.untilClosed()).toMatchObject({ code: 4008 });
    const again = await session.connect((await session.log()).length - 1);
    await again.until(({ type }) => type === "live");
    expect(viewOf(again, { ...EMPTY_VIEW, head: (await session.log()).length - 1 }).events).toHaveLength(1);
    again.close();
    replay.close();
  });

  it("[WIRE-39] sends the types that a client subscribed to, and every durable event all the same", async () => {
    const session = await product.session([{ text: ["a", "b"] }, { text: ["c"] }]);
    const some = await session.connect();
    const all = await session.connect();
    await some.ask({ type: "subscribe", types: ["step_start", "message"] });
    await all.ask({ type: "subscribe", verbose: true });
    await session.prompt("go");
    await some.untilStop();
    await all.until(({ type }) => type === "done");
    const live = (socket: TestSocket): string[] => [
      ...new Set(socket.events.filter((event) => !("seq" in event)).map(({ type }) => type)),
    ];
    expect(live(some)).toEqual(["step_start", "message"]);
    expect(live(all)).toEqual(
      expect.arrayContaining(["turn_start", "text_delta", "message", "done", "step_end"]),
    );
    expect(some.events.filter((event) => "seq" in event)).toEqual(await session.log());
    expect(checkStream(all.events)).toEqual([]);
    some.close();
    all.close();
  });
});
