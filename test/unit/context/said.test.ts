import fc from "fast-check";
import { expect, it } from "vitest";
import { NOTHING_SAID, readSummary, withinBound, writeSummary } from "../../../src/runtime/context/said.ts";
import { estimateTokens } from "../../../src/runtime/protocol/token-estimate.ts";

/** Texts that try to be read as what stands between them. */
const NASTY = fc.constantFrom(
  "--- user ---",
  "\\--- user ---",
  "--- 3 messages left out ---",
  "## What the user said, word for word",
  "## What the user said, word for word, twice",
  "\n",
  "\r",
  "",
  "a",
);
const MESSAGE = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.array(NASTY, { maxLength: 6 }).map((lines) => lines.join("\n")),
);
const SAID = fc
  .record({ messages: fc.array(MESSAGE, { minLength: 1, maxLength: 5 }), leftOut: fc.nat(20) })
  .filter(({ messages, leftOut }) => messages.length > 0 || leftOut === 0);

it("[CONTEXT-8] what users said is read from a summary as it was written, whatever it was", () => {
  fc.assert(
    fc.property(MESSAGE, SAID, (told, said) => {
      expect(readSummary(writeSummary(told, said))).toEqual({ told, said });
    }),
    { numRuns: 2_000 },
  );
  expect(readSummary("by hand")).toEqual({ told: "by hand", said: NOTHING_SAID });
});

it("[CONTEXT-8] the first and the last are kept, within the bound, and what is left out is counted", () => {
  fc.assert(
    fc.property(SAID, fc.array(MESSAGE), fc.integer({ min: 40, max: 400 }), (before, since, tokens) => {
      const kept = withinBound(before, since, tokens);
      const all = [...before.messages, ...since];
      expect(kept.messages.length + kept.leftOut).toBe(all.length + before.leftOut);
      const size = kept.messages.reduce((sum, text) => sum + estimateTokens(text), 0);
      expect(size).toBeLessThanOrEqual(tokens);
      if (all.every((text) => estimateTokens(text) <= tokens / 4)) {
        expect(kept.messages[0]).toBe(all[0]);
        if (all.length > 1 && kept.messages.length > 1) expect(kept.messages.at(-1)).toBe(all.at(-1));
      }
      expect(withinBound(kept, [], tokens)).toEqual(kept);
    }),
  );
});

it("[CONTEXT-8] a message that would fill the bound by itself keeps its beginning and its end", () => {
  const long = `Never delete. ${"x".repeat(100_000)} Use tabs.`;
  const { messages } = withinBound(NOTHING_SAID, [long, "and go"], 400);
  expect(messages[0]).toMatch(/^Never delete\. x+ \[… \d+ characters left out …\] x+ Use tabs\.$/);
  expect(messages[1]).toBe("and go");
});
