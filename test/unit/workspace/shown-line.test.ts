import * as fc from "fast-check";
import { expect, it } from "vitest";
import { shownLine } from "../../../src/runtime/workspace/shown-line.ts";

it.each([
  ["short", 0, 500, "short"],
  ["x".repeat(11), 0, 10, `${"x".repeat(9)}…`],
  [`${"x".repeat(200)}yz`, 200, 10, `…${"x".repeat(7)}yz`],
])("[FILE-16] shows %j from %i on in %i characters", (line, at, length, shown) => {
  expect(shownLine(line, at, length)).toBe(shown);
});

it("[FILE-16] shows the match of a long line, whole characters only, within the length", () => {
  const line = fc
    .array(fc.constantFrom("a", "😀", "é"), { minLength: 300, maxLength: 900 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(line, fc.nat(), (text, place) => {
      const at = place % text.length;
      const shown = shownLine(`${text.slice(0, at)}#${text.slice(at)}`, at, 200);
      expect(shown.length).toBeLessThanOrEqual(200);
      expect(shown).toContain("#");
      expect(shown.isWellFormed() || !text.slice(0, at).isWellFormed()).toBe(true);
    }),
  );
});
