/** Some characters, as JavaScript's own regular expressions name them, each one code unit or one literal. */
export interface CharacterSet {
  readonly source: string;
  /** How much it says that a character is one of them, from 0. */
  readonly bits: number;
}

/** Letters beyond ASCII that are equal to one of ASCII when case is ignored. */
const GUESTS: Readonly<Record<string, string>> = { k: "\\u212A", s: "\\u017F" };

/** What a literal is worth: letters are not equally frequent. */
const LITERAL_BITS = 4;

/** Characters that a text is mostly made of. */
const COMMON_CHARS = 64;

/** More characters say no more, and each costs time. */
const MOST = 16;

/** Successive characters, of each of which it is known what it may be. */
export class CharacterWindow {
  #source = "";
  #length = 0;
  #isFull = false;
  /** How rare it is likely to be. */
  bits = 0;

  /**
   * A regular expression for JavaScript's own engine, which may be used for it: with no repetition and no alternative
   * in it, a place in the text costs no more than the window is long.
   */
  get source(): string {
    return this.#source;
  }

  /** Adds a character so many times. What is too long is cut: the rest is not looked for. */
  add({ source, bits }: CharacterSet, times: number): void {
    for (let count = 0; count < times && !this.#isFull; count += 1) {
      this.#source += source;
      this.bits += bits;
      this.#length += 1;
      this.#isFull = this.#length === MOST;
    }
  }
}

/** A character, in both cases where case is ignored. */
export function literalSet(char: string, ignoreCase: boolean): CharacterSet {
  return { source: ignoreCase ? anyCase(char) : escapeLiteral(char), bits: LITERAL_BITS };
}

/**
 * The inside of a class of RE2 that names characters of ASCII one by one or in ranges, or by `\d` and `\w`. Undefined
 * for any other.
 */
export function asciiSet(inside: string, ignoreCase: boolean): CharacterSet | undefined {
  const members = inside.replaceAll("\\d", "0-9").replaceAll("\\w", "0-9A-Za-z_");
  if (members === "" || !/^[A-Za-z0-9_ .,:;@#$%&=+*/<>'"!?(){}|-]+$/.test(members)) return undefined;
  const chars = new Set<string>();
  for (let at = 0; at < members.length; at += 1) {
    const isRange = members.charAt(at + 1) === "-" && at + 2 < members.length;
    const from = members.charCodeAt(at);
    const to = isRange ? members.charCodeAt(at + 2) : from;
    for (let code = from; code <= to; code += 1) chars.add(String.fromCharCode(code));
    if (isRange) at += 2;
  }
  const spelled = [...chars].map((char) => (ignoreCase ? spellings(char) : escapeLiteral(char)));
  const source = `[${spelled.join("")}]`;
  return { source, bits: Math.max(0, Math.log2(COMMON_CHARS / chars.size)) };
}

/** A character in all its spellings. Letters beyond ASCII are taken to have one alone. */
export function anyCase(char: string): string {
  return /^[A-Za-z]$/.test(char) ? `[${spellings(char)}]` : escapeLiteral(char);
}

/** The same as members of a class. */
function spellings(char: string): string {
  if (!/^[A-Za-z]$/.test(char)) return escapeLiteral(char);
  const lower = char.toLowerCase();
  return `${lower}${char.toUpperCase()}${GUESTS[lower] ?? ""}`;
}

export function escapeLiteral(char: string): string {
  return char.replace(/[\\.+*?()|[\]{}^$/-]/, "\\$&");
}
