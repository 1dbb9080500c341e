import { beforeEach, expect, it } from "vitest";
import type { RestClient } from "../../../client/index.ts";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { SessionInspector } from "../../../web/session-inspector.ts";
import { settled } from "../support/fake-time.ts";
import { logOf } from "../support/log-builder.ts";

let calls: unknown[];
let answers: Partial<Record<keyof RestClient, unknown>>;
let inspector: SessionInspector;

const point = (turn: number) => ({ turn, seq: turn * 10, at: 0, preview: "", workspaceVersion: null });

beforeEach(() => {
  calls = [];
  answers = {};
  const call =
    (name: keyof RestClient) =>
    async (...args: unknown[]): Promise<unknown> => {
      calls.push([name, ...args]);
      const answer = await answers[name];
      if (answer === undefined) throw new LightAgentError("forbidden", "This needs the role member.");
      return answer;
    };
  const rest = {
    compact: call("compact"),
    checkpoints: call("checkpoints"),
    restore: call("restore"),
    fork: call("fork"),
    trace: call("trace"),
  };
  inspector = new SessionInspector(rest as unknown as RestClient, "s");
});

it("[WEB-24] a summary is asked for once at a time, and what came of it is said", async () => {
  answers = { compact: { throughSeq: 9, before: 12_000, after: 800 } };
  await Promise.all([inspector.summarise(" the tests "), inspector.summarise("")]);
  expect(calls).toEqual([["compact", "s", { instructions: "the tests" }]]);
  expect(inspector.value).toMatchObject({ busy: false, problem: null });
  expect(inspector.value.notice).toContain("12,000 tokens became 800");
  answers = {};
  await inspector.summarise("");
  expect(inspector.value).toMatchObject({ busy: false, notice: null, problem: { code: "forbidden" } });
  expect(calls.at(-1)).toEqual(["compact", "s", {}]);
});

it("[WEB-25] checkpoints are listed in parts, the newest first", async () => {
  answers = { checkpoints: { data: [point(3), point(2)], next: "2" } };
  inspector.show({ kind: "checkpoints" });
  await settled();
  expect(inspector.value).toMatchObject({ moreCheckpoints: true, checkpoints: [{ turn: 3 }, { turn: 2 }] });
  answers = { checkpoints: { data: [point(1)], next: null } };
  await inspector.listMoreCheckpoints();
  expect(inspector.value.checkpoints?.map(({ turn }) => turn)).toEqual([3, 2, 1]);
  expect(inspector.value.moreCheckpoints).toBe(false);
  expect(calls.map((call) => (call as unknown[])[2])).toEqual([{ limit: 30 }, { limit: 30, cursor: "2" }]);
});

it("[WEB-25] a restore takes back what was chosen, and names what it left", async () => {
  answers = { restore: { skipped: [{ path: "a.txt", reason: "changed by others" }] } };
  await inspector.restore(point(3), "both");
  expect(inspector.value.notice).toContain("a.txt (changed by others)");
  await inspector.restore(point(3), "files");
  await inspector.restore(point(3), "conversation");
  expect(calls).toEqual([
    ["restore", "s", { toSeq: 30, conversation: true, files: true }],
    ["restore", "s", { toSeq: 30, conversation: false, files: true }],
    ["restore", "s", { toSeq: 30, conversation: true, files: false }],
  ]);
});

it("[WEB-25] a fork is a new session, named after this one; one that fails says why", async () => {
  expect(await inspector.fork(point(2), "Plan")).toBeNull();
  expect(inspector.value.problem?.code).toBe("forbidden");
  answers = { fork: { id: "new" } };
  expect(await inspector.fork(point(2), "Plan")).toBe("new");
  expect(await inspector.fork(point(2), "")).toBe("new");
  expect(calls.slice(1)).toEqual([
    ["fork", "s", { atSeq: 20, title: "Fork of Plan" }],
    ["fork", "s", { atSeq: 20 }],
  ]);
});

it("[WEB-26] the trace of a turn is read again when that turn goes on, and by nothing else", async () => {
  answers = { trace: { turn: 1, spans: [] } };
  inspector.follow(logOf(["agent_trace"]));
  inspector.show({ kind: "trace", turn: 1 });
  await settled();
  expect(calls).toHaveLength(1);
  inspector.follow(logOf(["output"], ["agent_trace", { turn: 2 }]));
  expect(calls).toHaveLength(1);
  inspector.follow(logOf(["agent_trace"]));
  inspector.follow(logOf(["tool_result"]));
  await settled();
  // The two that came at once: one read that ran, and one more after it.
  expect(calls).toHaveLength(3);
  expect(inspector.value.trace?.turn).toBe(1);
});

it("[WEB-26] a trace that cannot be read says so, and one that is no longer looked at changes nothing", async () => {
  inspector.show({ kind: "trace", turn: 1 });
  await settled();
  expect(inspector.value.problem?.code).toBe("forbidden");
  answers = { trace: new Promise((resolve) => setTimeout(() => resolve({ turn: 1, spans: [] }), 0)) };
  const read = inspector.readTrace();
  inspector.close();
  await read;
  expect(inspector.value).toMatchObject({ panel: null, trace: null, problem: null });
});
