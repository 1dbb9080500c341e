import type { ScriptedReply } from "./outside-world.ts";

/** What a scripted model answers, in the terms of a test. */
export interface Reply {
  /** Each string is one chunk of the stream. */
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[];
  readonly delayMs?: number;
  readonly ending?: "close" | "hang" | "break";
}

/** The reply as server-sent events of the Chat Completions API, one chunk per delta. */
export function chatReply({ text = [], calls = [], delayMs, ending = "close" }: Reply): ScriptedReply {
  const deltas: unknown[] = text.map((content) => ({ content }));
  for (const [index, { name, args }] of calls.entries()) {
    const called = { name, arguments: JSON.stringify(args) };
    deltas.push({ tool_calls: [{ index, id: `c${index}`, type: "function", function: called }] });
  }
  const chunks = deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }]));
  if (ending === "close") {
    const finished = { index: 0, delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop" };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    chunks.push(chunk([finished]), chunk([], { usage }), "data: [DONE]\n\n");
  }
  return { chunks, ending, ...(delayMs === undefined ? {} : { delayMs }) };
}

function chunk(choices: readonly unknown[], extra: object = {}): string {
  return `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices, ...extra })}\n\n`;
}
