import { textOf } from "../protocol/content.ts";
import type { DurableEvent } from "../protocol/durable-events.ts";
import { memoriesText } from "../protocol/recalled-memory.ts";
import { estimateTokens } from "../protocol/token-estimate.ts";

/** About the tokens of these in a model's input. */
export function sizeOf(events: readonly DurableEvent[]): number {
  return events.reduce((sum, event) => sum + estimateTokens(wordsOf(event)), 0);
}

function wordsOf(event: DurableEvent): string {
  switch (event.type) {
    case "input":
      return (event.memories ? memoriesText(event.memories) : "") + textOf(event.content);
    case "steer":
      return textOf(event.content);
    case "thought":
    case "output":
      return event.text;
    case "tool_calls":
      return JSON.stringify(event.calls);
    case "tool_result":
    case "background_completed":
      return event.content;
    default:
      return "";
  }
}
