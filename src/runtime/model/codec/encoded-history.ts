import { textContent } from "../../protocol/content.ts";
import type { ModelRequest } from "../model-provider.ts";
import type { ModelMessage } from "../../protocol/model-messages.ts";

type Assistant = Extract<ModelMessage, { role: "assistant" }>;
type Result = Extract<ModelMessage, { role: "tool" }>;

/** How a codec writes what has no words of its own. */
export interface HistoryWriter {
  /** A reply with its text and, mostly, calls. */
  reply(text: string, calls: Assistant["calls"]): string;
  /** The results of one reply's calls, in call order. */
  results(results: readonly Result[]): string;
}

/** A request without tools: its calls, results and the catalog of its tools stand in its texts. */
export function encodeAsText(
  request: ModelRequest,
  writer: HistoryWriter,
  catalog: (tools: ModelRequest["tools"]) => string,
): ModelRequest {
  const { tools } = request;
  const system = tools.length === 0 ? request.system : `${request.system}\n\n${catalog(tools)}`.trim();
  return { ...request, system, messages: encodeHistory(request.messages, writer), tools: [] };
}

/** The conversation with every call and result as text: results of one reply become one message of the user. */
function encodeHistory(messages: readonly ModelMessage[], writer: HistoryWriter): ModelMessage[] {
  const encoded: ModelMessage[] = [];
  let results: Result[] = [];
  const flush = (): void => {
    if (results.length > 0) encoded.push({ role: "user", content: textContent(writer.results(results)) });
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(message);
      continue;
    }
    flush();
    encoded.push(message.role === "assistant" ? encodeReply(message, writer) : message);
  }
  flush();
  return encoded;
}

/** An assistant's message that says this and nothing else. */
export function assistantText(text: string): ModelMessage {
  return { role: "assistant", blocks: [{ kind: "text", text }], calls: [] };
}

function encodeReply({ blocks, calls }: Assistant, writer: HistoryWriter): ModelMessage {
  const thoughts = blocks.filter(({ kind }) => kind === "thought");
  const texts = blocks.filter(({ kind }) => kind === "text").map(({ text }) => text);
  const text = writer.reply(texts.join(""), calls);
  return { role: "assistant", blocks: [...thoughts, { kind: "text", text }], calls: [] };
}
