import type { SearchQuery } from "./workspace.ts";

/**
 * What every line that a pattern matches contains: of each clause at least one literal. No clause says nothing. With
 * `ignoreCase` a literal is contained in some spelling of it, upper or lower case.
 */
export interface RequiredLiterals {
  readonly clauses: readonly (readonly string[])[];
  readonly ignoreCase: boolean;
}

/** A branch of an alternation on the way: the clauses so far and the literal that is being read. */
interface Sequence {
  clauses: string[][];
  run: string;
}

/** What one item of a pattern adds: a character, clauses, or nothing that is known. */
type Item = { readonly char: string } | { readonly clauses: string[][] };

const UNKNOWN: Item = { clauses: [] };

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
    return { clauses: fixed ? reader.fixed() : reader.alternation(), ignoreCase };
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
  fixed(): string[][] {
    const sequence: Sequence = { clauses: [], run: "" };
    for (const char of this.#chars) this.#append(sequence, { char }, 1);
    return finish(sequence);
  }

  /** Up to the end or the parenthesis that closes the group. */
  alternation(): string[][] {
    const branches = [this.#sequence()];
    while (this.#peek() === "|") {
      this.#at += 1;
      branches.push(this.#sequence());
    }
    const [only, ...others] = branches;
    if (only && others.length === 0) return only;
    const best = branches.map((clauses) => bestOf(clauses));
    return best.some((clause) => clause === undefined) ? [] : [best.flatMap((clause) => clause ?? [])];
  }

  #sequence(): string[][] {
    const sequence: Sequence = { clauses: [], run: "" };
    for (let next = this.#peek(); next !== undefined && next !== "|" && next !== ")"; next = this.#peek()) {
      const item = this.#item(next);
      this.#append(sequence, item, this.#repetition());
    }
    return finish(sequence);
  }

  #append(sequence: Sequence, item: Item, times: "any" | "some" | 1): void {
    if ("char" in item && isPlain(item.char, this.#ignoreCase)) {
      if (times !== "any") sequence.run += item.char;
      if (times === 1) return;
      end(sequence);
      // The last of the repeated characters stands before what follows.
      if (times === "some") sequence.run = item.char;
      return;
    }
    end(sequence);
    if ("clauses" in item && times !== "any") sequence.clauses.push(...item.clauses);
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
    const clauses = this.alternation();
    if (this.#peek() !== ")") throw new Unsure();
    this.#at += 1;
    return { clauses };
  }

  /** Finds the end of a class; its characters are not looked at. */
  #class(): Item {
    if (this.#peek() === "^") this.#at += 1;
    for (let first = true; first || this.#peek() !== "]"; first = false) {
      const char = this.#peek();
      if (char === undefined || (char === "[" && this.#chars[this.#at + 1] === ":")) throw new Unsure();
      this.#at += char === "\\" ? 2 : 1;
    }
    this.#at += 1;
    return UNKNOWN;
  }

  #escape(): Item {
    const char = this.#peek() ?? "";
    this.#at += 1;
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

  /** How often the item before may stand: `some` is at least once. */
  #repetition(): "any" | "some" | 1 {
    let mayLack = false;
    let mayRepeat = false;
    for (;;) {
      const char = this.#peek();
      if (char === "*" || char === "?") mayLack = true;
      else if (char === "+") mayRepeat = true;
      else if (char === "{" && this.#isCount(1)) {
        const counts = /^\{([1-9]\d*|0)(?:,\d*)?\}/.exec(this.#chars.slice(this.#at).join(""));
        if (!counts) throw new Unsure();
        mayLack ||= counts[1] === "0";
        mayRepeat = true;
        this.#at += counts[0].length - 1;
      } else if (mayLack) return "any";
      else return mayRepeat ? "some" : 1;
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

function end(sequence: Sequence): void {
  if (sequence.run !== "") sequence.clauses.push([sequence.run]);
  sequence.run = "";
}

function finish(sequence: Sequence): string[][] {
  end(sequence);
  return sequence.clauses;
}

/** The clause that says most: whose shortest literal is the longest. */
function bestOf(clauses: readonly string[][]): string[] | undefined {
  return clauses.toSorted((a, b) => shortest(b) - shortest(a))[0];
}

function shortest(clause: readonly string[]): number {
  return Math.min(...clause.map((literal) => literalLength(literal)));
}
