import { asciiSet, CharacterWindow, literalSet } from "./character-window.ts";
import type { CharacterSet } from "./character-window.ts";
import type { SearchQuery } from "./workspace.ts";

/**
 * What every line that a pattern matches contains: of each clause at least one literal. No clause says nothing. With
 * `ignoreCase` a literal is contained in some spelling of it, upper or lower case.
 */
export interface RequiredLiterals {
  readonly clauses: readonly (readonly string[])[];
  readonly ignoreCase: boolean;
  /** Successive characters that such a line holds too, where much can be said of them. */
  readonly window?: CharacterWindow;
}

/** A branch of an alternation on the way: the clauses so far, and what is being read: one of these literals. */
interface Sequence {
  clauses: string[][];
  run: string[];
  /** Whether the branch has been nothing but that. */
  whole: boolean;
  windows: CharacterWindow[];
  window: CharacterWindow;
}

/** What a part of a pattern says of each of its matches. */
interface Said {
  readonly clauses: string[][];
  readonly windows: CharacterWindow[];
  /** The matches themselves, where they are few. */
  readonly texts?: readonly string[];
}

/** How often an item stands at least, and whether never more often; `optional`: once or not at all. */
interface Repetition {
  readonly least: number;
  readonly exact: boolean;
  readonly optional: boolean;
}

const ONCE: Repetition = { least: 1, exact: true, optional: false };

/** More literals in the place of one are read one after the other. */
const ALTERNATIVES = 8;

/** What one item of a pattern adds: a character, one of some characters, what a group says, or nothing that is known. */
type Item = { readonly char: string } | { readonly set: CharacterSet } | Said;

const UNKNOWN: Said = { clauses: [], windows: [] };

/** Thrown where the syntax is one that this reader leaves to re2js. */
class Unsure extends Error {}

/**
 * The literals of a query's pattern, which has been compiled before, so that its syntax is right. Whatever is rare or
 * in doubt yields no literal: a literal too few costs time, one too many loses matches.
 */
