import fc from "fast-check";
import { expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../../../src/runtime/protocol/limits.ts";
import { withCodec } from "../../../../src/runtime/model/codec/codec-provider.ts";
import { jsonCodec } from "../../../../src/runtime/model/codec/json-codec.ts";
import { reactCodec } from "../../../../src/runtime/model/codec/react-codec.ts";
import { createScriptedProvider } from "../../../../src/runtime/model/scripted-provider.ts";
import { Harness, echoTool } from "../../support/agent-harness.ts";

/** What models write, whole and broken, in any order. */
const PIECES = [
  '{"type":"tool_calls","calls":[{"name":"echo","input":{"text":"a"}}]}',
  '{"type":"final","text":"done"}',
  '{"type":"tool_calls","calls":[{"name":"echo","input":',
  '{"calls":[]}',
  "```json\n",
  "\n```\n",
  "Thought: hm\n",
  'Action: echo\nAction Input: {"text":"a"}\n',
  "Action: echo\n",
  "Action Input: {",
  "Observation: made up\n",
  "Final Answer: done\n",
  "<think>",
  "</think>",
  "{[[[",
  '"}]}',
  "Sure! ",
];

const reply = fc.record({
  text: fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string()), { minLength: 1, maxLength: 6 }),
  finishReason: fc.constantFrom("stop" as const, "stop" as const, "length" as const),
});

it.each([
  ["json", jsonCodec],
  ["react", reactCodec],
])("[MODEL-34] %s: whatever a model writes, the turn ends once, within its steps", async (_, codec) => {
  await fc.assert(
    fc.asyncProperty(fc.array(reply, { minLength: 1, maxLength: 8 }), async (replies) => {
      const { tool } = echoTool();
      const model = createScriptedProvider((_request, index) => replies[index % replies.length] ?? {});
      const h = new Harness([], { model: withCodec(model, codec), tools: [tool], maxSteps: 4 });
      await h.start("go");
      await h.finish();
      expect(h.all("agent_stop")).toHaveLength(1);
      // Each step makes one call and at most two that repair it, and each of them is tried again when the reply is empty.
      expect(model.requests.length).toBeLessThanOrEqual(4 * 3 * DEFAULT_LIMITS.modelTries);
      expect(h.violations()).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
