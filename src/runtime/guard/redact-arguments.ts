import { REDACTED, isSecretField, redactText } from "./redact-text.ts";

const MAX_DEPTH = 8;
const TEXT_LENGTH = 4_000;
const NAME_LENGTH = 200;

/** Characters of all names and values together; what comes after them is counted. */
const TOTAL_LENGTH = 32 * 1024;

/** What a value or a name costs beside its characters, so that many empty ones are bounded too. */
const ENTRY_COST = 16;

/** What may still be shown. */
interface Room {
  characters: number;
}

/**
 * The arguments of a call as people may see them beside it: secrets are replaced, long texts cut with a note of how much is
 * missing, and all of it is bounded (32 Ki characters, 8 levels). For showing only: an approval binds to the
 * digest of the real arguments.
 */
export function redactArguments(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redactRecord(args, 1, { characters: TOTAL_LENGTH });
}

function redactValue(value: unknown, depth: number, room: Room): unknown {
  if (typeof value === "string") return take(value, TEXT_LENGTH, room);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "[nested too deep to be shown]";
  return Array.isArray(value) ? redactList(value, depth, room) : redactRecord(value, depth, room);
}

function redactList(list: readonly unknown[], depth: number, room: Room): unknown[] {
  const shown: unknown[] = [];
  for (const [index, item] of list.entries()) {
    if (room.characters <= 0) return [...shown, `[${list.length - index} more items]`];
    room.characters -= ENTRY_COST;
    shown.push(redactValue(item, depth + 1, room));
  }
  return shown;
}

function redactRecord(record: object, depth: number, room: Room): Record<string, unknown> {
  const shown = new Map<string, unknown>();
  const entries = Object.entries(record);
  for (const [index, [name, value]] of entries.entries()) {
    if (room.characters <= 0) {
      shown.set(freeName("…", shown), `[${entries.length - index} more fields]`);
      break;
    }
    room.characters -= ENTRY_COST;
    const secret = isSecretField(name) && value !== null && typeof value !== "boolean";
    const shownName = freeName(take(name, NAME_LENGTH, room), shown);
    shown.set(shownName, secret ? REDACTED : redactValue(value, depth + 1, room));
  }
  return Object.fromEntries(shown);
}

function take(text: string, length: number, room: Room): string {
  const shown = redactText(text, Math.min(length, Math.max(room.characters, 0)));
  room.characters -= shown.length;
  return shown;
}

/** Two names can look alike once their secrets are replaced, and no argument may vanish behind another. */
function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  while (taken.has(free)) free += "′";
  return free;
}
