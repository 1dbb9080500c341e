import { withLineFeeds } from "../runtime/workspace/text-file.ts";

/**
 * A text that is searched and changed as if all its lines ended in a line feed alone, as models see and write them,
 * while untouched lines keep the ends that they have. A byte order mark stays where it is, too.
 */
export class EditableText {
  /** With line feeds alone. */
  readonly text: string;
  readonly #raw: string;
  /** Where in {@link text} a carriage return was left out, ascending. */
  readonly #returns: readonly number[];

  constructor(raw: string) {
    this.#raw = raw;
    this.text = withLineFeeds(raw);
    const returns: number[] = [];
    for (let at = raw.indexOf("\r\n"); at >= 0; at = raw.indexOf("\r\n", at + 2))
      returns.push(at - returns.length);
    this.#returns = returns;
  }

  get raw(): string {
    return this.#raw;
  }

  /** Every place where the text has `wanted`; places may overlap. */
  places(wanted: string): number[] {
    const places: number[] = [];
    for (let at = this.text.indexOf(wanted); at >= 0; at = this.text.indexOf(wanted, at + 1)) places.push(at);
    return places;
  }

  /** The text with `length` characters at each of some places, ascending and apart, replaced. New lines end like most. */
  replaced(places: readonly number[], length: number, replacement: string): EditableText {
    const ending = this.#endsInReturns() ? replacement.replaceAll("\n", "\r\n") : replacement;
    let result = "";
    let kept = 0;
    for (const place of places) {
      result += this.#raw.slice(kept, this.#rawIndex(place)) + ending;
      kept = this.#rawIndex(place + length);
    }
    return new EditableText(result + this.#raw.slice(kept));
  }

  #endsInReturns(): boolean {
    const feeds = this.text.split("\n").length - 1;
    return this.#returns.length * 2 > feeds;
  }

  /** Where in the raw text an index of {@link text} is; that of a line feed is where its carriage return is. */
  #rawIndex(index: number): number {
    let low = 0;
    let high = this.#returns.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#returns[middle] ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return index + low;
  }
}
