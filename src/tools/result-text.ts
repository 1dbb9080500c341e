import { DEFAULT_LIMITS } from "../runtime/protocol/limits.ts";

/** A label and what it says; left out where it says nothing. */
export type Field = readonly [label: string, value: string | number | undefined];

/** Room for the fields around a long part of a result. */
const FIELDS_BYTES = 16 * 1024;
const encoder = new TextEncoder();

/** The form of every result for a model: `[label] value`, one a line. */
export function fields(...all: readonly Field[]): string {
  return all
    .filter(([, value]) => value !== undefined)
    .map(([label, value]) => `[${label}] ${value}`)
    .join("\n");
}

/** A field whose value is lines of its own. */
export function block(label: string, lines: readonly string[]): string {
  return [`[${label}]`, ...lines].join("\n");
}

/** The parts of a result that say something. */
export function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}

/** The first lines, as many as leave a result within its bound (`toolResultBytes`), and how many are left. */
export function fitting(lines: readonly string[]): {
  readonly lines: readonly string[];
  readonly left: number;
} {
  let bytes = 0;
  const end = lines.findIndex((line) => {
    bytes += byteLength(line) + 1;
    return bytes > DEFAULT_LIMITS.toolResultBytes - FIELDS_BYTES;
  });
  return end < 0 ? { lines, left: 0 } : { lines: lines.slice(0, end), left: lines.length - end };
}

function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** A call as a model may repeat it. */
export function callText(name: string, args: Readonly<Record<string, unknown>>): string {
  return `${name}(${JSON.stringify(args)})`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A path as a model may write it: the root has a name too. */
export function shownPath(path: string): string {
  return path === "" ? "." : path;
}
