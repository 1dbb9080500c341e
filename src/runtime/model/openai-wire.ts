import type OpenAI from "openai";
import type { ContentPart } from "../protocol/content.ts";
import type { ModelCall, ModelMessage, ReplyBlock } from "../protocol/model-messages.ts";
import type { MaybePromise } from "../protocol/time.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";
import type { ModelRequest, OutputFormat } from "./model-provider.ts";

type WireMessage = OpenAI.ChatCompletionMessageParam;
type WirePart = OpenAI.ChatCompletionContentPart;
type ImagePart = Extract<ContentPart, { type: "image" }>;

/** Where servers that want the model's reasoning back expect it; the others reject it. */
export type ReasoningField = "reasoning_content" | "reasoning";

/** How a request is written for one server. */
export interface WireOptions {
  /**
   * Gives an image by workspace path or artifact a URL that the provider can read (https or data), or null. Without
   * it, such images are named in the text.
   */
  readonly resolveImage?: (image: ImagePart) => MaybePromise<string | null>;
  /** Sends the model's reasoning back in this field (DeepSeek's thinking models demand it after a tool call). */
  readonly reasoningField?: ReasoningField;
}

/** Stands before the content of a failed tool call: Chat Completions has no field for it. */
export const ERROR_MARK = "[error] ";

/** The request's conversation in the form of Chat Completions. */
export async function toWireMessages(request: ModelRequest, options: WireOptions): Promise<WireMessage[]> {
  const system: WireMessage[] =
    request.system === "" ? [] : [{ role: "system", content: wellFormed(request.system) }];
  const messages = await Promise.all(request.messages.map((message) => toWireMessage(message, options)));
  return [...system, ...messages.filter((message) => message !== null)];
}

/** The tools in the form of Chat Completions; undefined for none, since servers reject an empty list. */
export function toWireTools(tools: readonly ToolSpec[]): OpenAI.ChatCompletionTool[] | undefined {
  if (tools.length === 0) return undefined;
  return tools.map(({ name, description, schema }) => ({
    type: "function",
    function: { name, description, parameters: { ...schema } },
  }));
}

/** What asks for JSON as the reply; nothing when none is asked for. Not strict: that takes a part of JSON Schema only. */
export function toWireFormat(
  output: OutputFormat | undefined,
): Pick<OpenAI.ChatCompletionCreateParams, "response_format"> {
  if (!output) return {};
  if (output.mode === "json_object") return { response_format: { type: "json_object" } };
  const json_schema = { name: "answer", schema: { ...output.schema } };
  return { response_format: { type: "json_schema", json_schema } };
}

async function toWireMessage(message: ModelMessage, options: WireOptions): Promise<WireMessage | null> {
  switch (message.role) {
    case "user":
      return { role: "user", content: await toWireContent(message.content, options) };
    case "assistant":
      return toWireAssistant(message, options.reasoningField);
    case "tool": {
      const content = wellFormed(message.isError ? ERROR_MARK + message.content : message.content);
      return { role: "tool", tool_call_id: message.callId, content };
    }
  }
}

/** Text alone goes as a string: old servers know nothing else. */
async function toWireContent(
  content: readonly ContentPart[],
  options: WireOptions,
): Promise<string | WirePart[]> {
  const parts = await Promise.all(content.map((part) => toWirePart(part, options)));
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n") : parts;
}

/** An image that nobody can give a URL is named, so that the model knows of it. */
async function toWirePart(part: ContentPart, options: WireOptions): Promise<WirePart> {
  if (part.type === "text") return { type: "text", text: wellFormed(part.text) };
  const url = await imageUrl(part, options);
  return url === null ? { type: "text", text: imageText(part) } : { type: "image_url", image_url: { url } };
}

/** A URL by which the provider can read an image; null when there is none. */
export async function imageUrl(part: ImagePart, options: WireOptions): Promise<string | null> {
  return part.url ?? (await options.resolveImage?.(part)) ?? null;
}

/** What stands for an image without a URL. */
export function imageText({ mediaType, path, artifact }: ImagePart): string {
  return `[image ${mediaType}: ${path ?? artifact ?? ""}]`;
}

/** Null for a message with nothing that the wire can carry: servers reject an empty assistant message. */
function toWireAssistant(
  message: Extract<ModelMessage, { role: "assistant" }>,
  reasoningField: ReasoningField | undefined,
): WireMessage | null {
  const text = textOf(message.blocks, "text");
  const thought = reasoningField === undefined ? "" : textOf(message.blocks, "thought");
  if (text === "" && thought === "" && message.calls.length === 0) return null;
  const calls = message.calls.map(toWireCall);
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(reasoningField !== undefined && thought !== "" ? { [reasoningField]: thought } : {}),
  };
}

/** Arguments are written anew from what was parsed, so that a malformed call cannot spoil the history. */
function toWireCall(call: ModelCall): OpenAI.ChatCompletionMessageToolCall {
  const called = { name: wireName(call.name), arguments: JSON.stringify(call.args) };
  return { id: call.id, type: "function", function: called };
}

/** A model can make up any name; servers refuse for ever a history with one that is not of this form. */
export function wireName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

function textOf(blocks: readonly ReplyBlock[], kind: ReplyBlock["kind"]): string {
  const texts = blocks.filter((block) => block.kind === kind).map((block) => block.text);
  return wellFormed(texts.join(""));
}

/** Half a surrogate pair, as a cut leaves it, is no Unicode: many servers answer it with 400. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}
