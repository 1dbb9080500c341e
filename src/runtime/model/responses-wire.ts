import type OpenAI from "openai";
import type { ContentPart } from "../protocol/content.ts";
import type { ModelCall, ModelMessage, ReplyBlock } from "../protocol/model-messages.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";
import { isObject } from "./json-value.ts";
import type { JsonObject } from "./json-value.ts";
import type { ModelRequest, OutputFormat } from "./model-provider.ts";
import { ERROR_MARK, imageText, imageUrl, wellFormed, wireName } from "./openai-wire.ts";
import type { WireOptions } from "./openai-wire.ts";

type InputItem = OpenAI.Responses.ResponseInputItem;

/** What a reasoning item leaves in the log, so that it goes back exactly as it came. */
export interface KeptItem {
  /** The model that made it: what is encrypted in it is of no use to another one. */
  readonly model: string;
  /** Calls of the reply that came before it: the server wants each item before what follows from it. */
  readonly calls: number;
  readonly item: JsonObject;
}

/** The key in a block's `providerData`. */
const KEPT = "openai_responses";

export function keepItem(kept: KeptItem): Readonly<Record<string, unknown>> {
  return { [KEPT]: kept };
}

function keptIn({ providerData }: ReplyBlock, model: string): KeptItem | null {
  const kept = providerData?.[KEPT];
  if (!isObject(kept) || kept["model"] !== model || !isObject(kept["item"])) return null;
  return { model, calls: typeof kept["calls"] === "number" ? kept["calls"] : 0, item: kept["item"] };
}

/** The conversation as input items. Nothing refers to what the server stores: it is asked to store nothing. */
export async function toInputItems(
  messages: readonly ModelMessage[],
  model: string,
  options: WireOptions,
): Promise<InputItem[]> {
  const items = await Promise.all(messages.map((message) => toItems(message, model, options)));
  return items.flat();
}

/** The tools in the form of Responses; not strict, which takes a part of JSON Schema only. */
export function toResponsesTools(tools: readonly ToolSpec[]): OpenAI.Responses.Tool[] {
  return tools.map(({ name, description, schema }) => {
    return { type: "function", name, description, parameters: { ...schema }, strict: false };
  });
}

/** What asks for JSON as the reply; nothing when none is asked for. */
export function toTextFormat(output: OutputFormat | undefined): {
  text?: OpenAI.Responses.ResponseTextConfig;
} {
  if (!output) return {};
  if (output.mode === "json_object") return { text: { format: { type: "json_object" } } };
  return { text: { format: { type: "json_schema", name: "answer", schema: { ...output.schema } } } };
}

/** The system prompt, which is no item here. */
export function toInstructions({ system }: ModelRequest): { instructions?: string } {
  return system === "" ? {} : { instructions: wellFormed(system) };
}

async function toItems(message: ModelMessage, model: string, options: WireOptions): Promise<InputItem[]> {
  switch (message.role) {
    case "user": {
      const content = await Promise.all(message.content.map((part) => toInputPart(part, options)));
      return [{ type: "message", role: "user", content }];
    }
    case "assistant":
      return toReplyItems(message.blocks, message.calls, model);
    case "tool": {
      const output = wellFormed(message.isError ? ERROR_MARK + message.content : message.content);
      return [{ type: "function_call_output", call_id: message.callId, output }];
    }
  }
}

async function toInputPart(
  part: ContentPart,
  options: WireOptions,
): Promise<OpenAI.Responses.ResponseInputContent> {
  if (part.type === "text") return { type: "input_text", text: wellFormed(part.text) };
  const url = await imageUrl(part, options);
  if (url === null) return { type: "input_text", text: imageText(part) };
  return { type: "input_image", image_url: url, detail: "auto" };
}

/** The reply's items in the order in which they came. Thoughts that are not kept as items have no form here. */
function toReplyItems(
  blocks: readonly ReplyBlock[],
  calls: readonly ModelCall[],
  model: string,
): InputItem[] {
  const items: InputItem[] = [];
  let sent = 0;
  const sendCalls = (until: number): void => {
    for (const call of calls.slice(sent, until)) items.push(toCallItem(call));
    sent = Math.max(sent, Math.min(until, calls.length));
  };
  for (const block of blocks) {
    const kept = keptIn(block, model);
    sendCalls(kept?.calls ?? 0);
    if (kept) items.push(kept.item as unknown as InputItem);
    else if (block.kind === "text" && block.text !== "") {
      items.push({ type: "message", role: "assistant", content: wellFormed(block.text) });
    }
  }
  sendCalls(calls.length);
  return items;
}

function toCallItem({ id, name, args }: ModelCall): InputItem {
  return { type: "function_call", call_id: id, name: wireName(name), arguments: JSON.stringify(args) };
}
