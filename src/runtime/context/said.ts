import { estimateTokens } from "../protocol/token-estimate.ts";
import { shortenedToTokens } from "./shortened.ts";

/** Parts what a model wrote from what users said. */
const HEADING = "## What the user said, word for word";
const HEADED = new RegExp(`\n\n${HEADING}(?=\n|$)`, "g");
const USER = "--- user ---";
/** What stands before a message; and in the place of those that are left out. */
const MARKS = String.raw`--- (?:user|\d+ messages left out) ---`;
const MARKED = new RegExp(`\n(?=${MARKS}(?:\n|$))`);
/** Lines of a message that read like ours get a backslash, and lose it again. */
const OURS = `(?=(?:${MARKS}|${HEADING})$)`;
const PLAIN = new RegExp(String.raw`^(\\*)${OURS}`, "gm");
const QUOTED = new RegExp(String.raw`^\\(\\*)${OURS}`, "gm");

/** No message takes more of the bound. */
const LARGEST_SHARE = 0.25;
/** What stands before it takes as much as this, in tokens. */
const MARK_TOKENS = 5;

/** What users said in a part of a conversation: the first message, then those after the ones that are left out. */
export interface Said {
  readonly messages: readonly string[];
  readonly leftOut: number;
}

export const NOTHING_SAID: Said = { messages: [], leftOut: 0 };

/** A summary's two parts, as `readSummary` reads them again. */
export function writeSummary(told: string, { messages: [first, ...others], leftOut }: Said): string {
  const parts = [told, "", HEADING];
  const add = (message: string): void => {
    parts.push(USER, message.replaceAll(PLAIN, "\\$1"));
  };
  if (first !== undefined) add(first);
  if (leftOut > 0) parts.push(`--- ${leftOut} messages left out ---`);
  for (const message of others) add(message);
  return parts.join("\n");
}

/** A summary taken apart; one that nobody wrote by `writeSummary` is told as a whole. */
export function readSummary(text: string): { told: string; said: Said } {
  const at = [...text.matchAll(HEADED)].at(-1)?.index;
  if (at === undefined) return { told: text, said: NOTHING_SAID };
  const messages: string[] = [];
  let leftOut = 0;
  for (const part of text.slice(at).split(MARKED).slice(1)) {
    const [mark = "", ...lines] = part.split("\n");
    if (mark === USER) messages.push(lines.join("\n").replaceAll(QUOTED, "$1"));
    else leftOut += Number.parseInt(mark.slice(4), 10);
  }
  return { told: text.slice(0, at), said: { messages, leftOut } };
}

/**
 * Of what was said before and what was said since: the first message and as many of the last as fit, each whole unless it
 * is a large part of the bound by itself; then its beginning and its end.
 */
export function withinBound(before: Said, since: readonly string[], tokens: number): Said {
  const largest = tokens * LARGEST_SHARE;
  const [first, ...others] = [...before.messages, ...since].map((text) => shortenedToTokens(text, largest));
  if (first === undefined) return before;
  let left = tokens - estimateTokens(first);
  let from = others.length;
  while (from > 0) {
    left -= estimateTokens(others[from - 1] ?? "") + MARK_TOKENS;
    if (left < 0) break;
    from -= 1;
  }
  return { messages: [first, ...others.slice(from)], leftOut: before.leftOut + from };
}
