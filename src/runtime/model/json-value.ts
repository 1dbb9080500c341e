/** A JSON object, as opposed to an array, null or a scalar. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is an object with keys: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object that the whole text stands for; null when it is anything else. Never repairs, never takes a prefix. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The value if it is a string, else an empty one. */
export function stringOr(value: unknown, otherwise = ""): string {
  return typeof value === "string" ? value : otherwise;
}
