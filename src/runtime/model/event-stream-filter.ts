const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const NOTHING = new Uint8Array();
const DATA = bytesOf("data");
const EVENT = bytesOf("event");

/** The chunk that stands for an event without content. */
const KEEP_ALIVE = bytesOf('data: {"keep_alive":true}\n\n');

/** Most bytes kept of a body that turns out not to be an event stream. */
const STRAY_BYTES = 16_384;

/** Whether a chunk is one that {@link EventStreamFilter} put in: a sign of life, no part of the reply. */
export function isKeepAlive(chunk: unknown): boolean {
  return typeof chunk === "object" && chunk !== null && "keep_alive" in chunk;
}

type Line = "pass" | "drop" | "keep_alive";

/**
 * Sits between a provider's body and the openai SDK, and changes only events without content. Servers send comments
 * and empty `data:` lines to keep a connection open: the SDK hides the former, so that a slow model looks dead, and
 * fails on the latter. Both become a chunk that {@link isKeepAlive} knows. Bytes may be cut anywhere.
 */
export class EventStreamFilter {
  /** Pieces of a line whose end has not come. The SDK waits for it as well, so that holding them delays nothing. */
  #held: Uint8Array[] = [];
  #hasData = false;
  #isHollow = false;
  #inEvent = false;
  #events = 0;
  /** Events among the bytes that were handed on last, less those that have been taken. */
  #ready = 0;
  readonly #stray: Uint8Array[] = [];
  #strayBytes = 0;

  /** Whether the body ended in the middle of an event: what is wrong with that event is that it was cut. */
  get cut(): boolean {
    return this.#inEvent;
  }

  /** The beginning of a body without any event, decoded: an HTML page, a JSON error. Empty for an event stream. */
  get stray(): string {
    return this.#events > 0 ? "" : new TextDecoder().decode(concat(this.#stray));
  }

  /**
   * To be called for each chunk that the SDK gives out.
   * @returns whether more chunks come without waiting, from bytes that have arrived
   */
  take(): boolean {
    return --this.#ready > 0;
  }

  /** What the SDK may see of the next bytes. It asks for them when it has given out all of the last. */
  push(chunk: Uint8Array): Uint8Array {
    this.#ready = 0;
    this.#keepStray(chunk);
    const out: Uint8Array[] = [];
    let start = 0;
    let passed = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      const held = this.#held.length > 0;
      const line = held
        ? concat([...this.#held, chunk.subarray(0, end + 1)])
        : chunk.subarray(start, end + 1);
      const verdict = this.#line(line);
      if (held) this.#held = [];
      if (held || verdict !== "pass") {
        out.push(chunk.subarray(passed, start));
        if (verdict === "pass") out.push(line);
        if (verdict === "keep_alive") out.push(KEEP_ALIVE);
        passed = end + 1;
      }
      start = end + 1;
    }
    out.push(chunk.subarray(passed, start));
    if (start < chunk.length) this.#held.push(chunk.subarray(start));
    return concat(out);
  }

  /** What is left when the body has ended: a last line without its end. */
  end(): Uint8Array {
    const line = concat(this.#held);
    this.#held = [];
    const passed = line.length > 0 && this.#line(line) === "pass" ? line : NOTHING;
    if (this.#hasData || !this.#isHollow) return passed;
    // Without data the SDK would fail on an event that has only a name.
    return passed.length > 0 ? concat([passed, Uint8Array.of(LF), KEEP_ALIVE]) : KEEP_ALIVE;
  }

  #keepStray(chunk: Uint8Array): void {
    if (this.#events > 0 || this.#strayBytes >= STRAY_BYTES) return;
    const part = chunk.subarray(0, STRAY_BYTES - this.#strayBytes);
    this.#stray.push(part);
    this.#strayBytes += part.length;
  }

  #line(line: Uint8Array): Line {
    const content = withoutEnd(line);
    if (content.length === 0) return this.#endEvent();
    this.#inEvent = true;
    if (content[0] === COLON) return this.#hollow("drop");
    if (isField(content, DATA)) {
      if (!this.#hasData && isEmptyData(content)) return this.#hollow("drop");
      this.#hasData = true;
      this.#events++;
      return "pass";
    }
    return isField(content, EVENT) ? this.#hollow("pass") : "pass";
  }

  #hollow(verdict: Line): Line {
    this.#isHollow = true;
    return verdict;
  }

  #endEvent(): Line {
    const keepAlive = this.#isHollow && !this.#hasData;
    if (keepAlive || this.#hasData) this.#ready++;
    this.#hasData = false;
    this.#isHollow = false;
    this.#inEvent = false;
    return keepAlive ? "keep_alive" : "pass";
  }
}

function withoutEnd(line: Uint8Array): Uint8Array {
  let end = line.length;
  if (line[end - 1] === LF) end--;
  if (line[end - 1] === CR) end--;
  return line.subarray(0, end);
}

function isField(content: Uint8Array, name: Uint8Array): boolean {
  const end = content[name.length];
  return (end === undefined || end === COLON) && name.every((byte, at) => content[at] === byte);
}

/** A `data` line with nothing but blanks, or with a comment where the data should be. */
function isEmptyData(content: Uint8Array): boolean {
  const first = content.subarray(DATA.length + 1).find((byte) => byte !== 0x20 && byte !== 0x09);
  return first === undefined || first === COLON;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const filled = parts.filter((part) => part.length > 0);
  const [only] = filled;
  if (filled.length <= 1) return only ?? NOTHING;
  const joined = new Uint8Array(filled.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of filled) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
