import { parseEnv } from "node:util";

/** Keys without which the Worker refuses to serve. */
const REQUIRED_KEYS = ["ROOT_KEY", "SIGNING_KEY", "ENCRYPTION_KEY"];

/** The values of a `.dev.vars` file by name. */
export function parseDevVars(text: string): Record<string, string | undefined> {
  return parseEnv(text);
}

/**
 * The text of `.dev.vars` with the keys that it lacks appended; lines that are there stay as they are.
 * @param text What the file holds, empty when there is none.
 * @param newKey Makes a random key.
 */
export function completeDevVars(text: string, newKey: () => string): string {
  const present = parseDevVars(text);
  const missing = REQUIRED_KEYS.filter((name) => !present[name]);
  if (missing.length === 0) return text;
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  return text + separator + missing.map((name) => `${name}="${newKey()}"\n`).join("");
}
