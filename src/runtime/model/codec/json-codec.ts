import type { ToolSpec } from "../../protocol/tool-spec.ts";
import { parseArguments } from "../call-arguments.ts";
import { isObject, stringOr } from "../json-value.ts";
import type { JsonObject } from "../json-value.ts";
import { jsonInText, withoutThinking } from "../text-json.ts";
import { namedCall } from "./call-id.ts";
import { encodeAsText } from "./encoded-history.ts";
import type { HistoryWriter } from "./encoded-history.ts";
import { CodecError } from "./tool-call-codec.ts";
import type { DecodedReply, ToolCallCodec } from "./tool-call-codec.ts";

const PROTOCOL = `# How to use tools
You call tools by answering with one JSON object and nothing else:
{"type":"tool_calls","calls":[{"name":"<tool>","input":{<arguments>}}]}
The results come back as {"type":"tool_results","results":[…]}. Never write results yourself.
When you need no more tools, answer with:
{"type":"final","text":"<your answer>"}

# Tools`;

/** What the model tried to write, when what it wrote is no JSON. */
const LOOKS_LIKE_CALLS = /"(?:type"\s*:\s*"tool_calls|calls"\s*:|tool_calls"\s*:)/;

const HISTORY: HistoryWriter = {
  reply(text, calls) {
    if (calls.length === 0) return JSON.stringify({ type: "final", text });
    const written = calls.map(({ id, name, args }) => ({ id, name, input: args }));
    const said = text === "" ? {} : { text };
    return JSON.stringify({ type: "tool_calls", ...said, calls: written });
  },
  results(results) {
    const written = results.map(({ callId, name, content, isError }) => {
      return { id: callId, name, ...(isError ? { isError } : {}), content };
    });
    return JSON.stringify({ type: "tool_results", results: written });
  },
};

/**
 * Calls as one JSON object, for models without tool calling. Lenient about what stands around the object (prose,
 * fences, reasoning) and about the names of its fields; strict about the JSON itself. A text without such an object is
 * an answer.
 */
export const jsonCodec: ToolCallCodec = {
  encode: (request) => encodeAsText(request, HISTORY, catalog),

  async decode(raw) {
    const text = withoutThinking(raw);
    for (const { value, before } of jsonInText(text)) {
      if (isObject(value) && isProtocol(value)) return decodeObject(raw, value, before);
    }
    if (LOOKS_LIKE_CALLS.test(text))
      throw new CodecError("The JSON of the tool calls is not valid.", toolIn(text));
    if (text.replace(/^```[a-z]*\s*/i, "").startsWith("{")) {
      throw new CodecError("The reply is JSON in another form than asked for, or not valid JSON.", null);
    }
    return answerOf(text);
  },

  repairPrompt({ message }) {
    return `${message} Answer again, with one JSON object only: {"type":"tool_calls","calls":[{"name":…,"input":{…}}]} to call tools, or {"type":"final","text":…} to answer.`;
  },
};

function catalog(tools: readonly ToolSpec[]): string {
  const listed = tools.map(({ name, description, schema }) => {
    return JSON.stringify({ name, description, input: schema });
  });
  return [PROTOCOL, ...listed].join("\n");
}

function isProtocol(value: JsonObject): boolean {
  const { type } = value;
  return type === "tool_calls" || type === "final" || "calls" in value || "tool_calls" in value;
}

async function decodeObject(raw: string, value: JsonObject, before: string): Promise<DecodedReply> {
  const calls = value["calls"] ?? value["tool_calls"];
  if (calls === undefined && value["type"] === "final") {
    if (typeof value["text"] !== "string") throw new CodecError("A final answer has a `text`.", null);
    return answerOf(value["text"]);
  }
  if (!Array.isArray(calls) || calls.length === 0) {
    throw new CodecError("`calls` is a list of at least one call.", "");
  }
  const parsed = calls.map((call: unknown) => parseCall(call));
  const text = stringOr(value["text"]) || before;
  return { text, calls: await Promise.all(parsed.map((call, position) => namedCall(raw, position, call))) };
}

/** Models that have learned another format use its names for the fields. */
function parseCall(value: unknown): { id?: string; name: string; args: JsonObject } {
  const outer = isObject(value) ? value : {};
  const call = isObject(outer["function"]) ? { ...outer, ...outer["function"] } : outer;
  const name = stringOr(call["name"]) || stringOr(call["tool"]);
  if (name === "") throw new CodecError("Each call has a `name`.", "");
  const input = call["input"] ?? call["arguments"] ?? call["args"] ?? {};
  const args = typeof input === "string" ? parseArguments(input) : input;
  if (!isObject(args)) throw new CodecError("The `input` of each call is a JSON object.", name);
  const id = stringOr(call["id"]);
  return { name, args, ...(id === "" ? {} : { id: id.slice(0, 64) }) };
}

function answerOf(text: string): DecodedReply {
  if (text.trim() === "") throw new CodecError("The answer is empty.", null);
  return { text, calls: [] };
}

function toolIn(text: string): string {
  return /"(?:name|tool)"\s*:\s*"([\w.-]{1,64})"/.exec(text)?.[1] ?? "";
}
