import { describe, expect, it } from "vitest";
import type { AgentOptions } from "../../../src/runtime/agent/agent-options.ts";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import type { ToolResult } from "../../../src/runtime/tool/tool.ts";
import { ALICE, Harness, echoTool, gate } from "../support/agent-harness.ts";

const { stopGraceMs, toolMs } = DEFAULT_LIMITS;
const call = (text: string) => ({ name: "echo", args: { text } });

/** What a call stands on besides its tool, each answering when a test says so. */
const STUCK: Record<string, (answer: Promise<void>) => Pick<AgentOptions, "beforeTools" | "keepResult">> = {
  "its workspace": (answer) => ({ beforeTools: () => answer }),
  "the storage of its result": (answer) => ({
    keepResult: (result: ToolResult) => answer.then(() => ({ ...result, content: "kept too late" })),
  }),
};

describe.each(Object.entries(STUCK))("a call while %s does not answer", (_, stuck) => {
  it("[STOP-21] ends with its turn's grace when the turn is stopped, and what comes later is fenced off", async () => {
    const { opened, open } = gate();
    const { tool, runs } = echoTool();
    const h = new Harness([{ calls: [call("a")] }, { text: "next" }], { tools: [tool], ...stuck(opened) });
    await h.start("go");
    const ran = runs.length;
    await h.agent.interrupt({ by: ALICE });
    await h.time.pass(stopGraceMs - 1);
    expect(h.all("agent_stop")).toEqual([]);
    await h.time.pass(1);
    expect(h.last("agent_stop").reason).toBe("aborted");
    expect(h.last("tool_result")).toMatchObject({ code: "outcome_unknown", isError: true });
    open();
    await h.start({ text: "next", promptId: "next" });
    await h.finish();
    expect(runs).toHaveLength(ran);
    expect(h.last("agent_stop")).toMatchObject({ turn: 2, reason: "stop" });
    expect(JSON.stringify(h.log)).not.toContain("kept too late");
    expect(h.violations()).toEqual([]);
  });

  it("[STOP-21] ends with the time that its tool has", async () => {
    const { tool } = echoTool();
    const h = new Harness([{ calls: [call("a")] }, { text: "ok" }], {
      tools: [tool],
      ...stuck(gate().opened),
    });
    await h.start("go");
    await h.time.pass(toolMs);
    await h.finish();
    expect(h.last("tool_result")).toMatchObject({ code: "timeout" });
    expect(h.last("agent_stop").reason).toBe("stop");
    expect(h.violations()).toEqual([]);
  });
});

describe("a call whose effect cannot be looked up after a restart, since nothing answers", () => {
  async function restarted(): Promise<{ after: Harness; runs: string[] }> {
    const { tool, runs } = echoTool({ run: () => gate<ToolResult>().opened, idempotent: true });
    const before = new Harness([{ calls: [call("a")] }], { tools: [tool] });
    await before.start("go");
    const findOutcome = () => gate<ToolResult | null>().opened;
    const { session } = before;
    const after = new Harness([{ text: "ok" }], { session, tools: [{ ...tool, findOutcome }] });
    after.agent.resume(1);
    return { after, runs };
  }

  it("[STOP-21] has an unknown outcome once the time of a call is over", async () => {
    const { after, runs } = await restarted();
    await after.time.pass(toolMs);
    await after.finish();
    expect(after.last("tool_recovered").outcome).toBe("unknown");
    expect(after.last("agent_stop").reason).toBe("stop");
    expect(runs).toEqual(["a"]);
    expect(after.violations()).toEqual([]);
  });

  it("[STOP-21] has an unknown outcome with the grace of a stopped turn", async () => {
    const { after, runs } = await restarted();
    await after.time.pass(10);
    await after.agent.interrupt({ by: ALICE });
    await after.time.pass(stopGraceMs);
    expect(after.last("agent_stop").reason).toBe("aborted");
    expect(after.last("tool_result").code).toBe("outcome_unknown");
    expect(runs).toEqual(["a"]);
    expect(after.violations()).toEqual([]);
  });
});

it("[STOP-20] a turn that goes on after a restart is stopped like any other: its model call is aborted", async () => {
  const before = new Harness([{ text: "x", end: "hang" }]);
  await before.start("go");
  let signal: AbortSignal | undefined;
  const after = new Harness([], {
    session: before.session,
    model: {
      id: "watched",
      async *stream(_request, given) {
        signal = given;
        yield { type: "delta", kind: "text", block: 0, text: "again" };
        await gate().opened;
      },
    },
  });
  after.agent.resume(1);
  await after.time.pass(1);
  expect(signal?.aborted).toBe(false);
  expect(await after.agent.interrupt({ by: ALICE, turn: 1 })).toEqual({ interrupted: true, turn: 1 });
  await after.finish(0);
  expect(signal?.aborted).toBe(true);
  expect(after.last("agent_stop")).toMatchObject({ reason: "aborted", promptIds: ["p1"] });
  expect(after.violations()).toEqual([]);
});
