import { sha256Hex } from "../protocol/sha256.ts";

/** JSON with the names of each object in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => (isRecord(inner) ? sorted(inner) : inner));
}

/** SHA-256 of a value's canonical JSON, in lower-case hex. */
export async function digestOf(value: unknown): Promise<string> {
  return sha256Hex(canonicalJson(value));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  // By code units, which no locale changes.
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
