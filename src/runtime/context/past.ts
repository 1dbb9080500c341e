import { textOf } from "../protocol/content.ts";
import { seqsInForce } from "../protocol/conversation.ts";
import type { Artifact, DurableEvent } from "../protocol/durable-events.ts";
import { RECALL_TOOL } from "./indexed-results.ts";
import { QUERY_WORDS, countWords, rankCounted } from "./rank.ts";
import { queryWordsOf, wordsOf } from "./words.ts";

const EXCERPT_CHARS = 240;

/** Something of a conversation that can be shown again. */
export interface PastEntry {
  /** The call's id for a result, `e` and the `seq` for anything else. */
  readonly id: string;
  readonly seq: number;
  readonly turn: number;
  /** What it is, for a model. */
  readonly what: string;
  readonly text: string;
  /** Where the whole is, when `text` is its beginning and its end. */
  readonly artifact: Artifact | undefined;
}

export interface FoundEntry {
  readonly entry: PastEntry;
  readonly excerpt: string;
}

/** A part of something that was said or done. */
export interface PastPart extends Pick<PastEntry, "what" | "turn"> {
  readonly text: string;
  /** Where it begins and ends, and how large the whole is: bytes of an artifact, UTF-16 units of any other text. */
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

/** What a conversation was, for the tools of its agent. Each call goes through the whole log. */
export interface Past {
  /** What has gone out of the conversation and has some of these words, the best first. */
  find(query: string, limit: number): Promise<readonly FoundEntry[]>;
  /**
   * A part of one entry from `from` on; null for an id that there is not.
   * @throws LightAgentError `unavailable` when an artifact cannot be read
   */
  read(id: string, from: number): Promise<PastPart | null>;
}

/** Where a log can be read from its beginning, as often as it takes. */
export type ReadLog = () => Iterable<DurableEvent>;

/** One entry, also one that the conversation still has; null when no such one is in force. */
export function readPast(log: ReadLog, id: string): PastEntry | null {
  const seqs = seqsInForce(log());
  for (const event of log()) {
    const entry = seqs.has(event.seq) ? entryOf(event) : null;
    if (entry?.id === id) return entry;
  }
  return null;
}

/**
 * What of a conversation has gone out of it and has some of these words, the best first. Goes through the log and holds
 * none of its texts but those that it answers with.
 * @param isOut whether an entry has gone out
 */
export function searchPast(
  log: ReadLog,
  query: string,
  limit: number,
  isOut: (entry: PastEntry) => boolean,
): FoundEntry[] {
  const seqs = seqsInForce(log());
  const outOfIt = function* (): Generator<PastEntry> {
    for (const event of log()) {
      // What was recalled before is found where it came from.
      if (event.type === "tool_result" && event.name === RECALL_TOOL) continue;
      const entry = seqs.has(event.seq) ? entryOf(event) : null;
      if (entry && isOut(entry)) yield entry;
    }
  };
  const words = queryWordsOf(query, QUERY_WORDS);
  const wanted = new Set(words);
  const counted = Array.from(outOfIt(), ({ seq, text }) => ({ item: seq, text: countWords(text, wanted) }));
  const best = rankCounted(counted, wanted).slice(0, limit);
  const found = new Map<number, FoundEntry>();
  const asked = new Set(best.map(({ item }) => item));
  for (const entry of outOfIt()) {
    if (asked.has(entry.seq)) found.set(entry.seq, { entry, excerpt: excerptOf(entry.text, words) });
  }
  return best.flatMap(({ item }) => found.get(item) ?? []);
}

function entryOf(event: DurableEvent): PastEntry | null {
  const { seq, turn } = event;
  const said = (what: string, text: string): PastEntry | null =>
    text === "" ? null : { id: `e${seq}`, seq, turn, what, text, artifact: undefined };
  switch (event.type) {
    case "input":
    case "steer":
      return said("The user's words", textOf(event.content));
    case "output":
      return said("Your words", event.text);
    case "background_completed":
      return said(`The result of the task ${event.taskId}`, event.content);
    case "tool_result": {
      const { callId: id, name, content: text, artifact } = event;
      return { id, seq, turn, what: `The result of ${name}`, text, artifact };
    }
    default:
      return null;
  }
}

/** The part of a text with the most of some words. */
function excerptOf(text: string, words: readonly string[]): string {
  let best = "";
  let most = -1;
  for (let at = 0; at < text.length; at += EXCERPT_CHARS) {
    const part = text.slice(at, at + EXCERPT_CHARS).toWellFormed();
    const has = new Set(wordsOf(part));
    const count = words.filter((word) => has.has(word)).length;
    if (count > most) [best, most] = [part, count];
  }
  return best.replaceAll(/\s+/g, " ").trim();
}
