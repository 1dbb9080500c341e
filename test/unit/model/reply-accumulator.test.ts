import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelError } from "../../../src/runtime/model/model-error.ts";
import { accumulate, callChunk, deltaChunk, endChunk, fragment } from "./chunks.ts";

const CALL = callChunk(fragment({ index: 0, id: "c1", name: "read", args: '{"path":"a"}' }));
const TEXT = deltaChunk({ content: "hi" });

/** The error that some chunks end in. */
function errorOf(chunks: readonly unknown[], options = {}): ModelError {
  try {
    accumulate(chunks, options);
  } catch (caught) {
    if (caught instanceof ModelError) return caught;
  }
  throw new Error("expected a ModelError");
}

describe("[MODEL-7] blocks", () => {
  it("[MODEL-7] all text is one block and all reasoning another, numbered as they began", () => {
    const { deltas, reply } = accumulate([
      deltaChunk({ reasoning_content: "let " }),
      deltaChunk({ content: "It " }),
      CALL,
      deltaChunk({ reasoning_content: "me", content: "is." }),
      endChunk("stop"),
    ]);
    expect(deltas.map(({ kind, block, text }) => [kind, block, text])).toEqual([
      ["thought", 0, "let "],
      ["text", 1, "It "],
      ["tool_args", 2, '{"path":"a"}'],
      ["thought", 0, "me"],
      ["text", 1, "is."],
    ]);
    expect(reply.blocks).toEqual([
      { kind: "thought", block: 0, text: "let me" },
      { kind: "text", block: 1, text: "It is." },
    ]);
  });

  it("[MODEL-7] the deltas of each block, joined, are its text", () => {
    const piece = fc.record({
      kind: fc.constantFrom("content", "reasoning"),
      text: fc.string({ unit: "binary" }),
    });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1 }), (pieces) => {
        const chunks = pieces.map(({ kind, text }) => deltaChunk({ [kind]: text }));
        const { deltas, reply } = accumulate([TEXT, ...chunks, endChunk("stop")]);
        for (const { block, text } of reply.blocks) {
          const joined = deltas.filter((delta) => delta.block === block).map((delta) => delta.text);
          expect(joined.join("")).toBe(text);
        }
      }),
    );
  });

  it.each([
    ["a string", { content: "hi" }, "hi"],
    [
      "parts",
      { content: [{ type: "text", text: "h" }, { type: "other" }, { type: "text", text: "i" }] },
      "hi",
    ],
    ["a refusal", { content: null, refusal: "I cannot." }, "I cannot."],
  ])("[MODEL-7] reads text that comes as %s", (_, delta, text) => {
    expect(accumulate([deltaChunk(delta), endChunk("stop")]).reply.blocks[0]?.text).toBe(text);
  });

  it.each([
    [{ reasoning_content: "a" }],
    [{ reasoning: "a" }],
    [{ reasoning_text: "a" }],
    [{ reasoning_content: "", reasoning: "a" }],
    [{ reasoning_content: "a", reasoning: "a", reasoning_text: "a" }],
  ])("[MODEL-7] reads reasoning once from %o", (delta) => {
    const { reply } = accumulate([deltaChunk(delta), TEXT, endChunk("stop")]);
    expect(reply.blocks[0]).toEqual({ kind: "thought", block: 0, text: "a" });
  });

  it("[MODEL-7] a whole `message` in the place of a delta counts, other choices do not", () => {
    const chunk = { choices: [{ index: 1, delta: { content: "no" } }, { message: { content: "yes" } }] };
    expect(accumulate([chunk, endChunk("stop")]).reply.blocks[0]?.text).toBe("yes");
  });
});

