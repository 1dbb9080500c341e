import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accumulate, callChunk, callsOf, endChunk, fragment } from "./chunks.ts";

const A = '{"path":"a"}';
const B = '{"path":"b"}';

/** Name and arguments of the calls that fragments come to. */
function shapes(fragments: readonly object[]): unknown[] {
  return callsOf(fragments).map((call) => [call.name, call.malformed ?? call.args]);
}

const TWO = [
  ["read", { path: "a" }],
  ["read", { path: "b" }],
];

describe("[MODEL-2] a fragment finds its call", () => {
  it("[MODEL-2] by index, with the id on the first fragment alone", () => {
    const fragments = [
      fragment({ index: 0, id: "c1", name: "read", args: "" }),
      fragment({ index: 1, id: "c2", name: "read", args: '{"path":' }),
      fragment({ index: 0, args: A }),
      fragment({ index: 1, args: '"b"}' }),
    ];
    expect(shapes(fragments)).toEqual(TWO);
  });

  it("[MODEL-2] by index that does not start at 0, in order of first appearance", () => {
    const fragments = [
      fragment({ index: 7, id: "c1", name: "read", args: A }),
      fragment({ index: 3, id: "c2", name: "read", args: B }),
    ];
    expect(shapes(fragments)).toEqual(TWO);
  });

  it("[MODEL-2] a new id with a name at a used index is another call", () => {
    const fragments = [
      fragment({ index: 0, id: "c1", name: "read", args: '{"path":' }),
      fragment({ index: 0, args: '"a"}' }),
      fragment({ index: 0, id: "c2", name: "read", args: '{"path"' }),
      fragment({ index: 0, args: ':"b"}' }),
    ];
    expect(shapes(fragments)).toEqual(TWO);
  });

  it("[MODEL-2] a new id without a name at a used index is another call once the first is complete", () => {
    const fragments = [
      fragment({ index: 0, id: "c1", name: "read", args: A }),
      fragment({ index: 0, id: "c2", args: B }),
    ];
    expect(shapes(fragments)).toEqual([
      ["read", { path: "a" }],
      ["", B],
    ]);
  });

  it("[MODEL-2] a fresh id on every fragment of one call does not split it", () => {
    const fragments = [
      fragment({ index: 0, id: "x1", name: "read", args: '{"path"' }),
      fragment({ index: 0, id: "x2", args: ':"a"}' }),
      fragment({ index: 0, id: "x3", args: "" }),
    ];
    expect(shapes(fragments)).toEqual([["read", { path: "a" }]]);
  });

  it("[MODEL-2] an id that comes back at a shared index goes to its own call", () => {
    const fragments = [
      fragment({ index: 0, id: "c1", name: "read", args: '{"path":' }),
      fragment({ index: 0, id: "c2", name: "read", args: '{"path":' }),
      fragment({ index: 0, id: "c1", args: '"a"}' }),
      fragment({ index: 0, id: "c2", args: '"b"}' }),
    ];
    expect(shapes(fragments)).toEqual(TWO);
  });

  it("[MODEL-2] a second call without an id at a used index stays apart when it has an id of its own", () => {
    const fragments = [
      fragment({ index: 0, name: "read", args: A }),
      fragment({ index: 0, id: "c2", name: "read", args: B }),
    ];
    expect(shapes(fragments)).toEqual(TWO);
  });

  it("[MODEL-2] by id where the index is missing", () => {
    const fragments = [
      fragment({ id: "c1", name: "read", args: '{"path":' }),
      fragment({ id: "c2", name: "read", args: '{"path":' }),
      fragment({ id: "c1", args: '"a"}' }),
      fragment({ id: "c2", args: '"b"}' }),
    ];
    expect(shapes(fragments)).toEqual(TWO);
  });

  it("[MODEL-2] by position where both are missing: a name after a complete call begins another", () => {
    const fragments = [
      fragment({ name: "read", args: '{"path":' }),
      fragment({ args: '"a"}' }),
      fragment({ name: "read", args: B }),
    ];
    expect(shapes(fragments)).toEqual(TWO);
  });

  it("[MODEL-2] an index that is no whole number counts as missing", () => {
    const fragments = [
      fragment({ index: null, id: "c1", name: "read", args: A }),
      fragment({ index: "1", id: "c2", name: "read", args: B }),
    ];
    expect(shapes(fragments)).toEqual(TWO);
  });
});