export function requiredLiterals({
  pattern,
  fixed = false,
  caseSensitive = true,
}: SearchQuery): RequiredLiterals {
  // A flag counts for all of the pattern: to ignore case asks less of a literal.
  const ignoreCase = !caseSensitive || (!fixed && /\(\?[A-Za-z-]*i/.test(pattern));
  try {
    const reader = new Reader(pattern, ignoreCase);
    const { clauses, windows } = fixed ? reader.fixed() : reader.alternation();
    const window = windows.toSorted((a, b) => b.bits - a.bits)[0];
    return { clauses, ignoreCase, ...(window ? { window } : {}) };
  } catch (caught) {
    if (caught instanceof Unsure) return { clauses: [], ignoreCase };
    throw caught;
  }
}

/** The length of a literal as the trigram index counts it, in code points. */
export function literalLength(literal: string): number {
  return Array.from(literal).length;
}

/** Reads RE2 syntax from left to right. Characters are code points, as they are for re2js. */
class Reader {
  readonly #chars: readonly string[];
  readonly #ignoreCase: boolean;
  #at = 0;

  constructor(pattern: string, ignoreCase: boolean) {
    this.#chars = Array.from(pattern);
    this.#ignoreCase = ignoreCase;
  }

  /** The pattern as it stands. */
  fixed(): Said {
    const sequence = emptySequence();
    for (const char of this.#chars) this.#append(sequence, { char }, ONCE);
    return finish(sequence);
  }

  /** Up to the end or the parenthesis that closes the group. */
  alternation(): Said {
    const branches = [this.#sequence()];
    while (this.#peek() === "|") {
      this.#at += 1;
      branches.push(this.#sequence());
    }
    const [only, ...others] = branches;
    if (only && others.length === 0) return only;
    const best = branches.map(({ clauses }) => bestOf(clauses));
    const isOpen = best.some((clause) => clause === undefined);
    const said: Said = { clauses: isOpen ? [] : [best.flatMap((clause) => clause ?? [])], windows: [] };
    const isKnown = branches.every(({ texts }) => texts !== undefined);
    const texts = [...new Set(branches.flatMap((branch) => branch.texts ?? []))];
    return isKnown && texts.length <= ALTERNATIVES ? { ...said, texts } : said;
  }

  #sequence(): Said {
    const sequence = emptySequence();
    for (let next = this.#peek(); next !== undefined && next !== "|" && next !== ")"; next = this.#peek()) {
      const item = this.#item(next);
      this.#append(sequence, item, this.#repetition());
    }
    return finish(sequence);
  }

  #append(sequence: Sequence, item: Item, times: Repetition): void {
    if ("clauses" in item) {
      if (item.texts && this.#continue(sequence, item.texts, times)) return;
      end(sequence);
      if (times.least === 0) return;
      sequence.clauses.push(...item.clauses);
      sequence.windows.push(...item.windows);
      return;
    }
    const plain = "char" in item && isPlain(item.char, this.#ignoreCase);
    const set = "set" in item ? item.set : plain ? literalSet(item.char, this.#ignoreCase) : undefined;
    if (plain && times.optional && this.#continue(sequence, [item.char], times)) return;
    if (!set || times.least === 0) {
      end(sequence);
      return;
    }
    if (plain) sequence.run = sequence.run.map((run) => run + item.char);
    else endRun(sequence);
    sequence.window.add(set, times.least);
    if (times.exact && times.least === 1) return;
    endRun(sequence);
    // The last of the repeated characters stands before what follows.
    if (plain) sequence.run = [item.char];
    if (times.exact) return;
    endWindow(sequence);
    sequence.window.add(set, times.least);
  }

  /** Each literal that is being read goes on in each of some ways; false where that would be too many or is not known. */
  #continue(sequence: Sequence, texts: readonly string[], times: Repetition): boolean {
    const once = times.exact && times.least === 1;
    if (!once && !times.optional) return false;
    const ways = times.optional ? ["", ...texts] : texts;
    const run = [...new Set(sequence.run.flatMap((begun) => ways.map((way) => begun + way)))];
    if (run.length > ALTERNATIVES) return false;
    endWindow(sequence);
    sequence.run = run;
    return true;
  }

  #item(next: string): Item {
    this.#at += 1;
    switch (next) {
      case "(":
        return this.#group();
      case "[":
        return this.#class();
      case "\\":
        return this.#escape();
      case "{":
        if (this.#isCount()) throw new Unsure();
        return { char: next };
      case ".":
      case "^":
      case "$":
        return UNKNOWN;
      default:
        return { char: next };
    }
  }

  #group(): Item {
    if (this.#peek() === "?") {
      const rest = this.#chars.slice(this.#at).join("");
      const head = /^\?(?:[A-Za-z-]*[:)]|P?<[A-Za-z0-9_]+>)/.exec(rest)?.[0];
      if (head === undefined) throw new Unsure();
      this.#at += head.length;
      if (head.endsWith(")")) return UNKNOWN;
    }
    const said = this.alternation();
    if (this.#peek() !== ")") throw new Unsure();
    this.#at += 1;
    return said;
  }

  #class(): Item {
    const begin = this.#at;
    if (this.#peek() === "^") this.#at += 1;
    for (let first = true; first || this.#peek() !== "]"; first = false) {
      const char = this.#peek();
      if (char === undefined || (char === "[" && this.#chars[this.#at + 1] === ":")) throw new Unsure();
      this.#at += char === "\\" ? 2 : 1;
    }
    this.#at += 1;
    const set = asciiSet(this.#chars.slice(begin, this.#at - 1).join(""), this.#ignoreCase);
    return set ? { set } : UNKNOWN;
  }

  #escape(): Item {
    const char = this.#peek() ?? "";
    this.#at += 1;
    const set = char === "d" || char === "w" ? asciiSet(`\\${char}`, this.#ignoreCase) : undefined;
    if (set) return { set };
    if ("dDsSwWbBAz".includes(char)) return UNKNOWN;
    if (/^[!-/:-@[-^`{-~]$/.test(char)) return { char };
    if (char !== "p" && char !== "P") throw new Unsure();
    const name = this.#peek();
    this.#at += 1;
    if (name === "{") {
      while (this.#peek() !== "}" && this.#peek() !== undefined) this.#at += 1;
      this.#at += 1;
    }
    return UNKNOWN;
  }

  /** How often the item before stands. */
  #repetition(): Repetition {
    let mayLack = false;
    let mayRepeat = false;
    let count: number | undefined;
    for (;;) {
      const char = this.#peek();
      if (char === "?") mayLack = true;
      else if (char === "*") mayLack = mayRepeat = true;
      else if (char === "+") mayRepeat = true;
      else if (char === "{" && this.#isCount(1)) {
        const counts = /^\{([1-9]\d*|0)(?:,\d*)?\}/.exec(this.#chars.slice(this.#at).join(""));
        if (!counts) throw new Unsure();
        mayLack ||= counts[1] === "0";
        // A count of what is repeated itself says less than it seems.
        count = count === undefined && !mayRepeat && !counts[0].includes(",") ? Number(counts[1]) : undefined;
        mayRepeat = true;
        this.#at += counts[0].length - 1;
      } else if (mayLack) return { least: 0, exact: false, optional: !mayRepeat };
      else return { least: count ?? 1, exact: !mayRepeat || count !== undefined, optional: false };
      this.#at += 1;
      // Lazy or not, the same lines match.
      if (this.#peek() === "?") this.#at += 1;
    }
  }

  /** Whether a brace may begin a count: without a digit it stands for itself. */
  #isCount(ahead = 0): boolean {
    return /^\d$/.test(this.#chars[this.#at + ahead] ?? "");
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }
}

/**
 * Whether a character of a pattern matches itself alone, or, ignoring case, only letters that the index folds to the
 * same one: ASCII with its two guests `ſ` and `K`, and scripts that have no case.
 */
function isPlain(char: string, ignoreCase: boolean): boolean {
  if (char === "\0" || !char.isWellFormed()) return false;
  if (!ignoreCase || char <= "\u007F") return true;
  return char.toLowerCase() === char && char.toUpperCase() === char && /^\p{Lo}$/u.test(char);
}

function emptySequence(): Sequence {
  return { clauses: [], run: [""], whole: true, windows: [], window: new CharacterWindow() };
}

function endRun(sequence: Sequence): void {
  const { run, clauses } = sequence;
  // Where one of them is empty nothing has to be there.
  if (!run.includes("")) clauses.push(run);
  sequence.run = [""];
  sequence.whole = false;
}

function endWindow(sequence: Sequence): void {
  sequence.windows.push(sequence.window);
  sequence.window = new CharacterWindow();
}

function end(sequence: Sequence): void {
  endRun(sequence);
  endWindow(sequence);
}

function finish(sequence: Sequence): Said {
  const { whole, run } = sequence;
  end(sequence);
  const { clauses, windows } = sequence;
  return whole ? { clauses, windows, texts: run } : { clauses, windows };
}

/** The clause that says most: whose shortest literal is the longest. */
function bestOf(clauses: readonly string[][]): string[] | undefined {
  return clauses.toSorted((a, b) => shortest(b) - shortest(a))[0];
}

function shortest(clause: readonly string[]): number {
  return Math.min(...clause.map((literal) => literalLength(literal)));
}
