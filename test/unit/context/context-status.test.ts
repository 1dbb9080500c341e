import { expect, it } from "vitest";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import type { ModelRequest } from "../../../src/runtime/model/model-provider.ts";
import type { ScriptedStep } from "../../../src/runtime/model/scripted-provider.ts";
import { estimateTokens } from "../../../src/runtime/protocol/token-estimate.ts";
import { createRecallIndexedTool } from "../../../src/tools/recall-indexed.ts";
import { Harness, echoTool } from "../support/agent-harness.ts";

const call = (text: string) => ({ name: "echo", args: { text } });
const isSummariser = ({ system }: ModelRequest): boolean => system.startsWith("You summarise");
const spent = (request: ModelRequest) => ({
  input: estimateTokens(JSON.stringify(request)),
  output: 10,
  cachedInput: 0,
  reasoning: 0,
});

it("[CONTEXT-13] before each call that goes without something it is told what, and of no other", async () => {
  const { tool } = echoTool({ run: () => ({ content: "lorem ipsum ".repeat(1_000) }) });
  let step = 0;
  const script = (request: ModelRequest): ScriptedStep => {
    if (isSummariser(request)) return { text: "What was done.", usage: spent(request) };
    step += 1;
    return step > 40
      ? { text: "done", usage: spent(request) }
      : { calls: [call(`r${step}`)], usage: spent(request) };
  };
  const h = new Harness(script, {
    tools: [tool, createRecallIndexedTool()],
    context: { windowTokens: 16_000 },
  });
  await h.start("go");
  await h.waitFor(() => h.all("agent_stop").length === 1);

  const statuses = h.all("context_status");
  const calls = h.model.requests.filter((request) => !isSummariser(request));
  const summaries = h.all("agent_summary");
  for (const status of statuses) {
    const { turn, level, generation, archiveRefs, beforeTokens, afterTokens } = status;
    const request = JSON.stringify(calls[status.step - 1]);
    const notes = request.split("indexed_tool_result id=").length - 1;
    expect([turn, archiveRefs.length]).toEqual([1, notes]);
    for (const callId of archiveRefs) expect(request).toContain(`id=${callId} `);
    expect(level).toBe(generation > 0 ? 2 : 1);
    if (generation > 0) expect(summaries.map(({ seq }) => seq)).toContain(generation);
    expect(beforeTokens).toBeGreaterThan(afterTokens);
    // What a provider counts and what is estimated differ by the frame of a request.
    const asked = estimateTokens(request);
    expect(Math.abs(asked - afterTokens) / asked).toBeLessThan(0.25);
    expect(status).toMatchObject({ retry: false, plannerUsed: false, plannerFallback: false });
  }
  const told = new Set(statuses.map((status) => status.step));
  const without = calls.flatMap((request, index) =>
    /indexed_tool_result id=|<summary_of_earlier/.test(JSON.stringify(request.messages)) ? [] : [index + 1],
  );
  expect(without.filter((at) => told.has(at))).toEqual([]);
  expect(told.size + without.length).toBe(calls.length);
  expect(without.length).toBeGreaterThan(2);
  expect(new Set(statuses.map(({ level }) => level))).toContain(1);
  const types = h.told.map(({ type }) => type);
  for (const [at, type] of types.entries()) {
    if (type === "context_status") expect(types[at + 1]).toBe("model_call_start");
  }
  expect(h.violations()).toEqual([]);
});

it("[CONTEXT-13] a call that is made again because it did not fit says so", async () => {
  const script: ScriptedStep[] = [
    { calls: [call("a")] },
    { calls: [call("b")] },
    { error: new ModelError("context_overflow", "too long") },
    { text: "What happened so far." },
    { text: "fine" },
  ];
  const h = new Harness(script, { tools: [echoTool().tool] });
  await h.start("go");
  await h.finish();
  expect(h.all("context_status")).toEqual([
    expect.objectContaining({
      step: 3,
      level: 2,
      reason: "overflow",
      retry: true,
      generation: h.last("agent_summary").seq,
    }),
  ]);
  expect(h.violations()).toEqual([]);
});
