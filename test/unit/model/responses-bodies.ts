/** Server-sent events of the Responses API, one for each payload. */
export function responsesBody(
  ...events: readonly ({ readonly type: string } & Record<string, unknown>)[]
): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** A reasoning item with the fields, the order and the odd characters of a real one. */
export const REASONING = {
  id: "rs_68af",
  type: "reasoning",
  encrypted_content: 'gAAAAABo+/==\u2028"ž🐎',
  summary: [{ type: "summary_text", text: "**Looking**" }],
  status: "completed",
};

export const CALL = {
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_abc",
  name: "read",
  arguments: '{"path":"ž"}',
};

export const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "Hi 🐎", annotations: [] }],
};

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 130,
};

export const completed = (output: readonly unknown[] = []) => {
  const response = { status: "completed", error: null, incomplete_details: null, output, usage: USAGE };
  return { type: "response.completed", response };
};

/** A reply that thinks, calls a tool, thinks again and calls another. */
export const TOOL_USE = responsesBody(
  { type: "response.created", response: { status: "in_progress", error: null } },
  { type: "response.output_item.added", output_index: 0, item: { ...REASONING, summary: [] } },
  { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "**Look" },
  { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "ing**" },
  { type: "response.output_item.done", output_index: 0, item: REASONING },
  { type: "response.output_item.added", output_index: 1, item: { ...CALL, arguments: "" } },
  { type: "response.function_call_arguments.delta", output_index: 1, delta: '{"path":' },
  { type: "response.function_call_arguments.delta", output_index: 1, delta: '"ž"}' },
  { type: "response.function_call_arguments.done", output_index: 1, arguments: CALL.arguments },
  { type: "response.output_item.done", output_index: 1, item: CALL },
  {
    type: "response.output_item.added",
    output_index: 2,
    item: { ...REASONING, id: "rs_2", summary: [] },
  },
  {
    type: "response.output_item.done",
    output_index: 2,
    item: { ...REASONING, id: "rs_2", summary: [] },
  },
  {
    type: "response.output_item.added",
    output_index: 3,
    item: { ...CALL, call_id: "call_def", arguments: "" },
  },
  { type: "response.output_item.done", output_index: 3, item: { ...CALL, call_id: "call_def" } },
  completed([REASONING, CALL, { ...REASONING, id: "rs_2", summary: [] }, { ...CALL, call_id: "call_def" }]),
);

export const ANSWER = responsesBody(
  { type: "response.output_item.added", output_index: 0, item: { ...MESSAGE, content: [] } },
  { type: "response.output_text.delta", output_index: 0, delta: "Hi " },
  { type: "response.output_text.delta", output_index: 0, delta: "🐎" },
  { type: "response.output_item.done", output_index: 0, item: MESSAGE },
  completed([MESSAGE]),
);
