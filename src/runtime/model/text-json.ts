import { isTooDeep } from "./call-arguments.ts";

/** A JSON object or array in a text. */
export interface JsonInText {
  readonly value: object;
  /** What stands before it, without the fence that it is in. */
  readonly before: string;
}

/** Most places at which a value is looked for: a text of brackets alone stays cheap to read. */
const MAX_STARTS = 64;

/** The text without the reasoning that some models put before their answer in tags of their own. */
export function withoutThinking(text: string): string {
  return text.replace(/^\s*<(think|thinking|reasoning)>[\s\S]*?<\/\1>/i, "").trim();
}

/**
 * The objects and arrays of JSON that stand in a text, with prose or fences around them, in their order. Strict: what
 * does not parse as it stands is left out, and nothing inside another value is looked at.
 */
export function jsonInText(text: string): JsonInText[] {
  const found: JsonInText[] = [];
  let at = 0;
  for (let starts = 0; starts < MAX_STARTS; starts++) {
    const start = nextBracket(text, at);
    if (start === -1) break;
    const end = closingOf(text, start);
    const value = end === -1 ? null : parseValue(text.slice(start, end));
    if (value !== null) found.push({ value, before: withoutFence(text.slice(0, start)) });
    at = value === null ? start + 1 : end;
  }
  return found;
}

/** The value that the whole text stands for, when it is an object or an array. */
export function parseValue(text: string): object | null {
  if (isTooDeep(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function nextBracket(text: string, from: number): number {
  const object = text.indexOf("{", from);
  const array = text.indexOf("[", from);
  if (object === -1 || array === -1) return Math.max(object, array);
  return Math.min(object, array);
}

/** The index behind the bracket that closes the one at `start`; -1 when there is none. */
function closingOf(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1;
  }
  return -1;
}

function withoutFence(before: string): string {
  return before.replace(/```[a-z]*\s*$/i, "").trim();
}