describe("[MODEL-6] usage", () => {
  const usage = (more: object): object => ({ prompt_tokens: 10, completion_tokens: 5, ...more });

  it("[MODEL-6] the last numbers stand, wherever they are, and null takes nothing back", () => {
    const { reply } = accumulate([
      { ...TEXT, usage: usage({ completion_tokens: 1 }) },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: usage({}) }] },
      { choices: null, usage: null },
      { choices: [], usage: {} },
    ]);
    expect(reply.usage).toEqual({ input: 10, output: 5, cachedInput: 0, reasoning: 0 });
  });

  it("[MODEL-6] is null when no number came", () => {
    expect(accumulate([TEXT, endChunk("stop")]).reply.usage).toBeNull();
  });

  it("[MODEL-6] cached input is a part of input, reasoning a part of output", () => {
    const details = {
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    const { reply } = accumulate([
      TEXT,
      { ...endChunk("stop"), usage: usage({ total_tokens: 15, ...details }) },
    ]);
    expect(reply.usage).toEqual({ input: 10, output: 5, cachedInput: 4, reasoning: 3 });
  });

  it("[MODEL-6] reasoning that a provider counts apart from the completion is added to the output", () => {
    const details = { completion_tokens_details: { reasoning_tokens: 90 } };
    const { reply } = accumulate([
      TEXT,
      { ...endChunk("stop"), usage: usage({ total_tokens: 105, ...details }) },
    ]);
    expect(reply.usage).toMatchObject({ output: 95, reasoning: 90 });
  });

  it("[MODEL-6] is whole numbers from 0 on whatever a provider counts", () => {
    const number = fc.oneof(fc.double(), fc.integer(), fc.constant(null), fc.string());
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        number,
        number,
        number,
        (input, output, cached, reasoning) => {
          const sent = {
            prompt_tokens: input,
            completion_tokens: output,
            prompt_tokens_details: { cached_tokens: cached },
            completion_tokens_details: { reasoning_tokens: reasoning },
          };
          const read = accumulate([TEXT, { ...endChunk("stop"), usage: sent }]).reply.usage;
          for (const count of Object.values(read ?? {}))
            expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
          expect(read && read.cachedInput <= read.input && read.reasoning <= read.output).toBe(true);
        },
      ),
    );
  });
});

describe("[MODEL-8] finish reasons", () => {
  it.each([
    ...["stop", "end_turn", "eos", "eos_token", "stop_sequence", "completed", "STOP"].map((name) => [
      name,
      "stop",
    ]),
    ...["length", "max_tokens", "max_output_tokens", "MAX_TOKENS"].map((name) => [name, "length"]),
    ...["content_filter", "safety", "sensitive", "SAFETY"].map((name) => [name, "content_filter"]),
  ])("[MODEL-8] %s means %s", (sent = "", meant) => {
    expect(accumulate([TEXT, endChunk(sent)]).reply.finishReason).toBe(meant);
  });

  it.each(["tool_calls", "tool_use", "function_call", "stop", "end_turn"])(
    "[MODEL-8] %s with calls means tool_calls",
    (sent) => {
      const { reply } = accumulate([CALL, endChunk(sent)]);
      expect(reply).toMatchObject({ finishReason: "tool_calls", calls: [{ args: { path: "a" } }] });
      expect(reply.calls[0]?.malformed).toBeUndefined();
    },
  );

  it("[MODEL-8] an unknown one means stop, is reported, and no call of the reply may run", () => {
    const { reply } = accumulate([TEXT, CALL, endChunk("went_home")]);
    expect(reply.finishReason).toBe("stop");
    expect(reply.calls).toEqual([{ providerId: "c1", name: "read", args: {}, malformed: '{"path":"a"}' }]);
    expect(reply.diagnostics?.[0]?.code).toBe("unknown_finish_reason");
    expect(reply.diagnostics?.[0]?.message).toContain("`went_home`");
  });

  it("[MODEL-16] an unknown one that is no name is not repeated", () => {
    const { reply } = accumulate([TEXT, endChunk("the user said: secret")]);
    expect(reply.diagnostics?.[0]?.message).not.toContain("secret");
  });

  it("[MODEL-8] a cut reply keeps whole calls whole and cut ones as text", () => {
    const cut = callChunk(fragment({ index: 1, id: "c2", name: "write", args: '{"content":"hel' }));
    const { reply } = accumulate([CALL, cut, endChunk("length")]);
    expect(reply.finishReason).toBe("length");
    expect(reply.calls.map((call) => call.malformed)).toEqual([undefined, '{"content":"hel']);
  });

  it("[MODEL-8] tool_calls without a call means stop, and is reported", () => {
    const { reply } = accumulate([TEXT, endChunk("tool_calls")]);
    expect(reply).toMatchObject({ finishReason: "stop", diagnostics: [{ code: "calls_missing" }] });
  });

  it("[MODEL-8] error and an exceeded window are errors", () => {
    expect(errorOf([TEXT, endChunk("error")]).modelCode).toBe("model_error");
    expect(errorOf([TEXT, endChunk("model_context_window_exceeded")]).modelCode).toBe("context_overflow");
  });
});

