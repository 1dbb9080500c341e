import type { ToolSpec } from "../../protocol/tool-spec.ts";
import { isObject } from "../json-value.ts";
import { jsonInText, withoutThinking } from "../text-json.ts";
import { namedCall } from "./call-id.ts";
import { encodeAsText } from "./encoded-history.ts";
import type { HistoryWriter } from "./encoded-history.ts";
import { CodecError } from "./tool-call-codec.ts";
import type { DecodedReply, ToolCallCodec } from "./tool-call-codec.ts";

const PROTOCOL = `# How to use tools
To call a tool, write exactly:
Thought: <why>
Action: <tool>
Action Input: <arguments as one JSON object>
Then stop: the result comes back as an Observation. One call at a time; never write an Observation yourself.
When you need no more tools, write:
Final Answer: <your answer>

# Tools`;

const FINAL = /^[ \t]*\**Final Answer\**[ \t]*:\**[ \t]*/gim;
const ACTION = /^[ \t]*\**Action\**[ \t]*:\**[ \t]*(.*)$/im;
const INPUT = /^[ \t]*\**Action Input\**[ \t]*:\**/im;
const OBSERVATION = /^[ \t]*\**Observation\**[ \t]*:/im;

const HISTORY: HistoryWriter = {
  reply(text, calls) {
    if (calls.length === 0) return `Final Answer: ${text}`;
    const actions = calls.map(({ name, args }) => `Action: ${name}\nAction Input: ${JSON.stringify(args)}`);
    return [...(text === "" ? [] : [`Thought: ${text}`]), ...actions].join("\n");
  },
  results(results) {
    return results
      .map(({ name, content, isError }) => `Observation of ${name}${isError ? " (error)" : ""}: ${content}`)
      .join("\n");
  },
};

/**
 * Thought, action and observation as lines, one call at a time, for models that know no JSON protocol either. The last
 * final answer wins over everything else in the reply; a text without either is an answer.
 */
export const reactCodec: ToolCallCodec = {
  encode: (request) => encodeAsText(request, HISTORY, catalog),

  async decode(raw) {
    const text = withoutThinking(raw);
    const final = [...text.matchAll(FINAL)].at(-1);
    if (final) return answerOf(text.slice(final.index + final[0].length));
    const action = ACTION.exec(text);
    const input = INPUT.exec(text);
    if (!action) {
      if (input) throw new CodecError("An Action Input needs an Action before it.", "");
      return answerOf(withoutThought(text));
    }
    return decodeAction(raw, text, action);
  },

  repairPrompt({ message }) {
    return `${message} Answer again, with an Action line and an Action Input line that holds one JSON object, or with a Final Answer line.`;
  },
};

function catalog(tools: readonly ToolSpec[]): string {
  const listed = tools.map(({ name, description, schema }) => {
    return `${name}: ${description}\nArguments (JSON Schema): ${JSON.stringify(schema)}`;
  });
  return [PROTOCOL, ...listed].join("\n");
}

async function decodeAction(raw: string, text: string, action: RegExpExecArray): Promise<DecodedReply> {
  const name = (action[1] ?? "").trim().replace(/^[`"'*]+|[`"'*]+$/g, "");
  if (name === "") throw new CodecError("The Action names no tool.", "");
  const rest = text.slice(action.index + action[0].length);
  const input = INPUT.exec(rest);
  if (!input) throw new CodecError("The Action has no Action Input.", name);
  const given = rest.slice(input.index + input[0].length);
  // What comes after it the model has made up.
  const own = given.slice(0, OBSERVATION.exec(given)?.index ?? given.length);
  const first = jsonInText(own)[0];
  if (!isObject(first?.value) || first.before !== "") {
    throw new CodecError("The Action Input is not a JSON object.", name);
  }
  const call = await namedCall(raw, 0, { name, args: first.value });
  return { text: withoutThought(text.slice(0, action.index)), calls: [call] };
}

function withoutThought(text: string): string {
  return text.replace(/^\s*\**Thought\**\s*:\**\s*/i, "").trim();
}

function answerOf(text: string): DecodedReply {
  if (text.trim() === "") throw new CodecError("The answer is empty.", null);
  return { text: text.trim(), calls: [] };
}
