import type { ContentPart } from "./content.ts";
import { textContent } from "./content.ts";
import { inForce } from "./conversation.ts";
import type { DurableEvent, ToolCall } from "./durable-events.ts";
import { escapeMarkup } from "./markup.ts";
import { memoriesText } from "./recalled-memory.ts";

/** What a model provider is given. Providers translate it to their own wire and nothing else. */
export type ModelMessage =
  | { role: "user"; content: readonly ContentPart[] }
  | { role: "assistant"; blocks: readonly ReplyBlock[]; calls: readonly ModelCall[] }
  | { role: "tool"; callId: string; name: string; content: string; isError: boolean };

/** A thought or a text of an assistant message, in the order in which the model gave them. */
export interface ReplyBlock {
  kind: "thought" | "text";
  text: string;
  providerData?: Readonly<Record<string, unknown>>;
}

/** A call as it goes back to the model: its arguments are always a JSON object. */
export interface ModelCall {
  id: string;
  name: string;
  args: Readonly<Record<string, unknown>>;
}

type ResultText = (result: DurableEvent<"tool_result">) => string;

const NO_RESULT = "No result: the call was not executed, or its result was lost.";

/**
 * The model's input that a log stands for. For every log, at any cut: each call has exactly one result, directly
 * after its assistant message, in call order, with a JSON object as arguments. Left out are results without a call,
 * a call whose id came before, assistant messages without text and calls (thoughts alone are no answer), and events
 * of other agents (`agentId`).
 * @param textOfResult what the model reads of a result
 */
export function toModelMessages(
  log: Iterable<DurableEvent>,
  textOfResult: ResultText = ({ content }) => content,
): ModelMessage[] {
  const { summary, events } = inForce(log);
  const messages: ModelMessage[] = [];
  if (summary) messages.push({ role: "user", content: textContent(summaryText(summary.text)) });
  const results = firstResults(events);
  const seen = new Set<string>();
  let reply: Reply | null = null;
  for (const event of events) {
    if (reply && !sameReply(reply, event)) {
      messages.push(...closeReply(reply, { results, seen, textOfResult }));
      reply = null;
    }
    switch (event.type) {
      case "input":
        messages.push({ role: "user", content: inputContent(event) });
        break;
      case "steer":
        messages.push({ role: "user", content: event.content });
        break;
      case "background_completed":
        messages.push({ role: "user", content: textContent(backgroundText(event)) });
        break;
      case "thought":
      case "output":
        reply = addBlock(reply ?? newReply(event), event);
        break;
      case "tool_calls":
        reply = { ...(reply ?? newReply(event)), calls: event.calls };
        break;
      default:
        break;
    }
  }
  if (reply) messages.push(...closeReply(reply, { results, seen, textOfResult }));
  return messages;
}

interface Reply {
  turn: number;
  step: number;
  blocks: ReplyBlock[];
  calls: readonly ToolCall[];
}

function newReply(event: DurableEvent): Reply {
  return { turn: event.turn, step: event.step, blocks: [], calls: [] };
}

function sameReply(reply: Reply, event: DurableEvent): boolean {
  const continues = event.type === "thought" || event.type === "output" || event.type === "tool_calls";
  return continues && reply.calls.length === 0 && event.turn === reply.turn && event.step === reply.step;
}

function addBlock(reply: Reply, event: DurableEvent<"thought"> | DurableEvent<"output">): Reply {
  const block: ReplyBlock = { kind: event.type === "thought" ? "thought" : "text", text: event.text };
  if (event.providerData) block.providerData = event.providerData;
  return { ...reply, blocks: [...reply.blocks, block] };
}

function firstResults(events: readonly DurableEvent[]): Map<string, DurableEvent<"tool_result">> {
  const results = new Map<string, DurableEvent<"tool_result">>();
  for (const event of events) {
    if (event.type === "tool_result" && !results.has(event.callId)) results.set(event.callId, event);
  }
  return results;
}

function closeReply(
  reply: Reply,
  {
    results,
    seen,
    textOfResult,
  }: {
    readonly results: ReadonlyMap<string, DurableEvent<"tool_result">>;
    readonly seen: Set<string>;
    readonly textOfResult: ResultText;
  },
): ModelMessage[] {
  const calls = reply.calls.filter((call) => !seen.has(call.id) && seen.add(call.id));
  const blocks = reply.blocks.filter((block) => block.text !== "" || block.providerData !== undefined);
  const hasText = blocks.some((block) => block.kind === "text" && block.text !== "");
  if (!hasText && calls.length === 0) return [];
  const assistant: ModelMessage = {
    role: "assistant",
    blocks,
    calls: calls.map((call) => ({ id: call.id, name: call.name, args: argsForModel(call) })),
  };
  const tools = calls.map((call): ModelMessage => {
    const result = results.get(call.id);
    const content = result ? textOfResult(result) : NO_RESULT;
    return {
      role: "tool",
      callId: call.id,
      name: call.name,
      content,
      isError: result ? result.isError : true,
    };
  });
  return [assistant, ...tools];
}

/**
 * The arguments as the model gave them, its intent included; those of a malformed call, and stored ones that are no
 * object, go back as an empty object.
 */
function argsForModel(call: ToolCall): Record<string, unknown> {
  const { args }: { args: unknown } = call;
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  if (call.malformed !== undefined || !isObject) return {};
  return call.intent === undefined ? call.args : { _intent: call.intent, ...call.args };
}

function inputContent({ memories, content }: DurableEvent<"input">): readonly ContentPart[] {
  return memories?.length ? [...textContent(memoriesText(memories)), ...content] : content;
}

function summaryText(text: string): string {
  return `<summary_of_earlier_conversation>\n${text}\n</summary_of_earlier_conversation>`;
}

function backgroundText(event: DurableEvent<"background_completed">): string {
  const attributes = `id="${escapeMarkup(event.taskId)}" label="${escapeMarkup(event.label)}" status="${event.status}"`;
  return `<background_task_completed ${attributes}>\n${escapeMarkup(event.content)}\n</background_task_completed>`;
}
