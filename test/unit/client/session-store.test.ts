import { beforeEach, describe, expect, it } from "vitest";
import type { QueuedPrompt } from "../../../client/rest-types.ts";
import { SessionStore } from "../../../client/session-store.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import { FakeSockets, hello, live, sessionState } from "../support/fake-sockets.ts";
import { FakeTime, settled } from "../support/fake-time.ts";
import { logOf } from "../support/log-builder.ts";
import type { Line } from "../support/log-builder.ts";

const by = { kind: "key", id: "k" } as const;
const waiting = (promptId: string): QueuedPrompt => ({
  promptId,
  mode: "queue",
  preview: promptId,
  by,
  at: 1,
});
const queue = (...ids: string[]): AgentEvent => ({
  type: "queue",
  turn: 1,
  step: 1,
  waiting: ids.map(waiting),
});
const place = { turn: 1, step: 1 } as const;

let sockets: FakeSockets;
let time: FakeTime;
let store: SessionStore;
let askQueue: () => Promise<readonly QueuedPrompt[]>;

beforeEach(() => {
  sockets = new FakeSockets();
  time = new FakeTime();
  askQueue = () => Promise.reject(new Error("not expected"));
  let ids = 0;
  store = new SessionStore({
    url: "http://agents.test",
    credential: "key",
    session: "s",
    rest: {
      session: () => Promise.resolve(sessionState()),
      queue: async () => ({ data: await askQueue(), next: null }),
      checkpoints: () => Promise.reject(new Error("not expected")),
      events: () => Promise.reject(new Error("not expected")),
    },
    openWebSocket: sockets.open,
    timers: time,
    random: () => 0,
    newId: () => `p${(ids += 1)}`,
  });
  store.open();
});

/** Connects with a log, and with so many prompts in the queue. */
function serve(log: readonly DurableEvent[], queued = 0): void {
  sockets.last.accept();
  const missing = log.slice(sockets.last.after);
  sockets.last.tell(
    hello({ head: log.length, queued, title: "T" }),
    { type: "events", events: missing },
    live(log.length),
  );
}

/** Further events of a log that begins with these lines. */
function commit(log: Line[], ...lines: readonly Line[]): void {
  const from = log.length;
  log.push(...lines);
  sockets.last.tell({ type: "events", events: logOf(...log).slice(from) });
}

const queueIds = (): string[] => store.value.queue.map(({ promptId }) => promptId);
const unsent = (): unknown[] => store.value.unsent.map(({ text, error }) => [text, error?.code ?? null]);

describe("the snapshot of a session", () => {
  it("[WEB-15] has the conversation, the state and the live text", () => {
    serve(logOf(["input"]));
    sockets.last.tell({ type: "text_delta", ...place, attempt: 1, block: 0, offset: 0, text: "hel" });
    expect(store.value).toMatchObject({
      connection: { status: "live" },
      state: { title: "T" },
      turns: [{ turn: 1, running: true }],
      view: { blocks: [{ text: "hel" }] },
    });
    expect(store.runningTurn).toBe(1);
  });

  it("[WEB-15] begins anew with another log", async () => {
    serve(logOf(["input"], ["agent_stop"]));
    sockets.last.drop();
    await time.pass(0);
    sockets.last.accept();
    sockets.last.tell(hello({ logId: "other" }));
    await time.pass(0);
    sockets.last.accept();
    const events = logOf(["input", { promptId: "x" }]);
    sockets.last.tell(hello({ logId: "other" }), { type: "events", events }, live(1));
    expect(store.value.turns).toMatchObject([{ running: true, entries: [{ kind: "prompt" }] }]);
  });

  it("[WEB-15] tells of a retry until the model speaks again", () => {
    const log: Line[] = [["input"]];
    serve(logOf(...log));
    sockets.last.tell({ type: "error", ...place, code: "model_transport", message: "cut", fatal: false });
    expect(store.value.trouble).toMatchObject({ code: "model_transport", retrying: true });
    sockets.last.tell({
      type: "diagnostic",
      ...place,
      level: "warning",
      code: "late_result",
      message: "late",
    });
    expect(store.value.trouble).toMatchObject({ code: "model_transport" });
    sockets.last.tell({ type: "text_delta", ...place, attempt: 2, block: 0, offset: 0, text: "x" });
    expect(store.value.trouble).toBeNull();
    sockets.last.tell({
      type: "diagnostic",
      ...place,
      level: "error",
      code: "log_write_failed",
      message: "stuck",
    });
    expect(store.value.trouble).toMatchObject({ code: "log_write_failed", retrying: false });
    commit(log, ["agent_stop"]);
    expect(store.value.trouble).toBeNull();
  });

  it("[WEB-15] has what running calls say, until the turn ends", () => {
    const log: Line[] = [["input"], ["tool_calls"], ["tool_call_start"]];
    serve(logOf(...log));
    sockets.last.tell({ type: "tool_progress", ...place, callId: "a", message: "half" });
    expect(store.value.progress.get("a")?.message).toBe("half");
    commit(log, ["tool_result"], ["agent_stop"]);
    expect(store.value.progress.size).toBe(0);
  });
});