describe("[MODEL-9] a stream without a finish reason", () => {
  it("[MODEL-9] is incomplete", () => {
    expect(errorOf([TEXT]).modelCode).toBe("incomplete_stream");
    expect(errorOf([CALL]).modelCode).toBe("incomplete_stream");
  });

  it("[MODEL-9] is a reply from a server that is known to give none, and its cut calls are malformed", () => {
    const cut = callChunk(fragment({ index: 0, id: "c1", name: "read", args: '{"path":' }));
    const { reply } = accumulate([TEXT, cut], { allowMissingFinishReason: true });
    expect(reply).toMatchObject({ finishReason: "tool_calls", calls: [{ malformed: '{"path":' }] });
  });
});

describe("[MODEL-10] a reply without text and without a call", () => {
  it("[MODEL-10] is an error that may pass", () => {
    const error = errorOf([deltaChunk({ reasoning: "hm" }), endChunk("stop")]);
    expect([error.modelCode, error.retryable]).toEqual(["empty_reply", true]);
  });

  it("[MODEL-10] at the output limit is an error that does not pass", () => {
    const error = errorOf([deltaChunk({ reasoning: "hm" }), endChunk("length")]);
    expect([error.modelCode, error.retryable]).toEqual(["empty_reply", false]);
  });

  it("[MODEL-10] that a filter withheld is content_filter", () => {
    expect(errorOf([endChunk("content_filter")]).modelCode).toBe("content_filter");
  });

  it("[MODEL-10] and without a single chunk is malformed", () => {
    expect(errorOf([]).modelCode).toBe("malformed_stream");
  });
});

describe("[MODEL-13] an error inside the stream", () => {
  it.each([
    ["a status", { error: { code: 502, message: "x" } }, "model_unavailable"],
    ["a status as text", { error: { code: "429", message: "x" } }, "rate_limited"],
    ["a code", { error: { code: "context_length_exceeded" }, choices: [] }, "context_overflow"],
    ["a bare string", { error: "overloaded" }, "model_unavailable"],
    [
      "vLLM's form",
      { object: "error", message: "maximum context length is 10 tokens", code: 400 },
      "context_overflow",
    ],
    ["nothing more", { error: {} }, "model_error"],
  ])("[MODEL-13] with %s is classified", (_, chunk, code) => {
    expect(errorOf([TEXT, chunk, endChunk("stop")]).modelCode).toBe(code);
  });
});

it("[MODEL-7] no value in the place of a chunk breaks it", () => {
  const anything = fc.anything({ withNullPrototype: true });
  const shaped = fc.record({
    choices: fc.oneof(
      anything,
      fc.array(fc.record({ delta: anything, finish_reason: anything, index: anything })),
    ),
    usage: anything,
  });
  const calls = fc.array(
    fc.oneof(anything, fc.record({ index: anything, id: anything, function: anything })),
  );
  const called = calls.map((fragments) => deltaChunk({ tool_calls: fragments, content: fragments }));
  fc.assert(
    fc.property(fc.array(fc.oneof(anything, shaped, called)), (chunks) => {
      try {
        accumulate([...chunks, TEXT, endChunk("stop")]);
      } catch (caught) {
        expect(caught).toBeInstanceOf(ModelError);
      }
    }),
    { numRuns: 500 },
  );
});
