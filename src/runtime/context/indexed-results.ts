import type { ConversationInForce } from "../protocol/conversation.ts";
import type { DurableEvent } from "../protocol/durable-events.ts";
import { estimateTokens } from "../protocol/token-estimate.ts";
import { sizeOf } from "./event-size.ts";

/** Shares of the window: when the conversation takes the first, old results go out until it takes the second. */
const FULL_SHARE = 0.5;
const LEFT_SHARE = 0.25;
/** Seeing a shorter result again would cost more than it saves, in UTF-16 units. */
const LONG_CHARS = 1_000;
const BEGINNING_CHARS = 160;

/** What a reply begins with, and consists of. */
const REPLY = new Set(["thought", "output", "tool_calls", "agent_trace"]);

/** The tool that shows them again. */
export const RECALL_TOOL = "recall_indexed";

export interface IndexedResults {
  /** Of the calls whose results the model reads as notes of where they are. */
  readonly callIds: ReadonlySet<string>;
  /** About the tokens that have gone out since the model was last asked. */
  readonly freed: number;
}

/**
 * Which results have gone out of a conversation to make room, before anything has to be summarised: the oldest first, of
 * those that the model has read. They go many at once and seldom, when the model is about to be asked, so that between two
 * such times its input only grows at its end and providers' prompt caches hold. Pure: once a result is out of a log, it is
 * out of every longer one up to its next summary.
 */
export function indexedResults(
  { summary, events }: ConversationInForce,
  windowTokens: number,
): IndexedResults {
  const callIds = new Set<string>();
  const read: DurableEvent<"tool_result">[] = [];
  const unread: DurableEvent<"tool_result">[] = [];
  let size = estimateTokens(summary?.text ?? "");
  let replying = false;
  const makeRoom = (): number => {
    const before = size;
    const full = size > windowTokens * FULL_SHARE;
    while (full && size > windowTokens * LEFT_SHARE) {
      const oldest = read.shift();
      if (!oldest) break;
      callIds.add(oldest.callId);
      size -= estimateTokens(oldest.content) - estimateTokens(indexedText(oldest));
    }
    return before - size;
  };
  for (const event of events) {
    const isReply = REPLY.has(event.type);
    if (isReply && !replying) {
      makeRoom();
      read.push(...unread.splice(0));
    }
    replying = isReply;
    size += sizeOf([event]);
    if (event.type === "tool_result" && isLong(event)) unread.push(event);
  }
  return { callIds, freed: makeRoom() };
}

/** What the model reads in the place of a result that has gone out. */
export function indexedText({ callId, name, content }: DurableEvent<"tool_result">): string {
  const beginning = content.slice(0, BEGINNING_CHARS).toWellFormed().replaceAll(/\s+/g, " ");
  return [
    `[what] indexed_tool_result id=${callId} tool=${name}: taken out to make room, ${content.length} characters`,
    `[beginning] ${beginning}`,
    `[how] ${RECALL_TOOL}(${JSON.stringify({ id: callId })})`,
  ].join("\n");
}

function isLong({ isError, content }: DurableEvent<"tool_result">): boolean {
  return !isError && content.length >= LONG_CHARS;
}