describe("the context window", () => {
  const usage = { input: 900, output: 100, cachedInput: 0, reasoning: 0 };

  it("[WEB-24] is as full as the server said, then as the log says since", () => {
    const log: Line[] = [["input"], ["agent_trace", { usage }], ["agent_stop"]];
    sockets.last.accept();
    sockets.last.tell(hello({ head: 3, windowTokens: 1_000 }));
    expect(store.value.windowTokens).toBe(1_000);
    // What the server has counted already does not count twice.
    sockets.last.tell({ type: "events", events: logOf(...log) }, live(3));
    expect(store.value.windowTokens).toBe(1_000);
    commit(log, ["input", { turn: 2, content: [{ type: "text", text: "words ".repeat(100) }] }]);
    expect(store.value.windowTokens).toBeGreaterThan(1_050);
    commit(log, ["agent_trace", { turn: 2, usage: { ...usage, input: 1_900 } }], ["agent_stop", { turn: 2 }]);
    expect(store.value.windowTokens).toBe(2_000);
    commit(log, ["agent_summary", { turn: 2, before: 2_000, after: 300 }]);
    expect(store.value.windowTokens).toBe(300);
    commit(log, ["checkpoint_restore", { turn: 2 }]);
    expect(store.value.windowTokens).toBe(0);
  });

  it("[WEB-24] is being summarised from the beginning to the end of it, or to a new connection", async () => {
    serve(logOf(["input"]));
    const compaction = (phase: "start" | "error"): AgentEvent => {
      return { type: "compaction", ...place, kind: "auto", phase, before: 9, after: 9 };
    };
    sockets.last.tell(compaction("start"));
    expect(store.value.summarising).toBe(true);
    sockets.last.tell(compaction("error"));
    expect(store.value.summarising).toBe(false);
    sockets.last.tell(compaction("start"));
    sockets.last.drop();
    await time.pass(0);
    serve(logOf(["input"]));
    expect(store.value.summarising).toBe(false);
  });
});

