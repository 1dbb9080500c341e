import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { parseJson } from "../../../src/runtime/protocol/json.ts";

function codeOf(text: string): string {
  try {
    parseJson(text);
    return "parsed";
  } catch (caught) {
    if (!isLightAgentError(caught)) throw caught;
    return caught.code;
  }
}

describe("JSON from outside", () => {
  it("[API-8] is what JSON.parse makes of it, when it can be kept as it was sent", () => {
    const value = fc.jsonValue({ maxDepth: 5 });
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (sent, indent) => {
        const text = JSON.stringify(sent, null, indent);
        const kept = !/"__proto__":/.test(text) && !/\d{16}|e\+/.test(text);
        fc.pre(kept);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each(["{", "", "[1,]", "{'a':1}", '{"a":1}}', "NaN", '"\n"', '"\\ud8"', "01", "[[[["])(
    "[API-7] %s is not JSON",
    (text) => {
      expect(codeOf(text)).toBe("invalid_json");
    },
  );

  it.each([
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '[{"b":{"a":1,"b":2,"a":3}}]',
    '{"":1,"":2}',
    '{"__proto__":1}',
    '{"a":{"\\u005f_proto__":1}}',
    "9007199254740992",
    "[-9007199254740993]",
    '{"n":1e400}',
    "12345678901234567890",
  ])("[API-7] %s cannot be kept as it was sent", (text) => {
    expect(codeOf(text)).toBe("invalid_request");
  });

  it.each([
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '{"a":"{\\"a\\":1,\\"a\\":2}","b":"a"}',
    '["a","a",{"a":"a"}]',
    '{"a\\"":1,"a":2}',
    '"\\ud800"',
    '"\\u0000"',
    "[9007199254740991,-0.5,1e3]",
  ])("[API-8] %s is kept", (text) => {
    expect(codeOf(text)).toBe("parsed");
  });

  it("[API-7] nests 64 levels and no more, and is checked in a time that grows with its length alone", () => {
    const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    expect([codeOf(nested(64)), codeOf(nested(65)), codeOf(nested(200_000))]).toEqual([
      "parsed",
      "invalid_request",
      "invalid_request",
    ]);
    expect(codeOf(JSON.stringify('\\\n"'.repeat(300_000)))).toBe("parsed");
  });
});
