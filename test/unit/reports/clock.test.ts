import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durableSchema, isDurable, liveSchema } from "../../../src/runtime/protocol/events.ts";
import { Harness, echoTool } from "../support/agent-harness.ts";

const call = (text: string) => ({ name: "echo", args: { text } });

describe("a clock that goes back and forth", () => {
  it("[LOG-78] changes neither the order of anything nor the form of an event", async () => {
    const hours = fc.array(fc.integer({ min: -48, max: 48 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(hours, async (jumps) => {
        let reads = 0;
        const clock = () => 1_800_000_000_000 + (jumps[reads++ % jumps.length] ?? 0) * 3_600_000;
        const { tool } = echoTool();
        const script = [
          { text: ["a", "b"], calls: [call("x"), call("y")] },
          { text: "one" },
          { text: "two" },
        ];
        const h = new Harness([...script, { text: "three" }], { clock, tools: [tool] });
        await Promise.all(["first", "second", "third"].map((text) => h.submit(text)));
        await h.finish();
        expect(h.violations()).toEqual([]);
        expect(h.log.map(({ seq }) => seq)).toEqual(h.log.map((_, index) => index + 1));
        expect(h.all("agent_stop").map(({ promptIds, reason }) => [promptIds, reason])).toEqual([
          [["p1"], "stop"],
          [["p2"], "stop"],
          [["p3"], "stop"],
        ]);
        for (const event of h.told) {
          const schema = isDurable(event) ? durableSchema(event.type) : liveSchema(event.type);
          expect(schema.safeParse(event).error?.issues ?? [], event.type).toEqual([]);
        }
      }),
      { numRuns: 20 },
    );
  });
});
