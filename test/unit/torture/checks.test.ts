import { expect, it } from "vitest";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { toModelMessages } from "../../../src/runtime/protocol/model-messages.ts";
import { foldSession } from "../../../src/runtime/protocol/session-fold.ts";
import { EMPTY_VIEW, applyFrame } from "../../../src/runtime/protocol/session-view.ts";
import { Account } from "../../torture/account.ts";
import { checkEffects } from "../../torture/check-effects.ts";
import { checkFollowers } from "../../torture/check-followers.ts";
import { checkModel } from "../../torture/check-model.ts";
import { checkPeople } from "../../torture/check-people.ts";
import { checkPrompts } from "../../torture/check-prompts.ts";
import { checkState } from "../../torture/check-state.ts";
import type { SessionEvidence, VersionEntry, WorkspaceEvidence } from "../../torture/evidence.ts";
import { Follower } from "../../torture/follower.ts";
import { problemsOf } from "../../torture/model-request.ts";
import { logOf } from "../support/log-builder.ts";

const WRITE = { id: "a", name: "write_file", args: { path: "x", content: "new" } };
const RECEIPT = { promptId: "p1", status: "running", position: 0, head: 1 } as const;

/** A session in which all is well: one prompt, one approved write, one answer. The checks find nothing in it. */
class Session {
  log: DurableEvent[] = logOf(
    ["input"],
    ["tool_calls", { step: 1, calls: [WRITE] }],
    ["agent_trace", { step: 1, finishReason: "tool_calls" }],
    ["approval_request", { step: 1, name: "write_file" }],
    ["approval_resolved", { step: 1 }],
    ["permission_decision", { step: 1, source: "user" }],
    ["tool_call_start", { step: 1, name: "write_file" }],
    ["tool_result", { step: 1, name: "write_file", workspaceVersion: 2 }],
    ["output", { step: 2, block: 0 }],
    ["agent_trace", { step: 2 }],
    ["agent_stop", { step: 2, usage: { input: 20, output: 10, cachedInput: 0, reasoning: 0 } }],
  );
  readonly account = new Account("s", "w");
  versions: VersionEntry[] = [
    { version: 1, files: 1, paths: ["notes.txt"] },
    { version: 2, files: 2, paths: ["x"], session: "s", turn: 1, callId: "a" },
  ];
  readonly files = new Map([
    ["notes.txt", "START\nEND\n"],
    ["x", "new"],
  ]);
  readonly follower = new Follower("s socket", () => undefined);
  readonly model = { messages: [{ role: "user" as const, content: "go" }], problems: [] as string[] };
  readonly prompt = this.account.prompt({ promptId: "p1", text: "go", mode: "queue" });

  constructor() {
    this.account.acked(this.prompt, RECEIPT);
    this.account.decisions.push({ id: "ap", said: { decision: "allow" }, by: "ann", confirmed: true });
    this.prompt.attempts = 1;
    this.follower.view = applyFrame(EMPTY_VIEW, { type: "events", events: this.log });
  }

  event(type: DurableEvent["type"], change: Readonly<Record<string, unknown>>): void {
    this.log = this.log.map((event) =>
      event.type === type ? ({ ...event, ...change } as DurableEvent) : event,
    );
  }

  /** The rules that the checks find broken. */
  broken(): string[] {
    const { head, turn, usage, windowTokens } = foldSession(this.log);
    const state = { status: "idle", queued: 0, openRequests: 0, head, turn, usage, windowTokens };
    const session = {
      account: this.account,
      log: this.log,
      state: state as SessionEvidence["state"],
      messages: toModelMessages(this.log),
      model: this.model,
      followers: [this.follower],
    };
    const { versions, files } = this;
    const workspace: WorkspaceEvidence = { id: "w", versions, files, sessions: [session] };
    const checks = [checkPrompts, checkState, checkFollowers, checkModel, checkPeople];
    const found = [...checks.flatMap((check) => check(session)), ...checkEffects(workspace)];
    return [...new Set(found.map(({ rule }) => rule))].sort();
  }
}

it("[LOG-60] finds nothing in a session in which all is well", () => {
  expect(new Session().broken()).toEqual([]);
});

