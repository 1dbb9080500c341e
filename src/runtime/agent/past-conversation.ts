import { readPast, searchPast } from "../context/past.ts";
import type { FoundEntry, Past, PastEntry, PastPart } from "../context/past.ts";
import type { Artifact, DurableEvent } from "../protocol/durable-events.ts";
import type { ContextWindow } from "./context-window.ts";
import type { SessionLog } from "./session-log.ts";

/** Reads a part of an artifact, in bytes; fewer at its end. `seq` is that of the event that names it. */
export type ReadArtifact = (
  artifact: Artifact,
  seq: number,
  range: { readonly offset: number; readonly length: number },
) => Promise<Uint8Array>;

/** No part is larger, in UTF-16 units or bytes, nor takes more of the window; the log keeps it without an artifact. */
const PART_CHARS = 20_000;
const LEAST_CHARS = 100;
const PART_SHARE = 0.25;

/** What a conversation was, whatever of it has made room since. */
export class PastConversation implements Past {
  readonly #log: SessionLog;
  readonly #window: ContextWindow;
  readonly #readArtifact: ReadArtifact | undefined;

  constructor(log: SessionLog, window: ContextWindow, readArtifact: ReadArtifact | undefined) {
    this.#log = log;
    this.#window = window;
    this.#readArtifact = readArtifact;
  }

  async find(query: string, limit: number): Promise<readonly FoundEntry[]> {
    const { callIds } = await this.#window.indexed();
    const { summarisedThrough } = this.#log.fold;
    const isOut = ({ seq, id }: PastEntry): boolean => seq <= summarisedThrough || callIds.has(id);
    return searchPast(await this.#reader(), query, limit, isOut);
  }

  async read(id: string, from: number): Promise<PastPart | null> {
    const entry = readPast(await this.#reader(), id);
    if (!entry) return null;
    const { what, turn, seq, text, artifact } = entry;
    const length = Math.max(LEAST_CHARS, Math.min(PART_CHARS, Math.floor(this.#window.tokens * PART_SHARE)));
    if (artifact && this.#readArtifact) {
      const bytes = await this.#readArtifact(artifact, seq, { offset: from, length });
      const part = wholeCharacters(bytes, from + bytes.length < artifact.size);
      return { what, turn, text: part.text, from, to: from + part.bytes, size: artifact.size };
    }
    const to = endOfCharacter(text, Math.min(from + length, text.length));
    return { what, turn, text: text.slice(from, to), from, to, size: text.length };
  }

  /** The log as often as it is gone through. A session in memory or in SQLite answers at once; others are read once. */
  async #reader(): Promise<() => Iterable<DurableEvent>> {
    const first = this.#log.read(0);
    if (!(first instanceof Promise)) return () => this.#log.read(0) as Iterable<DurableEvent>;
    const events = [...(await first)];
    return () => events;
  }
}

/** @param more whether bytes follow, so that the last character may be cut */
function wholeCharacters(
  bytes: Uint8Array,
  more: boolean,
): { readonly text: string; readonly bytes: number } {
  let end = bytes.length;
  if (more) while (end > 1 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  if (more && end > 1 && (bytes[end - 1] ?? 0) >= 0xc0) end -= 1;
  const text = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes.subarray(0, end));
  return { text, bytes: end };
}

function endOfCharacter(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end + 1 : end;
}
