import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import { createScriptedProvider } from "../../../src/runtime/model/scripted-provider.ts";
import type { ScriptedStep } from "../../../src/runtime/model/scripted-provider.ts";
import { generateStructured } from "../../../src/runtime/model/structured/generate-structured.ts";
import { withOutput } from "../../../src/runtime/model/structured/output-provider.ts";
import { compileOutputSchema } from "../../../src/runtime/model/structured/output-schema.ts";
import { textContent } from "../../../src/runtime/protocol/content.ts";
import { Harness, echoTool } from "../support/agent-harness.ts";

const SCHEMA = z.object({ city: z.string(), size: z.number().int().default(0) });
const REQUEST = { system: "s", messages: [{ role: "user" as const, content: textContent("Where?") }] };
const usage = (input: number) => ({ input, output: 1, cachedInput: 0, reasoning: 0 });

async function ask(...steps: ScriptedStep[]) {
  const model = createScriptedProvider(steps);
  const outcome = await generateStructured(model, REQUEST, SCHEMA, { random: () => 0 }).catch(
    (caught: unknown) => caught,
  );
  return { outcome, requests: model.requests };
}

describe("[MODEL-36] generateStructured", () => {
  it.each([
    ["JSON alone", '{"city":"Rome","size":3}'],
    ["a fence", '```json\n{"city":"Rome","size":3}\n```'],
    ["a fence within prose", 'Here: ```\n{"city":"Rome","size":3}\n``` Good?'],
    ["prose with other JSON", 'Not {"a":1} but {"city":"Rome","size":3}.'],
    ["reasoning in tags", '<think>{"city":"Paris"}</think>{"city":"Rome","size":3}'],
  ])("[MODEL-36] takes %s without a repair", async (_, text) => {
    const { outcome, requests } = await ask({ text, usage: usage(2) });
    expect(outcome).toEqual({ value: { city: "Rome", size: 3 }, usage: usage(2) });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.output?.mode).toBe("json_schema");
    expect(requests[0]?.system).toContain('"city"');
  });

  it("[MODEL-37] asks again with what is wrong, and counts it", async () => {
    const { outcome, requests } = await ask(
      { text: '{"city":1}', usage: usage(2) },
      { text: '{"city":"Rome"}', usage: usage(3) },
    );
    expect(outcome).toEqual({
      value: { city: "Rome", size: 0 },
      usage: { input: 5, output: 2, cachedInput: 0, reasoning: 0 },
    });
    expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain("city");
  });

  it("[MODEL-37] fails after `repairCalls` repairs, without a retry", async () => {
    const steps = Array.from({ length: 9 }, () => ({ text: "no" }));
    const { outcome, requests } = await ask(...steps);
    expect(outcome).toMatchObject({ code: "invalid_output" });
    expect(requests).toHaveLength(3);
  });

  it("[MODEL-38] steps down when the server refuses a format, and stays there", async () => {
    const refused = { error: new ModelError("model_rejected", "no", { status: 400 }) };
    const model = createScriptedProvider([refused, refused, { text: "no" }, { text: '{"city":"Rome"}' }]);
    await generateStructured(model, REQUEST, SCHEMA);
    expect(model.requests.map(({ output }) => output?.mode)).toEqual([
      "json_schema",
      "json_object",
      undefined,
      undefined,
    ]);
  });

  it("[MODEL-36] leaves with the reason of an abort", async () => {
    const model = createScriptedProvider([{ end: "hang" }]);
    const controller = new AbortController();
    const asked = generateStructured(model, REQUEST, SCHEMA, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });
});

describe("[MODEL-39] an output schema", () => {
  it.each([
    ["of a text", { type: "string" }],
    ["with a pattern", { type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } } }],
    ["with a reference", { type: "object", properties: { a: { $ref: "#" } } }],
    ["with an unknown type", { type: "object", properties: { a: { type: "nothing" } } }],
    ["that is too large", { type: "object", description: "x".repeat(40_000) }],
  ])("[MODEL-39] %s is refused", (_, schema) => {
    expect(() => compileOutputSchema(schema)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});

describe("[MODEL-40] an agent with an output schema", () => {
  const output = compileOutputSchema(JSON.parse(JSON.stringify(z.toJSONSchema(SCHEMA, { io: "input" }))));

  it("[MODEL-40] calls tools, then answers with JSON that clients find checked in the log and in `done`", async () => {
    const { tool, runs } = echoTool();
    const model = createScriptedProvider([
      { text: "Looking.", calls: [{ name: "echo", args: { text: "a" } }] },
      { text: "I think Rome.", usage: usage(5) },
      { text: 'So: {"city": "Rome"}', usage: usage(6) },
    ]);
    const h = new Harness([], { tools: [tool], model: withOutput(model, output) });
    await h.start("Where?");
    await h.finish();
    expect(runs).toEqual(["a"]);
    expect(h.all("output").map(({ text, structured }) => [text, structured])).toEqual([
      ["Looking.", undefined],
      ['{"city":"Rome"}', true],
    ]);
    expect(h.last("agent_trace").usage.input).toBe(11);
    expect(h.last("done").result).toMatchObject({ text: '{"city":"Rome"}', output: { city: "Rome" } });
    // Beside tools no format is asked for: some servers then call none.
    expect(model.requests.every((request) => request.output === undefined)).toBe(true);
    expect(h.violations()).toEqual([]);
  });

  it("[MODEL-40] whose answers never fit ends with `invalid_output`", async () => {
    const model = createScriptedProvider(() => ({ text: "no" }));
    const h = new Harness([], { model: withOutput(model, output) });
    await h.start("Where?");
    await h.finish();
    expect(h.last("agent_stop")).toMatchObject({ reason: "error", cause: "model" });
    expect(h.log.find(({ type }) => type === "error")).toMatchObject({ code: "invalid_output" });
    expect(model.requests).toHaveLength(3);
    expect(h.violations()).toEqual([]);
  });
});
