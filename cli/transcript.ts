import { blockKey } from "../client/index.ts";
import type { Entry, SessionSnapshot } from "../client/index.ts";
import { printable } from "./printable.ts";

/** Characters of a call's arguments that one line shows. */
const ARGUMENT_CHARS = 120;

/**
 * A session as lines on a terminal. It is given one snapshot after another and says what has come since: text as it
 * streams, calls as they begin and end.
 */
export class Transcript {
  /** Characters of each text that have been said. */
  readonly #said = new Map<string, number>();
  /** The last status of each call that has been said. */
  readonly #calls = new Map<string, string>();
  /** Entries that are said once, as a whole. */
  readonly #done = new Set<string>();
  /** Prompts that the person at the terminal has written: they stand there already. */
  readonly #own = new Set<string>();
  /** Turns before this one are complete. */
  #turn = 0;
  /** The text that is being said; null between texts. */
  #open: string | null = null;

  /** A prompt was typed here. */
  typed(text: string): void {
    this.#own.add(text);
  }

  /** What a snapshot adds. */
  next({ turns, view }: Pick<SessionSnapshot, "turns" | "view">): string {
    let said = "";
    for (const turn of turns.slice(this.#turn)) {
      for (const entry of turn.entries) said += this.#entry(entry);
    }
    // To the last one more can come, also when it has ended.
    this.#turn = Math.max(0, turns.length - 1);
    for (const block of view.blocks.toSorted((a, b) => a.block - b.block)) {
      if (block.kind === "text") said += this.#text(blockKey(block), block.text);
    }
    return printable(said);
  }

  #entry(entry: Entry): string {
    if (entry.kind === "output") return this.#output(entry);
    if (entry.kind === "call") return this.#call(entry);
    if (this.#done.has(entry.key)) return "";
    this.#done.add(entry.key);
    const line = lineOf(entry, this.#own);
    return line === null ? "" : `${this.#close()}${line}\n`;
  }

  #output({ key, text, interrupted }: Extract<Entry, { kind: "thought" | "output" }>): string {
    if (this.#done.has(key)) return "";
    this.#done.add(key);
    return `${this.#text(key, text)}${interrupted ? " [interrupted]" : ""}${this.#close()}`;
  }

  /** What of a text has not been said. A text that is another one than the last begins on a line of its own. */
  #text(key: string, text: string): string {
    const known = this.#said.get(key) ?? 0;
    if (text.length <= known) return "";
    this.#said.set(key, text.length);
    const before = this.#open === key ? "" : this.#close();
    this.#open = key;
    return before + text.slice(known);
  }

  #close(): string {
    if (this.#open === null) return "";
    this.#open = null;
    return "\n";
  }

  #call({ key, call, status, result }: Extract<Entry, { kind: "call" }>): string {
    const known = this.#calls.get(key);
    if (known === status) return "";
    this.#calls.set(key, status);
    const begun = known === undefined ? `${this.#close()}• ${call.name}${purposeOf(call)}\n` : "";
    if (!result) return begun;
    const what = result.isError ? `✗ ${firstLine(result.content)}` : "✓";
    return `${begun}${this.#close()}  ${what} (${call.name}, ${result.durationMs} ms)\n`;
  }
}

function lineOf(entry: Exclude<Entry, { kind: "call" }>, own: ReadonlySet<string>): string | null {
  switch (entry.kind) {
    case "prompt": {
      const text = entry.content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
      return own.has(text) ? null : `> ${text}`;
    }
    case "error":
      return `! ${entry.message} (${entry.code})`;
    case "stop":
      return entry.stop.reason === "stop" || entry.stop.reason === "error" ? null : `[${entry.stop.reason}]`;
    case "summary":
      return `[earlier turns were summarised: ${entry.before} tokens became ${entry.after}]`;
    case "background":
      return `[in the background: ${entry.label}, ${entry.status}]`;
    case "restore":
      return "[went back to an earlier point]";
    case "thought":
    case "output":
      return null;
  }
}

function purposeOf({ intent, args }: Extract<Entry, { kind: "call" }>["call"]): string {
  const shown = JSON.stringify(args).slice(0, ARGUMENT_CHARS);
  return intent === undefined ? ` ${shown}` : ` — ${intent} ${shown}`;
}

/** What went wrong; the built-in tools put `[what]` before it. */
function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return line.replace(/^\[what\] /, "").slice(0, 300);
}
