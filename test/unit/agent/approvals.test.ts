import { describe, expect, it } from "vitest";
import type { AgentOptions } from "../../../src/runtime/agent/agent-options.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { createAskUserTool } from "../../../src/tools/ask-user.ts";
import { ALICE, Harness, echoTool, gate } from "../support/agent-harness.ts";

const BOB = { kind: "user", id: "bob" } as const;
const call = (text: string) => ({ name: "echo", args: { text } });
const ASK = {
  rules: [{ id: "ask-echo", tool: "echo", effect: "ask" }],
} as const satisfies AgentOptions["policy"];

/** A turn whose two calls wait for a person. */
async function asking(options: Pick<AgentOptions, "limits"> = {}) {
  const { tool, runs } = echoTool();
  const h = new Harness([{ calls: [call("a"), call("b")] }, { text: "ok" }], {
    tools: [tool],
    policy: ASK,
    ...options,
  });
  await h.start("go");
  await h.asked();
  return { h, runs, a: "approval_call_1_1_0", b: "approval_call_1_1_1" };
}

const results = (h: Harness) =>
  h.log.filter((event): event is DurableEvent<"tool_result"> => event.type === "tool_result");

describe("approvals", () => {
  it("[GUARD-20] park their call and wait without a timer; the model is called again once every call is settled", async () => {
    const { h, runs, a, b } = await asking();
    expect(h.types.slice(-2)).toEqual(["approval_request", "approval_request"]);
    expect(h.agent.getState().status).toBe("waiting");
    expect(h.time.pending).toBe(0);
    expect((await h.agent.requests()).map((request) => request.callId)).toEqual(["call_1_1_0", "call_1_1_1"]);
    await h.agent.decide(b, { decision: "allow" }, ALICE);
    await h.waitFor(() => results(h).length === 1);
    expect(runs).toEqual(["b"]);
    expect(h.model.requests).toHaveLength(1);
    await h.agent.decide(a, { decision: "allow" }, BOB);
    await h.finish();
    expect(runs).toEqual(["b", "a"]);
    expect(h.model.requests).toHaveLength(2);
    expect(h.all("approval_resolved").map(({ by }) => by.id)).toEqual(["alice", "bob"]);
    expect(h.all("permission_decision")).toMatchObject([
      { callId: "call_1_1_1", decision: "allow", source: "user" },
      { callId: "call_1_1_0", decision: "allow", source: "user" },
    ]);
    expect(h.violations()).toEqual([]);
  });

  it("[GUARD-21] are decided once: the first answer wins, the same again is fine, another comes too late", async () => {
    const { h, runs, a } = await asking();
    const answers = await Promise.allSettled([
      h.agent.decide(a, { decision: "allow" }, ALICE),
      h.agent.decide(a, { decision: "deny" }, BOB),
      h.agent.decide(a, { decision: "allow" }, BOB),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(answers[1]).toMatchObject({ reason: { code: "already_decided" } });
    await h.waitFor(() => results(h).length === 1);
    expect(runs).toEqual(["a"]);
    await expect(h.agent.decide("approval_call_9_9_9", { decision: "allow" }, ALICE)).rejects.toMatchObject({
      code: "not_found",
    });
    await h.agent.interrupt({ by: ALICE });
    await h.finish();
    await h.agent.decide(a, { decision: "allow" }, BOB);
    await expect(h.agent.decide(a, { decision: "deny" }, BOB)).rejects.toMatchObject({
      code: "already_decided",
    });
    expect(h.all("approval_resolved").filter(({ approvalId }) => approvalId === a)).toHaveLength(1);
    expect(h.violations()).toEqual([]);
  });
  it("[GUARD-21] an allow of the model's arguments is another answer than one with replaced arguments", async () => {
    const { h, a, b } = await asking();
    await h.agent.decide(a, { decision: "allow", args: { text: "other" } }, ALICE);
    await h.agent.decide(a, { decision: "allow", args: { text: "other" } }, BOB);
    await expect(h.agent.decide(a, { decision: "allow" }, BOB)).rejects.toMatchObject({
      code: "already_decided",
    });
    await h.agent.decide(b, { decision: "allow" }, ALICE);
    await expect(
      h.agent.decide(b, { decision: "allow", args: { text: "other" } }, BOB),
    ).rejects.toMatchObject({
      code: "already_decided",
    });
    await h.finish();
    expect(h.violations()).toEqual([]);
  });

  it("[GUARD-22] that are denied give their call a result and run nothing", async () => {
    const { h, runs, a, b } = await asking();
    await h.agent.decide(a, { decision: "deny", reason: "too risky" }, ALICE);
    await h.agent.decide(b, { decision: "deny" }, ALICE);
    await h.finish();
    expect(runs).toEqual([]);
    expect(results(h).map(({ code }) => code)).toEqual(["denied", "denied"]);
    expect(h.last("agent_stop").reason).toBe("stop");
    expect(h.violations()).toEqual([]);
  });

  it("[GUARD-23] run exactly the arguments that a person put in their place, once they fit the schema", async () => {
    const { h, runs, a, b } = await asking();
    await expect(h.agent.decide(a, { decision: "allow", args: { text: 7 } }, ALICE)).rejects.toMatchObject({
      code: "invalid_request",
    });
    await h.agent.decide(a, { decision: "allow", args: { text: "edited" } }, ALICE);
    await h.agent.decide(b, { decision: "deny" }, ALICE);
    await h.finish();
    expect(runs).toEqual(["edited"]);
    const [asked] = h.all("approval_request");
    const [resolved] = h.all("approval_resolved");
    expect(resolved?.digest).not.toBe(asked?.digest);
    expect(resolved?.args).toEqual({ text: "edited" });
    expect(h.violations()).toEqual([]);
  });

  it("[GUARD-24] survive a restart, and are still answered once", async () => {
    const { h, a, b } = await asking();
    const after = echoTool();
    const again = new Harness([{ text: "ok" }], { session: h.session, tools: [after.tool], policy: ASK });
    expect(again.agent.getState().status).toBe("waiting");
    expect(again.agent.isAbandoned).toBe(false);
    await again.agent.decide(a, { decision: "allow" }, ALICE);
    await again.agent.decide(b, { decision: "allow" }, ALICE);
    await again.finish();
    expect(after.runs).toEqual(["a", "b"]);
    expect(again.last("agent_stop").reason).toBe("stop");
    expect(again.violations()).toEqual([]);
  });

  it("[GUARD-25] bow to a policy that has become a denial while they waited", async () => {
    const { h, a, b } = await asking();
    const after = echoTool();
    const policy: AgentOptions["policy"] = { rules: [{ tool: "echo", effect: "deny" }] };
    const again = new Harness([{ text: "ok" }], { session: h.session, tools: [after.tool], policy });
    await again.agent.decide(a, { decision: "allow" }, ALICE);
    await again.agent.decide(b, { decision: "allow" }, ALICE);
    await again.finish();
    expect(after.runs).toEqual([]);
    expect(again.all("permission_decision")).toMatchObject([
      { decision: "deny", source: "policy" },
      { decision: "deny", source: "policy" },
    ]);
    expect(again.violations()).toEqual([]);
  });

  it("[GUARD-26] expire: the call is denied and the turn goes on; an answer after that comes too late", async () => {
    const { h, runs, a } = await asking({ limits: { requestMs: 1_000 } });
    await h.time.pass(1_000);
    await expect(h.agent.decide(a, { decision: "allow" }, ALICE)).rejects.toMatchObject({
      code: "already_decided",
    });
    await h.finish();
    expect(runs).toEqual([]);
    expect(h.all("approval_resolved").map(({ decision }) => decision)).toEqual(["expired", "expired"]);
    expect(h.all("permission_decision").map(({ source }) => source)).toEqual(["auto", "auto"]);
    expect(h.last("agent_stop").reason).toBe("stop");
    expect(h.violations()).toEqual([]);
  });

  it("[GUARD-27] are cancelled by an interrupt, and nothing runs", async () => {
    const { h, runs, a } = await asking();
    await h.agent.interrupt({ by: BOB });
    await h.finish();
    expect(runs).toEqual([]);
    expect(h.all("approval_resolved")).toMatchObject([
      { decision: "cancelled", by: BOB },
      { decision: "cancelled" },
    ]);
    expect(results(h).map(({ code }) => code)).toEqual(["not_executed", "not_executed"]);
    await expect(h.agent.decide(a, { decision: "allow" }, ALICE)).rejects.toMatchObject({
      code: "already_decided",
    });
    expect(h.last("agent_stop").reason).toBe("aborted");
    expect(h.violations()).toEqual([]);
  });

  it("[GUARD-28] are not asked for again in the session once a person said so", async () => {
    const { tool, runs } = echoTool();
    const script = [{ calls: [call("a")] }, { calls: [call("b")] }, { text: "ok" }];
    const h = new Harness(script, { tools: [tool], policy: ASK });
    await h.start("go");
    await h.asked();
    await h.agent.decide("approval_call_1_1_0", { decision: "allow", remember: true }, ALICE);
    await h.finish();
    expect(runs).toEqual(["a", "b"]);
    expect(h.all("approval_request")).toHaveLength(1);
    const other = { rules: [{ id: "another-rule", tool: "echo", effect: "ask" }] } as const;
    const asked = new Harness([{ calls: [call("x")] }], { session: h.session, tools: [tool], policy: other });
    await asked.start({ text: "other rule", promptId: "other" });
    await asked.asked();
    expect(runs).toEqual(["a", "b"]);
    await asked.agent.interrupt({ by: ALICE });
    await asked.finish();
    const again = new Harness([{ calls: [call("c")] }, { text: "ok" }], {
      session: h.session,
      tools: [tool],
      policy: ASK,
    });
    await again.start({ text: "more", promptId: "more" });
    await again.finish();
    expect(runs).toEqual(["a", "b", "c"]);
    expect(again.violations()).toEqual([]);
  });

  it("[GUARD-29] do not hold back calls that need none, and keep steers waiting", async () => {
    const { tool } = echoTool();
    const free = echoTool({ name: "free" });
    const script = [{ calls: [call("a"), { name: "free", args: { text: "x" } }] }, { text: "ok" }];
    const h = new Harness(script, { tools: [tool, free.tool], policy: ASK });
    await h.start("go");
    await h.start({ text: "also", mode: "steer" });
    await h.asked();
    expect(free.runs).toEqual(["x"]);
    expect(h.all("steer")).toEqual([]);
    await h.agent.decide("approval_call_1_1_0", { decision: "allow" }, ALICE);
    await h.finish();
    expect(h.last("agent_stop").promptIds).toEqual(["p1", "p2"]);
    expect(h.violations()).toEqual([]);
  });

  it("[GUARD-30] decide once per gated call; a dry run tells its verdict and runs", async () => {
    const { tool, runs } = echoTool();
    const h = new Harness([{ calls: [call("a")] }, { text: "ok" }], {
      tools: [tool],
      policy: { ...ASK, dryRun: true },
    });
    await h.start("go");
    await h.finish();
    expect(runs).toEqual(["a"]);
    expect(h.all("permission_decision")).toMatchObject([
      { decision: "allow", source: "policy", ruleId: "ask-echo", simulated: true },
    ]);
    expect(h.violations()).toEqual([]);
  });

  it("[GUARD-31] go on while another call of the step still runs", async () => {
    const held = gate<{ content: string }>();
    const slow = echoTool({ name: "slow", run: () => held.opened });
    const { tool, runs } = echoTool();
    const script = [{ calls: [{ name: "slow", args: { text: "s" } }, call("a")] }, { text: "ok" }];
    const h = new Harness(script, { tools: [tool, slow.tool], policy: ASK });
    await h.start("go");
    await h.waitFor(() => h.all("approval_request").length === 1);
    await h.agent.decide("approval_call_1_1_1", { decision: "allow" }, ALICE);
    await h.waitFor(async () => {
      await h.time.pass(1);
      return results(h).length === 1;
    });
    expect(runs).toEqual(["a"]);
    held.open({ content: "s" });
    await h.finish();
    expect(h.last("agent_stop").reason).toBe("stop");
    expect(h.violations()).toEqual([]);
  });
});

describe("questions", () => {
  const ask = { name: "ask_user", args: { question: "Which one?", options: ["x", "y"] } };

  it("[GUARD-35] wait for a person through a restart, and their answer is the call's result", async () => {
    const h = new Harness([{ calls: [ask] }], { tools: [createAskUserTool()] });
    await h.start("go");
    expect(h.types.slice(-2)).toEqual(["tool_call_start", "input_request"]);
    expect(h.agent.getState().status).toBe("waiting");
    const after = new Harness([{ text: "ok" }], { session: h.session, tools: [createAskUserTool()] });
    const [request] = await after.agent.requests();
    expect(request).toMatchObject({
      type: "input_request",
      question: { question: "Which one?", options: ["x", "y"] },
    });
    await after.agent.answer("input_call_1_1_0", { selected: ["y"] }, ALICE);
    await after.agent.answer("input_call_1_1_0", { selected: ["y"] }, BOB);
    await expect(after.agent.answer("input_call_1_1_0", { selected: ["x"] }, BOB)).rejects.toMatchObject({
      code: "already_decided",
    });
    await after.finish();
    expect(results(after)).toMatchObject([{ content: "- y", isError: false }]);
    expect(after.last("agent_stop").reason).toBe("stop");
    expect(after.violations()).toEqual([]);
  });

  it("[GUARD-36] are refused when malformed, and cancelled by an interrupt or by time", async () => {
    const wrong = { name: "ask_user", args: { options: "no" } };
    const h = new Harness([{ calls: [wrong] }, { calls: [ask] }], { tools: [createAskUserTool()] });
    await h.start("go");
    expect(results(h)).toMatchObject([{ code: "invalid_arguments" }]);
    await h.agent.interrupt({ by: ALICE });
    await h.finish();
    expect(h.last("input_resolved")).toMatchObject({ cancelled: true, by: ALICE });
    expect(results(h)[1]).toMatchObject({ code: "unanswered", isError: true });
    expect(h.violations()).toEqual([]);

    const late = new Harness([{ calls: [ask] }, { text: "ok" }], {
      tools: [createAskUserTool()],
      limits: { requestMs: 1_000 },
    });
    await late.start("go");
    await late.time.pass(1_000);
    expect(late.agent.isAbandoned).toBe(true);
    late.agent.resume();
    await late.finish();
    expect(results(late)).toMatchObject([{ code: "unanswered" }]);
    expect(late.last("agent_stop").reason).toBe("stop");
    expect(late.violations()).toEqual([]);
  });
});
