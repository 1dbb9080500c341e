import type { UIMessageChunk } from "ai";
import type { ContentPart } from "../../runtime/protocol/content.ts";
import { inForce } from "../../runtime/protocol/conversation.ts";
import type { DurableEvent } from "../../runtime/protocol/durable-events.ts";
import { followTurn, startFollowing } from "../turn-changes.ts";
import { replyIdOf } from "./reply-id.ts";
import type { UiMessage } from "./ui-message-schema.ts";
import { toUiMessageChunks } from "./ui-message-chunks.ts";

type Part = UiMessage["parts"][number];

/**
 * The conversation as UI messages: of each turn the user's message and the reply, whose id and parts are those that
 * its stream gives a client. Summaries are for the model: what they stand for is shown as it was.
 */
export function toUiMessages(log: readonly DurableEvent[]): UiMessage[] {
  const { events } = inForce(log.filter(({ type }) => type !== "agent_summary"));
  const turns = Map.groupBy(events, ({ turn }) => turn);
  return [...turns.values()].flatMap((turn) => messagesOf(turn));
}

function messagesOf(events: readonly DurableEvent[]): UiMessage[] {
  const [input] = events;
  if (input?.type !== "input") return [];
  const user: UiMessage = { id: input.promptId, role: "user", parts: input.content.map(contentPart) };
  const { turn, seq } = input;
  let progress = startFollowing({ after: seq - 1, of: { turn } });
  let parts: Part[] = [];
  let metadata: unknown;
  const head: DurableEvent | undefined = events.at(-1);
  const frames = [...events, { type: "live" as const, head: head?.seq ?? seq, partial: [] }];
  for (const frame of frames) {
    const followed = followTurn(progress, frame);
    progress = followed.progress;
    for (const change of followed.changes) {
      for (const chunk of toUiMessageChunks(change)) {
        parts = applyChunk(parts, chunk);
        if (chunk.type === "finish") metadata = chunk.messageMetadata;
      }
    }
  }
  const reply: UiMessage = {
    id: replyIdOf({ turn, firstSeq: seq }),
    role: "assistant",
    ...(metadata !== undefined && { metadata }),
    parts,
  };
  return parts.length > 0 || metadata !== undefined ? [user, reply] : [user];
}

function contentPart(part: ContentPart): Part {
  if (part.type === "text") return { type: "text", text: part.text };
  return { type: "file", mediaType: part.mediaType, url: part.url ?? part.path ?? part.artifact ?? "" };
}

/** A chunk on top of the parts so far, as the AI SDK's client applies it. */
function applyChunk(parts: Part[], chunk: UIMessageChunk): Part[] {
  switch (chunk.type) {
    case "start-step":
      return [...parts, { type: "step-start" }];
    case "steering-message":
      return [...parts, { ...chunk }];
    case "text-delta":
      return [...parts, { type: "text", text: chunk.delta, state: "done" }];
    case "reasoning-delta":
      return [...parts, { type: "reasoning", id: chunk.id, text: chunk.delta, state: "done" }];
    case "tool-input-available": {
      const { toolCallId, toolName, input } = chunk;
      const change = { state: "input-available", input };
      if (parts.some((part) => part["toolCallId"] === toolCallId)) return changed(parts, toolCallId, change);
      return [...parts, { type: `tool-${toolName}`, toolCallId, ...change }];
    }
    case "tool-approval-request": {
      const { approvalId: id, toolCallId, reason } = chunk;
      const approval = { id, ...(reason !== undefined && { requestReason: reason }) };
      return changed(parts, toolCallId, { state: "approval-requested", approval });
    }
    case "tool-approval-response": {
      const { approvalId: id, approved, reason } = chunk;
      const isAsked = (part: Part): boolean => (part["approval"] as { id?: string } | undefined)?.id === id;
      return parts.map((part) => {
        if (!isAsked(part)) return part;
        const asked = part["approval"] as object;
        const approval = { ...asked, id, approved, ...(reason !== undefined && { reason }) };
        return { ...part, state: "approval-responded", approval };
      });
    }
    case "tool-output-available":
      return changed(parts, chunk.toolCallId, { state: "output-available", output: chunk.output });
    case "tool-output-error":
      return changed(parts, chunk.toolCallId, { state: "output-error", errorText: chunk.errorText });
    case "tool-output-denied":
      return changed(parts, chunk.toolCallId, { state: "output-denied" });
    default:
      return parts;
  }
}

function changed(
  parts: readonly Part[],
  toolCallId: string,
  change: Readonly<Record<string, unknown>>,
): Part[] {
  return parts.map((part) => (part["toolCallId"] === toolCallId ? { ...part, ...change } : part));
}