describe("[MODEL-2] a call's name", () => {
  it("[MODEL-2] may come in fragments before the arguments", () => {
    const fragments = [
      fragment({ index: 0, id: "c1", name: "read" }),
      fragment({ index: 0, name: "_file" }),
      fragment({ index: 0, args: A }),
    ];
    expect(shapes(fragments)).toEqual([["read_file", { path: "a" }]]);
  });

  it("[MODEL-2] is set once: repeats are no part of it", () => {
    const fragments = [
      fragment({ index: 0, id: "c1", name: "read", args: "" }),
      fragment({ index: 0, id: "c1", name: "read", args: A }),
      fragment({ index: 0, name: "read", args: "" }),
    ];
    expect(shapes(fragments)).toEqual([["read", { path: "a" }]]);
  });

  it("[MODEL-3] that never came makes the call malformed, and nothing at all makes no call", () => {
    const fragments = [fragment({ index: 0, args: A }), fragment({ index: 1 })];
    expect(shapes(fragments)).toEqual([["", A]]);
  });
});

describe("[MODEL-5] ids", () => {
  it("[MODEL-5] a missing id is made up, a repeated one gets a suffix, and both are reported", () => {
    const { reply } = accumulate([
      callChunk(
        fragment({ index: 0, id: "c1", name: "read", args: A }),
        fragment({ index: 1, id: "c1", name: "read", args: B }),
        fragment({ index: 2, id: "c1#1", name: "read", args: B }),
        fragment({ index: 3, name: "read", args: B }),
      ),
      endChunk("tool_calls"),
    ]);
    const ids = reply.calls.map((call) => call.providerId);
    expect(ids.slice(0, 3)).toEqual(["c1", "c1#1", "c1#1#1"]);
    expect(new Set(ids).size).toBe(4);
    const codes = reply.diagnostics?.map((diagnostic) => diagnostic.code);
    expect(codes).toEqual(["call_id_repeated", "call_id_repeated", "call_id_missing"]);
  });

  it("[MODEL-5] are unique whatever a server sends", () => {
    const id = fc.constantFrom("", "a", "a#1", "a#2", "call_0", "call_1", "call_1#1");
    fc.assert(
      fc.property(fc.array(id, { minLength: 1, maxLength: 12 }), (sent) => {
        const fragments = sent.map((given, index) => fragment({ index, id: given, name: "read", args: A }));
        const ids = callsOf(fragments).map((call) => call.providerId);
        expect(ids).toHaveLength(sent.length);
        expect(new Set(ids).size).toBe(sent.length);
      }),
    );
  });
});

describe("[MODEL-7] what is shown of a call", () => {
  it("[MODEL-7] its deltas, joined, are its arguments, in a block of its own", () => {
    const { deltas } = accumulate([
      callChunk(fragment({ index: 0, id: "c1", name: "read", args: "" })),
      callChunk(fragment({ index: 1, id: "c2", name: "list", args: "{}" })),
      callChunk(fragment({ index: 0, args: '{"path":' })),
      callChunk(fragment({ index: 0, args: '"a"}' })),
      endChunk("tool_calls"),
    ]);
    expect(deltas).toEqual([
      { type: "delta", kind: "tool_args", block: 0, text: "", call: 0, name: "read" },
      { type: "delta", kind: "tool_args", block: 1, text: "{}", call: 1, name: "list" },
      { type: "delta", kind: "tool_args", block: 0, text: '{"path":', call: 0, name: "read" },
      { type: "delta", kind: "tool_args", block: 0, text: '"a"}', call: 0, name: "read" },
    ]);
  });
});

it("[MODEL-7] an empty fragment takes no number: those of the deltas are the places in the reply", () => {
  const { deltas, reply } = accumulate([
    callChunk(fragment({ index: 0 }), fragment({ index: 1, id: "c2", name: "read", args: A })),
    callChunk(fragment({ index: 2, id: "c3" })),
    callChunk(fragment({ index: 3, id: "c4", name: "list", args: "" }), fragment({ index: 2, name: "late" })),
    endChunk("tool_calls"),
  ]);
  const named = deltas.map((delta) =>
    delta.kind === "tool_args" ? [delta.call, delta.block, delta.name] : [],
  );
  expect(named).toEqual([
    [0, 0, "read"],
    [1, 1, "list"],
    [2, 2, "late"],
  ]);
  expect(reply.calls.map((call) => call.name)).toEqual(["read", "list", "late"]);
});

/** Streams that would take minutes if each fragment cost as much as all before it. */
it.each([
  [
    "calls at their own indexes",
    (at: number) => fragment({ index: at, id: "c", name: "r", args: "{}" }),
    30_000,
  ],
  ["calls at one index", (at: number) => fragment({ index: 0, id: `c${at}`, name: "r", args: "{}" }), 30_000],
  ["fragments under fresh ids", (at: number) => fragment({ index: 0, id: `c${at}`, args: '{"a":' }), 1],
  ["fragments of a name", () => fragment({ index: 0, id: "c", name: "name" }), 1],
])("[MODEL-2] thousands of %s take linear time and bounded space", (_, make, calls) => {
  const fragments = Array.from({ length: 30_000 }, (__, at) => make(at));
  const found = callsOf(fragments);
  expect(found).toHaveLength(calls);
  expect(found[0]?.name.length).toBeLessThan(1_000);
});
