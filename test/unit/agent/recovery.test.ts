import { describe, expect, it } from "vitest";
import { Agent } from "../../../src/runtime/agent/agent.ts";
import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import { checkStream } from "../../../src/runtime/protocol/stream-grammar.ts";
import type { Commit } from "../../../src/runtime/session/agent-session.ts";
import { MemorySession } from "../../../src/runtime/session/memory-session.ts";
import type { Tool } from "../../../src/runtime/tool/tool.ts";
import { Harness, echoTool, gate } from "../support/agent-harness.ts";

const call = (text: string) => ({ name: "echo", args: { text } });

/** A session whose process died while the call of its first step ran. */
async function diedInTool(tool: Tool): Promise<MemorySession> {
  const hanging = { ...tool, execute: () => gate<{ content: string }>().opened };
  const h = new Harness([{ calls: [call("a")] }], { tools: [hanging] });
  await h.start("go");
  return h.session;
}

async function recover(session: MemorySession, tools: Tool[], wakes = 1): Promise<Harness> {
  const after = new Harness([{ text: "ok" }], { session, tools });
  after.agent.resume(wakes);
  await after.finish();
  return after;
}

describe("recovery", () => {
  it("[TURN-20] calls the model again after a crash in mid-stream, under attempt numbers that never came before", async () => {
    const h = new Harness([{ text: "lost", end: "hang" }]);
    await h.start("go");
    const after = await recover(h.session, []);
    expect(after.all("model_call_start").map(({ attempt }) => attempt)).toEqual([1001]);
    expect(after.types).toEqual(["input", "output", "agent_trace", "agent_stop"]);
    expect(after.violations()).toEqual([]);
  });

  it("[TURN-21] says that the outcome of a started call is unknown, and does not run it again", async () => {
    const { tool, runs } = echoTool();
    const after = await recover(await diedInTool(tool), [tool]);
    expect(runs).toEqual([]);
    expect(after.last("tool_recovered")).toMatchObject({ callId: "call_1_1_0", outcome: "unknown" });
    expect(after.last("tool_result")).toMatchObject({ code: "outcome_unknown", isError: true });
    expect(after.last("agent_stop").reason).toBe("stop");
    expect(after.violations()).toEqual([]);
  });

  it("[TURN-22] runs a started call again when its tool is idempotent", async () => {
    const { tool, runs } = echoTool({ idempotent: true });
    const after = await recover(await diedInTool(tool), [tool]);
    expect(runs).toEqual(["a"]);
    expect(after.types.slice(-6)).toEqual([
      "tool_call_start",
      "tool_recovered",
      "tool_result",
      "output",
      "agent_trace",
      "agent_stop",
    ]);
    expect(after.last("tool_recovered").outcome).toBe("reran");
    expect(after.violations()).toEqual([]);
  });

  it.each([
    { found: true, outcome: "found", ran: [], content: "had been done" },
    { found: false, outcome: "reran", ran: ["a"], content: "a" },
  ])(
    "[TURN-23] looks the effect up where the tool can: $outcome",
    async ({ found, outcome, ran, content }) => {
      const findOutcome = async () => (found ? { content: "had been done" } : null);
      const { tool, runs } = echoTool({ findOutcome });
      const after = await recover(await diedInTool(tool), [tool]);
      expect(runs).toEqual(ran);
      expect(after.last("tool_recovered").outcome).toBe(outcome);
      expect(after.last("tool_result").content).toBe(content);
      expect(after.violations()).toEqual([]);
    },
  );

  it("[TURN-23] says unknown when the look-up fails", async () => {
    const { tool, runs } = echoTool({ findOutcome: () => Promise.reject(new Error("down")) });
    const after = await recover(await diedInTool(tool), [tool]);
    expect(runs).toEqual([]);
    expect(after.last("tool_recovered").outcome).toBe("unknown");
    expect(after.violations()).toEqual([]);
  });

  it("[TURN-24] ends a turn that was woken five times without progress with crash_loop", async () => {
    const { tool, runs } = echoTool({ idempotent: true });
    const after = await recover(await diedInTool(tool), [tool], 5);
    expect(runs).toEqual([]);
    expect(after.model.requests).toEqual([]);
    expect(after.log.findLast(({ type }) => type === "error")).toMatchObject({ code: "crash_loop" });
    expect(after.last("agent_stop").reason).toBe("error");
    await after.start({ text: "next", promptId: "another" });
    await after.finish();
    expect(after.last("agent_stop")).toMatchObject({ turn: 2, reason: "stop" });
    expect(after.violations()).toEqual([]);
  });

  it("[TURN-25] goes on from every commit of a turn, and never runs a finished call again", async () => {
    const { tool } = echoTool();
    const script = [{ text: "look", calls: [call("a"), call("b")] }, { calls: [call("c")] }, { text: "end" }];
    const whole = new Harness(script, { tools: [tool] });
    const commits: Commit[] = [];
    const append = whole.session.append.bind(whole.session);
    whole.session.append = (commit) => {
      commits.push(commit);
      append(commit);
    };
    await whole.start("go");
    await whole.finish();
    for (let cut = 1; cut < commits.length; cut += 1) {
      const session = new MemorySession("s");
      for (const commit of commits.slice(0, cut)) session.append(commit);
      const finished = session.read(0).filter(({ type }) => type === "tool_result").length;
      const replies = session.read(0).filter(({ type }) => type === "agent_trace").length;
      const again = echoTool({ idempotent: true });
      const after = new Harness(script.slice(replies), { session, tools: [again.tool] });
      after.agent.resume(1);
      await after.finish();
      expect(again.runs).toHaveLength(3 - finished);
      expect(after.last("agent_stop")).toMatchObject({ reason: "stop", promptIds: ["p1"] });
      expect(after.violations()).toEqual([]);
    }
  });

  it("[TURN-26] gives the model the same request after a restart as it would have had without", async () => {
    const { tool } = echoTool();
    const script = [{ thought: "t", text: "look", calls: [call("b"), call("a")] }, { text: "end" }];
    const whole = new Harness(script, { tools: [tool] });
    await whole.start("go");
    await whole.finish();
    const session = new MemorySession("s");
    const untilResults = whole.log.findLastIndex(({ type }) => type === "tool_result") + 1;
    session.append({ events: whole.log.slice(0, untilResults) });
    const after = await recover(session, [echoTool().tool]);
    expect(JSON.stringify(after.model.requests[0])).toBe(JSON.stringify(whole.model.requests[1]));
    expect(after.violations()).toEqual([]);
  });

  it("[TURN-27] tells nobody of a commit that could not be written, and starts nothing from it", async () => {
    for (let failing = 1; failing <= 4; failing += 1) {
      const { tool, runs } = echoTool();
      const session = new MemorySession("s");
      const append = session.append.bind(session);
      let writes = 0;
      session.append = (commit) => {
        writes += 1;
        if (writes === failing) throw new Error("SQLITE_FULL: the text of a prompt");
        append(commit);
      };
      const h = new Harness([{ calls: [call("a")] }, { text: "ok" }], { session, tools: [tool] });
      const accepted = await h.submit("go").then(
        () => true,
        (error: { code: string }) => error.code,
      );
      await h.finish();
      expect(accepted).toBe(failing === 1 ? "log_write_failed" : true);
      expect(h.told.filter((event) => "seq" in event).length).toBe(session.read(0).length);
      expect(runs.length).toBe(failing <= 2 ? 0 : 1);
      expect(JSON.stringify(h.told)).not.toContain("SQLITE_FULL");
      if (failing > 1) {
        expect(h.agent.failure?.code).toBe("log_write_failed");
        await expect(h.submit("more")).rejects.toMatchObject({ code: "log_write_failed" });
        void h.agent.loadSession();
        h.agent.resume(1);
        await h.finish();
        expect(session.read(0).at(-1)).toMatchObject({ type: "agent_stop" });
      }
    }
  });

  it("[TURN-28] tells events of a slow session only once they are durable, and in order", async () => {
    const session = new MemorySession("s");
    const durable: number[] = [];
    const slow = {
      id: session.id,
      load: () => session.load(),
      read: async (after: number) => session.read(after),
      findPrompt: (promptId: string) => session.findPrompt(promptId),
      append: async (commit: Commit) => {
        await Promise.resolve();
        session.append(commit);
        durable.push(...commit.events.map(({ seq }) => seq));
      },
    };
    const { tool } = echoTool();
    const h = new Harness([{ text: ["a", "b"], calls: [call("a")] }, { text: "ok" }], { tools: [tool] });
    const agent = new Agent({ model: h.model, tools: [tool], session: slow });
    const told: AgentEvent[] = [];
    agent.on((event) => {
      told.push(event);
      if ("seq" in event) expect(durable).toContain(event.seq);
    });
    const result = await agent.send("go");
    expect(result?.result.text).toBe("ok");
    expect(checkStream(told)).toEqual([]);
  });
});
