import { parseObject } from "./json-value.ts";
import type { JsonObject } from "./json-value.ts";

/**
 * Deepest nesting of arguments. `JSON.parse` takes any depth, but what comes later (validation, storing) recurses
 * and would overflow the stack on a few thousand brackets.
 */
const MAX_DEPTH = 200;

/**
 * The arguments that a finished call's text stands for; null when the call must not run. Strict: only a whole JSON
 * object counts, since a repaired or cut one looks plausible and is wrong. Empty text is a call without arguments.
 */
export function parseArguments(raw: string): JsonObject | null {
  const text = raw.trim();
  if (text === "") return {};
  if (isTooDeep(text)) return null;
  // Some servers open a call with `{}` as a placeholder and then stream the real object.
  return parseObject(text) ?? (text.startsWith("{}") ? parseObject(text.slice(2)) : null);
}

/**
 * Whether the text is a whole JSON object already. Asked for each fragment of some streams, so that what does not end
 * like an object is not parsed again and again.
 */
export function isComplete(raw: string): boolean {
  return raw.trimEnd().endsWith("}") && parseObject(raw) !== null;
}

/** Whether the text takes more than so many bytes of UTF-8. */
export function exceedsBytes(text: string, limit: number): boolean {
  // A UTF-16 unit takes at most 3 bytes, so that most texts need no encoding to be told apart.
  if (text.length * 3 <= limit) return false;
  return text.length > limit || new TextEncoder().encode(text).length > limit;
}

/** Whether JSON is nested too deep for what comes after its parser. */
export function isTooDeep(text: string): boolean {
  return depthOf(text) > MAX_DEPTH;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") deepest = Math.max(deepest, ++depth);
    else if (character === "}" || character === "]") depth--;
  }
  return deepest;
}
