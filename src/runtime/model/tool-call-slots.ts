import { exceedsBytes, isComplete, parseArguments } from "./call-arguments.ts";
import type { ToolCallDelta } from "./chat-chunk.ts";
import type { ModelDelta, ModelReply, ReplyCall } from "./model-provider.ts";

type Diagnostic = NonNullable<ModelReply["diagnostics"]>[number];

/** More than any tool's name has: a runaway name stays bounded. */
const NAME_CHARS = 256;

/** One call as it grows. */
interface Slot {
  /** Its number and its block, once there is something of it: an empty fragment makes no call yet. */
  place: { readonly call: number; readonly block: number } | null;
  readonly index: number | null;
  id: string;
  name: string;
  args: string;
  /** More argument text came than a call may have; the rest was dropped. */
  cut: boolean;
}

/**
 * Sorts the fragments of parallel tool calls. Vendors disagree on what ties a fragment to its call: the index
 * (OpenAI), the id (index missing), the position (both missing), or a new id at an index that is in use (Gemini's
 * compatible endpoint puts every call at index 0).
 */
export class ToolCallSlots {
  readonly #slots: Slot[] = [];
  /** Those that have begun, in the order in which they did. */
  readonly #calls: Slot[] = [];
  /** The newest slot of each index, of each id, and of each id at an index. */
  readonly #byIndex = new Map<number, Slot>();
  readonly #byId = new Map<string, Slot>();
  readonly #byBoth = new Map<string, Slot>();
  readonly #limit: number;
  readonly #newBlock: () => number;

  /**
   * @param limit most bytes of one call's arguments
   * @param newBlock gives the next block number of the reply
   */
  constructor(limit: number, newBlock: () => number) {
    this.#limit = limit;
    this.#newBlock = newBlock;
  }

  /** Takes one fragment in. Returns what there is to show: a call that began with a name, or more argument text. */
  push(delta: ToolCallDelta): ModelDelta | null {
    const slot = this.#find(delta) ?? this.#open(delta);
    if (slot.id === "" && delta.id !== "") this.#identify(slot, delta.id);
    addName(slot, delta.name);
    const text = this.#addArguments(slot, delta.args);
    const begins = slot.place === null;
    const place = slot.place ?? this.#begin(slot);
    if (!place || (text === "" && !begins)) return null;
    return { type: "delta", kind: "tool_args", ...place, text, name: slot.name };
  }

  /**
   * The calls in order of first appearance, under ids that are unique in the reply.
   * @param executable false when the reply's end does not allow its calls to run
   */
  finish(executable: boolean): { calls: ReplyCall[]; diagnostics: Diagnostic[] } {
    const diagnostics: Diagnostic[] = [];
    const unique = uniqueIds();
    const calls = this.#calls.map((slot, position) => {
      const providerId = unique(slot.id || `call_${position}`);
      if (providerId !== slot.id)
        diagnostics.push(repaired(slot.id === "" ? "missing" : "repeated", position));
      return this.#finishCall(slot, providerId, executable);
    });
    return { calls, diagnostics };
  }

  /** A call that must not run keeps its text, for people and for the error result, and has no arguments. */
  #finishCall(slot: Slot, providerId: string, executable: boolean): ReplyCall {
    const fits = executable && slot.name !== "" && !slot.cut && !exceedsBytes(slot.args, this.#limit);
    const args = fits ? parseArguments(slot.args) : null;
    const call = { providerId, name: slot.name };
    return args === null ? { ...call, args: {}, malformed: slot.args } : { ...call, args };
  }

  /** The slot that a fragment continues; undefined when it begins a call. */
  #find(delta: ToolCallDelta): Slot | undefined {
    if (delta.index !== null) return this.#findAt(delta.index, delta);
    if (delta.id !== "") return this.#byId.get(delta.id);
    const newest = this.#slots.at(-1);
    const another =
      delta.name !== "" && newest !== undefined && newest.name !== "" && isComplete(newest.args);
    return another ? undefined : newest;
  }

  /** The same where there is an index, which wins over the id. */
  #findAt(index: number, delta: ToolCallDelta): Slot | undefined {
    const newest = this.#byIndex.get(index);
    if (!newest || delta.id === "") return newest;
    const same = this.#byBoth.get(`${index}/${delta.id}`);
    if (same) return same;
    const named = delta.name !== "";
    // The id of a call that had none yet, unless that call is over.
    if (newest.id === "") return named && isComplete(newest.args) ? undefined : newest;
    // A server that makes up a fresh id for each fragment must not open a call with an empty one.
    const another = named || (delta.args !== "" && isComplete(newest.args));
    return another ? undefined : newest;
  }

  #open({ index }: ToolCallDelta): Slot {
    const slot: Slot = { place: null, index, id: "", name: "", args: "", cut: false };
    this.#slots.push(slot);
    if (index !== null) this.#byIndex.set(index, slot);
    return slot;
  }

  /** Gives a slot its place in the reply once it holds something. */
  #begin(slot: Slot): Slot["place"] {
    if (slot.name === "" && slot.args === "") return null;
    slot.place = { call: this.#calls.length, block: this.#newBlock() };
    this.#calls.push(slot);
    return slot.place;
  }

  #identify(slot: Slot, id: string): void {
    slot.id = id;
    this.#byId.set(id, slot);
    this.#byBoth.set(`${slot.index}/${id}`, slot);
  }

  /** Returns the text that is new; a part of it beyond the limit is dropped, so that a runaway call stays bounded. */
  #addArguments(slot: Slot, args: ToolCallDelta["args"]): string {
    const whole = typeof args !== "string";
    const text = whole ? JSON.stringify(args) : args;
    const before = whole ? "" : slot.args;
    const kept = text.slice(0, this.#limit - before.length);
    if (kept.length < text.length) slot.cut = true;
    const shown = whole && slot.args !== "" ? "" : kept;
    slot.args = before + kept;
    return shown;
  }
}

/** A name comes at once and may be repeated, or comes in fragments before any argument. */
function addName(slot: Slot, name: string): void {
  const grows = slot.name === "" || (slot.args === "" && name !== slot.name);
  if (grows) slot.name = (slot.name + name).slice(0, NAME_CHARS);
}

/** Gives each wanted id back, or with `#1`, `#2`, … where it is taken. */
function uniqueIds(): (wanted: string) => string {
  const taken = new Set<string>();
  const repeats = new Map<string, number>();
  return (wanted) => {
    let repeat = repeats.get(wanted) ?? 0;
    let id = wanted;
    while (taken.has(id)) id = `${wanted}#${++repeat}`;
    repeats.set(wanted, repeat);
    taken.add(id);
    return id;
  };
}

function repaired(what: "missing" | "repeated", position: number): Diagnostic {
  return {
    code: `call_id_${what}`,
    message: `Call ${position} came with a ${what} id and got one of its own.`,
  };
}
