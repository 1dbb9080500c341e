import type { Usage } from "../protocol/usage.ts";
import { isObject, stringOr } from "./json-value.ts";
import type { JsonObject } from "./json-value.ts";
import { tokenCount as tokens } from "./token-count.ts";

/** One entry of a chunk's `tool_calls`; what is missing or has a wrong type is null or empty. */
export interface ToolCallDelta {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  /** A fragment to append, or an object that stands for the whole. */
  readonly args: string | JsonObject;
}

/** What one chunk of a Chat Completions stream says. */
export interface ChatChunk {
  readonly text: string;
  readonly thought: string;
  readonly toolCalls: readonly ToolCallDelta[];
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  /** An error that the provider put into the stream; undefined without one. */
  readonly error: unknown;
}

/**
 * Vendors name the model's reasoning in one of these ways. Some send the same text under two names, so only the
 * first that is not empty counts.
 */
const THOUGHT_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

/**
 * Reads a chunk of unknown form. Compatible servers leave out, null or rename nearly everything: `choices` may be
 * missing or null, `delta` null or called `message`, `usage` inside the choice.
 */
export function readChunk(value: unknown): ChatChunk {
  const chunk = isObject(value) ? value : {};
  const choice = firstChoice(chunk["choices"]);
  const delta = deltaOf(choice);
  const thoughts = THOUGHT_FIELDS.map((field) => stringOr(delta[field]));
  return {
    text: textOf(delta["content"]) || stringOr(delta["refusal"]),
    thought: thoughts.find((thought) => thought !== "") ?? "",
    toolCalls: Array.isArray(delta["tool_calls"]) ? delta["tool_calls"].filter(isObject).map(readCall) : [],
    finishReason: stringOr(choice["finish_reason"]) || null,
    usage: readUsage(chunk["usage"]) ?? readUsage(choice["usage"]),
    error: errorOf(chunk),
  };
}

/** One reply is asked for, so that other choices are none of ours; servers that know only one leave the index out. */
function firstChoice(choices: unknown): JsonObject {
  if (!Array.isArray(choices)) return {};
  return choices.filter(isObject).find((choice) => (choice["index"] ?? 0) === 0) ?? {};
}

function deltaOf(choice: JsonObject): JsonObject {
  const delta = choice["delta"] ?? choice["message"];
  return isObject(delta) ? delta : {};
}

/** Text comes as a string or as a list of parts. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return stringOr(content);
  const texts = content.filter(isObject).filter((part) => part["type"] === "text");
  return texts.map((part) => stringOr(part["text"])).join("");
}

/** Arguments come as text to be appended; some servers send the object itself. */
function readCall(call: JsonObject): ToolCallDelta {
  const index = call["index"];
  const called = isObject(call["function"]) ? call["function"] : {};
  const args = called["arguments"];
  return {
    index: typeof index === "number" && Number.isInteger(index) ? index : null,
    id: stringOr(call["id"]),
    name: stringOr(called["name"]),
    args: isObject(args) ? args : stringOr(args),
  };
}

function errorOf(chunk: JsonObject): unknown {
  if (chunk["error"]) return chunk["error"];
  // vLLM's form: the chunk itself is the error.
  return chunk["object"] === "error" ? chunk : undefined;
}

/** Usage counts only when the provider gave a number: a null or empty object says nothing. */
function readUsage(value: unknown): Usage | null {
  if (!isObject(value) || !Number.isFinite(value["prompt_tokens"])) return null;
  const input = tokens(value["prompt_tokens"]);
  const cached = tokens(detail(value, "prompt_tokens_details", "cached_tokens"));
  const reasoning = tokens(detail(value, "completion_tokens_details", "reasoning_tokens"));
  const completion = tokens(value["completion_tokens"]);
  // xAI leaves reasoning out of completion_tokens; its total shows it.
  const apart = tokens(value["total_tokens"]) === input + completion + reasoning;
  const output = apart ? completion + reasoning : completion;
  return {
    input,
    output,
    cachedInput: Math.min(cached, input),
    reasoning: Math.min(reasoning, output),
  };
}

function detail(usage: JsonObject, group: string, field: string): unknown {
  const details = usage[group];
  return isObject(details) ? details[field] : undefined;
}
