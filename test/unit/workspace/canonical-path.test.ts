import { posix } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { canonicalPath, PATH_BYTES, SEGMENT_BYTES } from "../../../src/runtime/workspace/canonical-path.ts";
import { pathFromArgument } from "../../../src/runtime/workspace/path-argument.ts";

function faultOf(read: () => string): unknown {
  try {
    return read();
  } catch (caught) {
    if (!isLightAgentError(caught)) throw caught;
    return [caught.code, caught.details?.reason];
  }
}

/** Strings in which the parts that matter to paths are common. */
const pathLike = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "/",
        "/",
        "a",
        "b",
        ".",
        "..",
        "...",
        "..foo",
        "\\",
        "%2e",
        "%2F",
        "%41",
        "\0",
        "\n",
        "\u007F",
      ),
      fc.constantFrom("\u202E", "\u2066", "\uD800", "é", "e\u0301", "😀", " ", "x".repeat(200)),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("canonicalPath", () => {
  it.each([
    ["", "empty"],
    ["../x", "dot_segment"],
    ["a/..", "dot_segment"],
    ["./a", "dot_segment"],
    [".", "dot_segment"],
    ["/a", "absolute"],
    ["//", "absolute"],
    ["a//b", "empty_segment"],
    ["a/", "empty_segment"],
    ["..%2fx", "encoded"],
    ["%2e%2e/x", "encoded"],
    ["a%5C", "encoded"],
    ["a\\..\\b", "backslash"],
    ["a\0b", "control_character"],
    ["a\nb", "control_character"],
    ["a\u007Fb", "control_character"],
    ["a\u0085b", "control_character"],
    ["a\u202Eb", "bidi_control"],
    ["a\u200Fb", "bidi_control"],
    ["a\uD800b", "lone_surrogate"],
    ["x".repeat(SEGMENT_BYTES + 1), "segment_too_long"],
    ["é".repeat(128), "segment_too_long"],
    [`${"x/".repeat(PATH_BYTES / 2)}x`, "too_long"],
    ["x".repeat(1_025), "too_long"],
  ])("[PATH-1] refuses %j", (path, reason) => {
    expect(faultOf(() => canonicalPath(path))).toEqual(["invalid_path", reason]);
  });

  it.each([
    "a",
    "a/b.c",
    "..foo",
    "foo..",
    ".env",
    "a b",
    "trailing.",
    "trailing ",
    "%41",
    "w1",
    "日本語",
    "👩‍👩‍👧",
    "A",
    "c:",
    "~",
    "-",
  ])("[PATH-1] takes %j as it stands", (path) => expect(canonicalPath(path)).toBe(path));

  it("[PATH-2] gives one path for all spellings of the same characters, and keeps upper and lower case apart", () => {
    expect(canonicalPath("cafe\u0301/e\u0301")).toBe("caf\u00e9/\u00e9");
    expect(canonicalPath("caf\u00e9/\u00e9")).toBe("caf\u00e9/\u00e9");
    expect(canonicalPath("README.md")).not.toBe(canonicalPath("readme.md"));
  });

  it("[PATH-3] takes 255 bytes a name and 890 in all, no more", () => {
    const name = "é".repeat(127);
    expect(canonicalPath(`${name}x`)).toHaveLength(128);
    const longest = [...Array(3).fill("x".repeat(255)), "y".repeat(122)].join("/");
    expect(new TextEncoder().encode(longest)).toHaveLength(PATH_BYTES);
    expect(PATH_BYTES).toBe(890);
    expect(canonicalPath(longest)).toBe(longest);
    expect(faultOf(() => canonicalPath(`${longest}y`))).toEqual(["invalid_path", "too_long"]);
  });

  it("[PATH-1] gives a path that is canonical itself and safe under any prefix, or a reason", () => {
    fc.assert(
      fc.property(pathLike, (path) => {
        const result = faultOf(() => canonicalPath(path));
        if (typeof result !== "string") {
          expect(result).toEqual(["invalid_path", expect.any(String)]);
          return;
        }
        expect(canonicalPath(result)).toBe(result);
        expect(result).toBe(path.normalize("NFC"));
        const { pathname } = new URL(
          `https://host/t/one/${result.split("/").map(encodeURIComponent).join("/")}`,
        );
        expect(decodeURIComponent(pathname)).toBe(`/t/one/${result}`);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("pathFromArgument", () => {
  it.each([
    ["x", "x"],
    ["./x", "x"],
    ["/x", "x"],
    ["x/", "x"],
    ["//x///y", "x/y"],
    ["a/../x", "x"],
    ["a/b/../../x/.", "x"],
    [".", ""],
    ["/", ""],
    ["", ""],
    ["a/..", ""],
    ["..foo", "..foo"],
    ["cafe\u0301", "caf\u00e9"],
  ])("[PATH-4] reads %j as %j", (argument, path) => expect(pathFromArgument(argument)).toBe(path));

  it.each(["..", "../x", "a/../../x", "/..", "./../x", "../../etc/passwd", "a/../../a"])(
    "[PATH-5] refuses %j as leaving the root",
    (argument) => expect(faultOf(() => pathFromArgument(argument))).toEqual(["path_escape", undefined]),
  );

  it.each([["..\\x"], ["a\0"], ["%2e%2e/x"], ["\u202Ex"], ["x".repeat(1_025)]])(
    "[PATH-4] refuses %j",
    (argument) => {
      expect(faultOf(() => pathFromArgument(argument))).toEqual(["invalid_path", expect.any(String)]);
    },
  );

  it("[PATH-4] gives a canonical path or the root, or a reason; and agrees with POSIX about what it means", () => {
    fc.assert(
      fc.property(pathLike, (argument) => {
        const result = faultOf(() => pathFromArgument(argument));
        if (typeof result !== "string") {
          expect([
            ["path_escape", undefined],
            ["invalid_path", expect.any(String)],
          ]).toContainEqual(result);
          return;
        }
        expect(result === "" || canonicalPath(result) === result).toBe(true);
        const resolved = posix.normalize(`/${argument}`).normalize("NFC");
        expect(result).toBe(resolved.replace(/^\/|\/$/g, ""));
      }),
      { numRuns: 2_000 },
    );
  });
});