describe("the queue", () => {
  it("[WEB-6] is asked for once connected, and follows what is told", async () => {
    askQueue = () => Promise.resolve([waiting("a"), waiting("b")]);
    const log: Line[] = [["input"]];
    serve(logOf(...log), 2);
    await settled();
    expect(queueIds()).toEqual(["a", "b"]);
    commit(log, ["steer", { promptId: "a" }]);
    expect(queueIds()).toEqual(["b"]);
    commit(log, ["agent_stop"], ["prompt_dropped", { promptId: "b" }]);
    expect(queueIds()).toEqual([]);
    sockets.last.tell(queue("c"));
    expect(queueIds()).toEqual(["c"]);
  });

  it("[WEB-6] is not what a late answer says", async () => {
    let settle = (_queue: QueuedPrompt[]): void => undefined;
    askQueue = () => new Promise((resolve) => (settle = resolve));
    serve(logOf(["input"]), 1);
    sockets.last.tell(queue("new"));
    settle([waiting("old")]);
    await settled();
    expect(queueIds()).toEqual(["new"]);
  });

  it("[WEB-6] leaves out prompts that began while it was asked for", async () => {
    let settle = (_queue: QueuedPrompt[]): void => undefined;
    askQueue = () => new Promise((resolve) => (settle = resolve));
    const log: Line[] = [["input"]];
    serve(logOf(...log), 2);
    commit(log, ["agent_stop"], ["input", { turn: 2, promptId: "a" }]);
    settle([waiting("a"), waiting("b")]);
    await settled();
    expect(queueIds()).toEqual(["b"]);
  });

  it("[WEB-6] is empty after a reconnect that says so", async () => {
    serve(logOf(["input"]));
    sockets.last.tell(queue("a"));
    sockets.last.drop();
    await time.pass(0);
    serve(logOf(["input"]));
    expect(queueIds()).toEqual([]);
  });

  it("[WEB-6] can be withdrawn from; that a prompt has begun meanwhile is no problem", async () => {
    serve(logOf(["input"]));
    sockets.last.tell(queue("a", "b"));
    void store.withdraw("a");
    void store.withdraw("b");
    expect(sockets.last.frames.map(({ type, promptId }) => [type, promptId])).toEqual([
      ["unqueue", "a"],
      ["unqueue", "b"],
    ]);
    sockets.last.tell({ type: "nack", id: "1", error: { code: "not_found", message: "does not wait" } });
    await settled();
    expect(store.value.problem).toBeNull();
    sockets.last.tell({ type: "nack", id: "2", error: { code: "forbidden", message: "no" } });
    await settled();
    expect(store.value.problem).toMatchObject({ code: "forbidden" });
    store.dismissProblem();
    expect(store.value.problem).toBeNull();
  });
});

describe("a prompt that is sent", () => {
  it("[WEB-10] stands among the unsent until the server has it", async () => {
    store.send("hi", "queue");
    expect(unsent()).toEqual([["hi", null]]);
    serve([]);
    expect(sockets.last.frames).toMatchObject([
      { type: "prompt", text: "hi", mode: "queue", promptId: "p1" },
    ]);
    sockets.last.tell({
      type: "ack",
      id: "1",
      result: { promptId: "p1", status: "running", position: 0, head: 1 },
    });
    await settled();
    expect(unsent()).toEqual([]);
  });

  it("[WEB-10] leaves them as soon as the log has it", () => {
    serve([]);
    store.send("hi", "queue");
    sockets.last.tell({ type: "events", events: logOf(["input", { promptId: "p1" }]) });
    expect(unsent()).toEqual([]);
  });

  it("[WEB-10] stays with the reason when it is refused, and can be sent again or given up", async () => {
    serve([]);
    store.send("one", "queue");
    store.send("two", "queue");
    const error = { code: "queue_full", message: "full" } as const;
    sockets.last.tell({ type: "nack", id: "1", error }, { type: "nack", id: "2", error });
    await settled();
    expect(unsent()).toEqual([
      ["one", "queue_full"],
      ["two", "queue_full"],
    ]);
    store.discard("p2");
    store.resend("p1");
    expect(unsent()).toEqual([["one", null]]);
    expect(sockets.last.frames.at(-1)).toMatchObject({ promptId: "p1", text: "one" });
  });
});

