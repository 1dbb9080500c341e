import type { AssistantMessage } from "@ag-ui/core";
import type { RunEvent, RunMessage } from "./wire.ts";

/** The messages after an event, as an AG-UI client keeps them. */
export function applyRunEvent(messages: readonly RunMessage[], event: RunEvent): readonly RunMessage[] {
  switch (event.type) {
    case "TEXT_MESSAGE_START": {
      const { messageId: id, role } = event;
      return [...messages, { id, role: role === "user" ? "user" : "assistant", content: "" }];
    }
    case "REASONING_MESSAGE_START":
      if (messages.some(({ id }) => id === event.messageId)) return messages;
      return [...messages, { id: event.messageId, role: "reasoning", content: "" }];
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT": {
      // What grows is near the end, and a conversation may be long.
      const at = messages.findLastIndex(({ id }) => id === event.messageId);
      const message = messages[at];
      if (typeof message?.content !== "string") return messages;
      return messages.with(at, { ...message, content: message.content + event.delta } as RunMessage);
    }
    case "TOOL_CALL_START":
      return withCall(messages, event);
    case "TOOL_CALL_ARGS":
      return messages.map((message) => withArguments(message, event.toolCallId, event.delta));
    case "TOOL_CALL_RESULT": {
      const { messageId: id, toolCallId, content } = event;
      const owner = messages.findIndex((message) => hasCall(message, toolCallId));
      const after = messages.findIndex(({ role }, index) => index > owner && role !== "tool");
      return messages.toSpliced(owner === -1 || after === -1 ? messages.length : after, 0, {
        id,
        role: "tool",
        toolCallId,
        content,
      });
    }
    case "MESSAGES_SNAPSHOT":
      return event.messages;
    default:
      return messages;
  }
}

function hasCall(message: RunMessage, callId: string): boolean {
  return message.role === "assistant" && message.toolCalls?.some(({ id }) => id === callId) === true;
}

function withCall(
  messages: readonly RunMessage[],
  { toolCallId, toolCallName, parentMessageId = toolCallId }: Extract<RunEvent, { type: "TOOL_CALL_START" }>,
): readonly RunMessage[] {
  const call = { id: toolCallId, type: "function" as const, function: { name: toolCallName, arguments: "" } };
  const parent = messages.find((message) => message.id === parentMessageId);
  if (parent?.role !== "assistant") {
    const message: AssistantMessage = { id: parentMessageId, role: "assistant", toolCalls: [call] };
    return [...messages, message];
  }
  return messages.map((message) =>
    message === parent ? { ...parent, toolCalls: [...(parent.toolCalls ?? []), call] } : message,
  );
}

function withArguments(message: RunMessage, callId: string, delta: string): RunMessage {
  if (message.role !== "assistant" || !hasCall(message, callId)) return message;
  const toolCalls = message.toolCalls?.map((call) =>
    call.id === callId
      ? { ...call, function: { ...call.function, arguments: call.function.arguments + delta } }
      : call,
  );
  return { ...message, ...(toolCalls && { toolCalls }) };
}
