import { LightAgentError } from "./errors.ts";

/** Nesting beyond which JSON is refused: serialising it again would overflow the stack. */
const MAX_DEPTH = 64;

/** A string, a number, or one of the marks that structure JSON. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]|-?\d[\d.eE+-]*/g;

/**
 * Parses JSON that comes from outside and refuses what would be stored as something else than was sent: a name
 * twice in one object, `__proto__` as a name, whole numbers that a double cannot hold.
 * @throws invalid_json when it is not JSON; invalid_request for the rest, and beyond 64 levels of nesting
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LightAgentError("invalid_json", "This is not valid JSON.");
  }
  checkTokens(text);
  return value;
}

/** Walks the text of valid JSON: one set of names per open object, null for an open array. */
function checkTokens(text: string): void {
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      if (open.push(token === "{" ? new Set() : null) > MAX_DEPTH) {
        throw refusal(`JSON may be nested ${MAX_DEPTH} levels deep, not deeper.`);
      }
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ":") addName(open.at(-1) ?? null, last);
    else if (!token.startsWith('"')) checkNumber(Number(token));
    last = token;
  }
}

function addName(names: Set<string> | null, literal: string): void {
  const name = literal.includes("\\") ? String(JSON.parse(literal)) : literal.slice(1, -1);
  if (name === "__proto__") throw refusal("`__proto__` is not allowed as a name.");
  if (names?.has(name)) throw refusal("An object has the same name twice.");
  names?.add(name);
}

function checkNumber(value: number): void {
  if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) return;
  throw refusal("A number is too large to be kept exactly: send it as a string.");
}

function refusal(message: string): LightAgentError {
  return new LightAgentError("invalid_request", message);
}
