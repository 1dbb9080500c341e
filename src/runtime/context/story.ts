import { textOf } from "../protocol/content.ts";
import type { DurableEvent } from "../protocol/durable-events.ts";
import { shortened, shortenedToTokens } from "./shortened.ts";

/** Shares of the window: of what was told before, and of what has happened since. */
const BEFORE_SHARE = 0.2;
const SINCE_SHARE = 0.4;

/** A result or an argument is told of in so many characters. */
const RESULT_CHARS = 2_000;
const ARGUMENT_CHARS = 500;

/** What a model is told of the part that it is to summarise: its beginning and its end where all would be too much. */
export function story(
  before: string,
  old: readonly DurableEvent[],
  windowTokens: number,
  instructions: string | undefined,
): string {
  const told = shortenedToTokens(before, windowTokens * BEFORE_SHARE);
  const since = shortenedToTokens(old.flatMap(lineOf).join("\n\n"), windowTokens * SINCE_SHARE);
  return [
    told === "" ? "" : `<summary_so_far>\n${told}\n</summary_so_far>`,
    `<conversation>\n${since}\n</conversation>`,
    instructions === undefined ? "" : `Heed this in the summary: ${instructions}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function lineOf(event: DurableEvent): string[] {
  switch (event.type) {
    case "input":
    case "steer":
      return [`User: ${textOf(event.content)}`];
    case "output":
      return [`Agent: ${event.text}`];
    case "tool_calls":
      return event.calls.map(
        ({ name, args }) => `Agent calls ${name} ${shortened(JSON.stringify(args), ARGUMENT_CHARS)}`,
      );
    case "tool_result":
      return [
        `${event.isError ? "Error" : "Result"} of ${event.name}: ${shortened(event.content, RESULT_CHARS)}`,
      ];
    case "background_completed":
      return [
        `In the background, ${event.label} (${event.status}): ${shortened(event.content, RESULT_CHARS)}`,
      ];
    default:
      return [];
  }
}

/** What can be said without a model: which tools were called how often, and how the agent's last words began. */
export function chronicle(before: string, old: readonly DurableEvent[]): string {
  const calls = new Map<string, number>();
  let words = "";
  for (const event of old) {
    if (event.type === "tool_result") calls.set(event.name, (calls.get(event.name) ?? 0) + 1);
    if (event.type === "output") words = event.text;
  }
  const done = [...calls].map(([name, count]) => `${name} ${count}×`).join(", ");
  return [
    before,
    "An earlier part of the conversation was left out since it did not fit, and no summary of it could be made.",
    done === "" ? "" : `In it these tools were called: ${done}.`,
    words === "" ? "" : `The agent's last words in it: ${shortened(words, RESULT_CHARS)}`,
  ]
    .filter((part) => part !== "")
    .join("\n");
}
