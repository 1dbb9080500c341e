import fc from "fast-check";
import { expect, it } from "vitest";
import { exceedsBytes, parseArguments } from "../../../src/runtime/model/call-arguments.ts";
import { accumulate, callChunk, callsOf, endChunk, fragment } from "./chunks.ts";

it.each([
  ["nothing", "", {}],
  ["blanks", " \n", {}],
  ["an empty object", "{}", {}],
  ["an object", ' {"a":{"b":[1]}} ', { a: { b: [1] } }],
  ["a placeholder before the object", '{}{"a":1}', { a: 1 }],
  ["a placeholder and blanks before it", '{} {"a":1}', { a: 1 }],
])("[MODEL-3] takes %s", (_, raw, args) => {
  expect(parseArguments(raw)).toEqual(args);
});

it.each([
  ["a cut object", '{"a":1'],
  ["two objects", '{"a":1}{"b":2}'],
  ["an object with something behind it", '{"a":1} done'],
  ["a list", "[1]"],
  ["null", "null"],
  ["a string", '"{}"'],
  ["single quotes", "{'a':1}"],
  ["a trailing comma", '{"a":1,}'],
  ["prose", "path=a"],
])("[MODEL-3] refuses %s and keeps its text", (_, raw) => {
  expect(parseArguments(raw)).toBeNull();
  const [call] = callsOf([fragment({ index: 0, id: "c1", name: "read", args: raw })]);
  expect(call).toEqual({ providerId: "c1", name: "read", args: {}, malformed: raw });
});

it("[MODEL-3] no proper prefix of an object passes for one, however it is cut", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (args, at) => {
      const text = JSON.stringify(args);
      const cut = 1 + (at % (text.length - 1));
      expect(parseArguments(text)).toEqual(JSON.parse(text));
      expect(parseArguments(text.slice(0, cut))).toBeNull();
    }),
  );
});

it("[MODEL-3] arguments that come as an object stand for the whole", () => {
  const [call] = callsOf([
    fragment({ index: 0, id: "c1", name: "read", args: '{"pa' }),
    fragment({ index: 0, args: { path: "a" } }),
  ]);
  expect(call?.args).toEqual({ path: "a" });
});

it("[MODEL-4] arguments over the limit are malformed, and what is kept and shown of them is bounded", () => {
  const text = JSON.stringify({ a: "x".repeat(90) });
  const pieces = [text.slice(0, 40), text.slice(40), "x".repeat(1_000), "x"];
  const chunks = pieces.map((args) => callChunk(fragment({ index: 0, id: "c1", name: "w", args })));
  const { deltas, reply } = accumulate([...chunks, endChunk("tool_calls")], { argumentBytes: 60 });
  expect(reply.calls[0]?.malformed).toBe(text.slice(0, 60));
  expect(deltas.map((delta) => delta.text).join("")).toBe(text.slice(0, 60));
});

it("[MODEL-4] the limit counts bytes of UTF-8", () => {
  const args = JSON.stringify({ a: "日".repeat(20) });
  const chunks = [callChunk(fragment({ index: 0, id: "c1", name: "w", args })), endChunk("tool_calls")];
  const bytes = new TextEncoder().encode(args).length;
  expect(accumulate(chunks, { argumentBytes: bytes }).reply.calls[0]?.malformed).toBeUndefined();
  expect(accumulate(chunks, { argumentBytes: bytes - 1 }).reply.calls[0]?.malformed).toBe(args);
});

it("[MODEL-4] counts bytes as an encoder does", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat({ max: 40 }), (text, limit) => {
      expect(exceedsBytes(text, limit)).toBe(new TextEncoder().encode(text).length > limit);
    }),
  );
});

it("[MODEL-4] brackets nested by the thousand are malformed, brackets in a string are not", () => {
  const nested = `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
  expect(parseArguments(nested)).toBeNull();
  const quoted = { a: `${"[".repeat(5_000)}"\\` };
  expect(parseArguments(JSON.stringify(quoted))).toEqual(quoted);
});
