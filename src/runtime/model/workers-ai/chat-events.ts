import { isObject, parseObject, stringOr } from "../json-value.ts";
import type { JsonObject } from "../json-value.ts";

const DONE = "[DONE]";
const STOP = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };

/** Longest line that is rewritten; a longer one is passed on as it is. */
const LINE_CHARS = 1024 * 1024;

/**
 * A stream of Workers AI as one of Chat Completions. Old models send `{ response, tool_calls?, usage? }` and say nothing
 * of the reply's end but `[DONE]`; new ones send Chat Completions already. Bytes may be cut anywhere.
 */
export function toChatEvents(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const rewriter = new LineRewriter();
  let held = "";
  const transform = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      const lines = (held + decoder.decode(bytes, { stream: true })).split("\n");
      held = lines.pop() ?? "";
      if (held.length > LINE_CHARS) {
        lines.push(held);
        held = "";
      }
      const text = lines.map((line) => `${rewriter.rewrite(line)}\n`).join("");
      if (text !== "") controller.enqueue(encoder.encode(text));
    },
    flush(controller) {
      const last = held + decoder.decode();
      if (last !== "") controller.enqueue(encoder.encode(`${rewriter.rewrite(last)}\n\n`));
    },
  });
  return stream.pipeThrough(transform);
}

/** An answer that came as a whole, from a model that does not stream, as one. */
export function eventsOfAnswer(answer: unknown): string {
  const rewriter = new LineRewriter();
  return [`data: ${JSON.stringify(answer ?? {})}`, `data: ${DONE}`]
    .map((line) => `${rewriter.rewrite(line)}\n\n`)
    .join("");
}

/** Rewrites the lines of one stream. */
class LineRewriter {
  #finished = false;
  #calls = 0;

  rewrite(line: string): string {
    const data = /^data:\s*(.*?)\r?$/.exec(line)?.[1];
    if (data === undefined) return line;
    if (data === DONE) return this.#finished ? line : `data: ${JSON.stringify(STOP)}\n\n${line}`;
    const event = parseObject(data);
    if (!event) return line;
    if (Array.isArray(event["choices"])) {
      this.#finished ||= event["choices"].some(
        (choice) => isObject(choice) && Boolean(choice["finish_reason"]),
      );
      return line;
    }
    return "response" in event || "tool_calls" in event
      ? `data: ${JSON.stringify(this.#toChunk(event))}`
      : line;
  }

  #toChunk({ response, tool_calls: calls, usage }: JsonObject): JsonObject {
    // Asked for JSON, some models answer with the object itself.
    const text =
      isObject(response) || Array.isArray(response) ? JSON.stringify(response) : stringOr(response);
    const listed: readonly unknown[] = Array.isArray(calls) ? calls : [];
    const deltas = listed.filter(isObject).map((call) => this.#toCall(call));
    const delta = { content: text, ...(deltas.length > 0 ? { tool_calls: deltas } : {}) };
    return { choices: [{ index: 0, delta, finish_reason: null }], usage };
  }

  /** Each comes as a whole: `{ name, arguments }`, or as in Chat Completions. */
  #toCall(call: JsonObject): JsonObject {
    const called = isObject(call["function"]) ? call["function"] : call;
    const index = this.#calls++;
    return {
      index,
      id: stringOr(call["id"]) || `call_${index}`,
      type: "function",
      function: { name: called["name"], arguments: called["arguments"] },
    };
  }
}