const DAMAGES: readonly (readonly [string, string, (session: Session) => void])[] = [
  ["a gap in the numbers", "LOG-60", ({ log }) => log.splice(8, 1)],
  ["a prompt without an outcome", "LOG-61", (session) => session.event("agent_stop", { promptIds: [] })],
  [
    "a prompt with two outcomes",
    "LOG-61",
    (session) => session.event("agent_stop", { promptIds: ["p1", "p1"] }),
  ],
  ["an accepted prompt that is lost", "LOG-61", ({ account }) => lose(account)],
  ["a prompt that was refused and ran", "LOG-61", ({ prompt }) => refuse(prompt)],
  ["a prompt with another text", "LOG-61", (session) => session.event("input", { content: [] })],
  [
    "two receipts of one prompt",
    "LOG-62",
    ({ account, prompt }) => account.acked(prompt, { ...RECEIPT, head: 2 }),
  ],
  ["a withdrawn prompt that ran", "LOG-62", ({ prompt }) => (prompt.withdrawal = "acked")],
  ["a confirmed stop that did not stop", "LOG-62", ({ account }) => stop(account)],
  [
    "a call that took effect twice",
    "LOG-63",
    ({ versions }) => versions.push({ ...written(versions), version: 3 }),
  ],
  [
    "a change that no log tells of",
    "LOG-63",
    ({ versions }) => Object.assign(written(versions), { callId: "b" }),
  ],
  ["a result that tells of a change that is not there", "LOG-63", ({ versions }) => versions.pop()],
  ["a denied call that took effect", "LOG-63", (session) => session.event("tool_result", DENIED)],
  ["a file with another content", "LOG-63", ({ files }) => files.set("x", "old")],
  ["a client that holds too little", "LOG-64", ({ follower }) => (follower.view = EMPTY_VIEW)],
  ["a client that was told something else", "LOG-65", (session) => session.event("output", { text: "no" })],
  ["text left over at a client", "LOG-64", ({ follower }) => show(follower)],
  ["a bad request", "LOG-66", ({ model }) => model.problems.push("bad")],
  ["a prompt that the model was told otherwise", "LOG-66", ({ model }) => (model.messages[0] = said("stop"))],
  [
    "a decision that was confirmed and is another",
    "LOG-67",
    (session) => session.event("approval_resolved", DENY),
  ],
  ["a decision that nobody made", "LOG-67", ({ account }) => account.decisions.splice(0)],
  ["a turn that failed without a reason", "LOG-68", (session) => session.event("output", FATAL)],
  ["a turn that does not end", "LOG-68", ({ log }) => log.pop()],
];

const DENIED = { isError: true, code: "denied" };
const DENY = { decision: "deny" };
const FATAL = { type: "error", code: "internal", message: "no", fatal: true };

it.each(DAMAGES)("[LOG-60] finds %s", (_title, rule, damage) => {
  const session = new Session();
  damage(session);
  expect(session.broken()).toContain(rule);
});

it("[LOG-66] finds in a model request a missing, stray or doubled result and arguments that are no object", () => {
  const call = { id: "a", type: "function" as const, function: { name: "x", arguments: "{}" } };
  const asks = { role: "assistant" as const, content: null, tool_calls: [call] };
  const result = { role: "tool" as const, tool_call_id: "a", content: "ok" };
  expect(problemsOf([said("go"), asks, result])).toEqual([]);
  expect(problemsOf([said("go"), asks])).not.toEqual([]);
  expect(problemsOf([said("go"), asks, said("and"), result])).not.toEqual([]);
  expect(problemsOf([said("go"), asks, result, result])).not.toEqual([]);
  const odd = { ...asks, tool_calls: [{ ...call, function: { name: "x", arguments: "[" } }] };
  expect(problemsOf([said("go"), odd, result])).not.toEqual([]);
});

function said(content: string): { role: "user"; content: string } {
  return { role: "user", content };
}

function lose(account: Account): void {
  const prompt = account.prompt({ promptId: "p2", text: "go", mode: "queue" });
  account.acked(prompt, { promptId: "p2", status: "queued", position: 1, head: 1 });
}

function refuse(prompt: Session["prompt"]): void {
  prompt.receipt = null;
  prompt.refused = "busy";
}

function stop(account: Account): void {
  account.interrupts.push({ body: {}, sentAt: account.tick(), receipt: { interrupted: true, turn: 1 } });
}

function written(versions: readonly VersionEntry[]): VersionEntry {
  const version = versions.at(-1);
  if (!version) throw new Error("No version was made.");
  return version;
}

function show(follower: Follower): void {
  const delta = {
    type: "text_delta",
    turn: 2,
    step: 1,
    attempt: 1,
    block: 0,
    offset: 0,
    text: "left",
  } as const;
  follower.view = applyFrame(follower.view, delta);
}