describe("stopping", () => {
  it("[WEB-5] names the running turn, and is over when the turn is", () => {
    const log: Line[] = [["input", { turn: 3 }]];
    serve(logOf(...log));
    void store.stop();
    expect(sockets.last.frames).toEqual([{ id: "1", type: "interrupt", turn: 3 }]);
    expect(store.value.stopping).toBe(3);
    commit(log, ["interrupt", { turn: 3 }], ["agent_stop", { turn: 3, reason: "aborted" }]);
    expect(store.value.stopping).toBe(0);
  });

  it("[WEB-5] does nothing when nothing runs", async () => {
    serve([]);
    await store.stop();
    expect(sockets.last.sent).toEqual([]);
  });

  it("[WEB-5] that is refused says so", async () => {
    serve(logOf(["input"]));
    void store.stop();
    sockets.last.tell({ type: "nack", id: "1", error: { code: "forbidden", message: "no" } });
    await settled();
    expect(store.value).toMatchObject({ stopping: 0, problem: { code: "forbidden" } });
  });
});

describe("what a person is asked", () => {
  const asked: Line[] = [
    ["input"],
    [
      "tool_calls",
      {
        step: 1,
        calls: [
          { id: "c1", name: "write_file", args: { path: "a" } },
          { id: "c2", name: "ask_user", args: {} },
        ],
      },
    ],
    ["agent_trace", { step: 1 }],
    ["approval_request", { step: 1, approvalId: "a1", callId: "c1", reason: "It writes.", expiresAt: 99 }],
    [
      "input_request",
      { step: 1, inputId: "i1", callId: "c2", question: { question: "Which?", options: ["x", 1] } },
    ],
  ];
  const requests = () =>
    store.value.turns.flatMap(({ entries }) =>
      entries.flatMap((entry) =>
        entry.kind === "call" ? [[entry.status, entry.request?.kind ?? null]] : [],
      ),
    );

  it("[WEB-20] stands at its call until it is resolved, with what has to be known", () => {
    serve(logOf(...asked));
    expect(requests()).toEqual([
      ["asking", "approval"],
      ["asking", "question"],
    ]);
    const calls = store.value.turns[0]?.entries.flatMap((entry) =>
      entry.kind === "call" ? [entry.request] : [],
    );
    expect(calls).toEqual([
      { kind: "approval", approvalId: "a1", reason: "It writes.", expiresAt: 99 },
      { kind: "question", inputId: "i1", question: "Which?", options: ["x"], multiSelect: false },
    ]);
    const resolved = {
      step: 1,
      approvalId: "a1",
      callId: "c1",
      decision: "allow" as const,
      args: { path: "b" },
    };
    const log = logOf(
      ...asked,
      ["approval_resolved", resolved],
      ["input_resolved", { inputId: "i1", callId: "c2" }],
    );
    sockets.last.tell({ type: "events", events: log.slice(asked.length) });
    expect(requests()).toEqual([
      ["waiting", null],
      ["running", null],
    ]);
    // What a person has edited is what is shown.
    expect(store.value.turns[0]?.entries[1]).toMatchObject({ call: { args: { path: "b" } } });
  });

  it("[WEB-20] is answered over the socket, again after a loss, and a refusal is told", async () => {
    serve(logOf(...asked));
    void store.decide("a1", { decision: "deny", reason: "no" });
    const answering = store.answer("i1", { selected: ["x"] });
    expect([...store.value.deciding]).toEqual(["a1", "i1"]);
    expect(sockets.last.frames).toMatchObject([
      { type: "approve", approvalId: "a1", decision: "deny", reason: "no" },
      { type: "answer", inputId: "i1", selected: ["x"] },
    ]);
    sockets.last.tell({ type: "ack", id: "2", result: {} });
    await answering;
    expect([...store.value.deciding]).toEqual(["a1"]);
    sockets.last.tell({ type: "nack", id: "1", error: { code: "already_decided", message: "decided" } });
    await settled();
    expect([...store.value.deciding]).toEqual([]);
    expect(store.value.problem).toMatchObject({ code: "already_decided" });
  });
});
