import type { UIMessageChunk } from "ai";
import { textOf } from "../../runtime/protocol/content.ts";
import type { DurableEvent, ToolCall } from "../../runtime/protocol/durable-events.ts";
import type { TurnChange } from "../turn-changes.ts";
import { replyIdOf } from "./reply-id.ts";

/**
 * A change of a turn in the AI SDK's UI message stream protocol. A turn is one assistant message; a resumed one goes
 * on where the client's message of the same id stands.
 */
export function toUiMessageChunks(change: TurnChange): readonly UIMessageChunk[] {
  switch (change.type) {
    case "begin":
    case "resume":
      return [{ type: "start", messageId: replyIdOf(change) }];
    case "step":
      return [{ type: "start-step" }];
    case "step_end":
      return [{ type: "finish-step" }];
    case "text_begin":
      return [{ type: change.kind === "text" ? "text-start" : "reasoning-start", id: change.id }];
    case "text_more": {
      const { kind, id, text: delta } = change;
      return [{ type: kind === "text" ? "text-delta" : "reasoning-delta", id, delta }];
    }
    case "text_end":
      return [{ type: change.kind === "text" ? "text-end" : "reasoning-end", id: change.id }];
    case "withdraw":
      return [{ type: "reset-step" }];
    case "event":
      return eventChunks(change.event);
    case "replaced":
      return [inputChunk(change.call)];
    case "result":
      return [resultChunk(change)];
    case "wait":
      return [{ type: "finish", finishReason: "tool-calls" }];
    case "dropped":
      return [
        { type: "abort", reason: "withdrawn" },
        { type: "finish", finishReason: "interrupted" },
      ];
    case "stop":
      return stopChunks(change);
  }
}

function eventChunks(event: Extract<TurnChange, { type: "event" }>["event"]): UIMessageChunk[] {
  switch (event.type) {
    case "steer":
      return [
        {
          type: "steering-message",
          id: event.promptId,
          parts: [{ type: "text", text: textOf(event.content) }],
        },
      ];
    case "tool_calls":
      return event.calls.map(inputChunk);
    case "approval_request": {
      const { approvalId, callId: toolCallId, reason } = event;
      return [
        { type: "tool-approval-request", approvalId, toolCallId, ...(reason !== undefined && { reason }) },
      ];
    }
    case "approval_resolved":
      return [{ type: "tool-approval-response", ...responseOf(event) }];
    case "input_request":
    case "input_resolved":
      // The call itself asks, with the question as its input and the answer as its output.
      return [];
  }
}

function inputChunk({ id: toolCallId, name: toolName, args, malformed }: ToolCall): UIMessageChunk {
  return { type: "tool-input-available", toolCallId, toolName, input: malformed ?? args };
}

function responseOf({ approvalId, decision, reason }: DurableEvent<"approval_resolved">) {
  return { approvalId, approved: decision === "allow", ...(reason !== undefined && { reason }) };
}

function resultChunk({ event, refused }: Extract<TurnChange, { type: "result" }>): UIMessageChunk {
  const { callId: toolCallId, content, isError } = event;
  if (refused) return { type: "tool-output-denied", toolCallId };
  if (isError) return { type: "tool-output-error", toolCallId, errorText: content };
  return { type: "tool-output-available", toolCallId, output: content };
}

function stopChunks({ event, failure, cut }: Extract<TurnChange, { type: "stop" }>): UIMessageChunk[] {
  switch (event.reason) {
    case "stop":
      return [{ type: "finish", finishReason: cut ? "length" : "stop" }];
    case "aborted":
      return [
        { type: "abort", ...(event.message !== undefined && { reason: event.message }) },
        { type: "finish", finishReason: "interrupted" },
      ];
    case "error":
      return [
        { type: "error", errorText: failure ? `${failure.code}: ${failure.message}` : "The turn failed." },
        { type: "finish", finishReason: "error" },
      ];
    case "max_steps":
    case "budget":
      return [{ type: "finish", finishReason: "other", messageMetadata: { stopReason: event.reason } }];
  }
}
