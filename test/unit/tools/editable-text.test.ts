import * as fc from "fast-check";
import { expect, it } from "vitest";
import { EditableText } from "../../../src/tools/editable-text.ts";

it("[TOOL-18] changes nothing but the place that is replaced, whatever the line endings", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "\n", "\r\n", "\r", "\uFEFF"), { maxLength: 30 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(10), (raw, place, length) => {
      const before = new EditableText(raw);
      expect(before.text).toBe(raw.replaceAll("\r\n", "\n"));
      const start = place % (before.text.length + 1);
      const wanted = before.text.slice(start, start + length);
      const after = before.replaced([start], wanted.length, "[new]");
      const [head = "", tail = ""] = after.raw.split("[new]");
      expect(raw.startsWith(head)).toBe(true);
      expect(raw.endsWith(tail)).toBe(true);
      expect(raw.slice(head.length, raw.length - tail.length).replaceAll("\r\n", "\n")).toBe(wanted);
    }),
    { numRuns: 1_000 },
  );
});

it("[TOOL-18] ends new lines as most lines of the file end", () => {
  expect(new EditableText("a\r\nb\r\nc\n").replaced([0], 1, "x\ny").raw).toBe("x\r\ny\r\nb\r\nc\n");
  expect(new EditableText("a\nb\r\nc\n").replaced([0], 1, "x\ny").raw).toBe("x\ny\nb\r\nc\n");
  expect(new EditableText("a").replaced([0], 1, "x\ny").raw).toBe("x\ny");
});
