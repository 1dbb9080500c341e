import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  contentSchema,
  cutText,
  previewOf,
  textContent,
  textOf,
} from "../../../src/runtime/protocol/content.ts";

const image = { type: "image", mediaType: "image/png" };

describe("content", () => {
  it.each([
    [textContent("hi")],
    [[{ ...image, path: "a/b.png" }]],
    [[{ ...image, artifact: "r" }]],
    [
      [
        { ...image, url: "https://example.com/a.png" },
        { type: "text", text: "" },
      ],
    ],
  ])("is %j", (content) => {
    expect(contentSchema.parse(content)).toEqual(content);
  });

  it.each([
    ["an empty list", [], ""],
    ["a string", "hi", ""],
    ["an unknown part", [{ type: "video", url: "https://example.com" }], "0.type"],
    ["a text that is none", [{ type: "text", text: 1 }], "0.text"],
    ["an unknown field", [{ type: "text", text: "x", cache: true }], "0"],
    ["an image from nowhere", [image], "0"],
    ["an image from two places", [{ ...image, path: "a", artifact: "r" }], "0"],
    ["an image over plain http", [{ ...image, url: "http://example.com/a.png" }], "0.url"],
    ["an image in the message", [{ ...image, url: "data:image/png;base64,AA==" }], "0.url"],
    ["an image that is none", [{ ...image, mediaType: "text/html", path: "a" }], "0.mediaType"],
  ])("refuses %s and says where", (_, content, where) => {
    const { error } = contentSchema.safeParse(content);
    expect(error?.issues.map(({ path }) => path.join("."))).toEqual([where]);
  });

  it("has a text, in which images are named", () => {
    const content = contentSchema.parse([
      { type: "text", text: "see" },
      { ...image, path: "a" },
    ]);
    expect(textOf(content)).toBe("see\n[image image/png]");
  });

  it("has a preview on one line", () => {
    expect(previewOf(textContent("  a\n\n b\t c  "))).toBe("a b c");
    expect(previewOf(textContent("x".repeat(500)))).toHaveLength(120);
  });
});

describe("a cut text", () => {
  it.each([
    ["a😀b", 0, ""],
    ["a😀b", 1, "a"],
    ["a😀b", 2, "a"],
    ["a😀b", 3, "a😀"],
    ["a😀b", 9, "a😀b"],
    ["😀", 1, ""],
  ])("of %j at %i is %j", (text, length, cut) => {
    expect(cutText(text, length)).toBe(cut);
  });

  it("is a beginning of the text, within the length, and never ends in half a pair", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat({ max: 20 }), (text, length) => {
        const cut = cutText(text, length);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(length);
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, length) - 1);
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });
});
