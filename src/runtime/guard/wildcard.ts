/** How the parts of a pattern relate to the items of a sequence. */
interface Parts<Part, Item> {
  /** Whether a part stands for any number of items. Every other part stands for one. */
  isStar(part: Part): boolean;
  fits(part: Part, item: Item): boolean;
}

/**
 * Whether a whole sequence fits a pattern. Takes at most pattern times sequence steps, whatever they hold: only the last
 * star is ever reconsidered, since what an earlier one could take instead, the last one can take too.
 */
export function fitsWildcard<Part extends NonNullable<unknown>, Item extends NonNullable<unknown>>(
  pattern: readonly Part[],
  items: readonly Item[],
  parts: Parts<Part, Item>,
): boolean {
  let part = 0;
  let next = 0;
  let star: { readonly part: number; end: number } | undefined;
  for (let item = items[next]; item !== undefined; item = items[next]) {
    const current = pattern[part];
    if (current !== undefined && parts.isStar(current)) {
      star = { part, end: next };
      part += 1;
    } else if (current !== undefined && parts.fits(current, item)) {
      part += 1;
      next += 1;
    } else if (star) {
      star.end += 1;
      part = star.part + 1;
      next = star.end;
    } else return false;
  }
  return pattern.slice(part).every((rest) => parts.isStar(rest));
}

const CHARACTERS: Parts<string, string> = {
  isStar: (part) => part === "*",
  fits: (part, character) => part === "?" || part === character,
};

/** Whether characters fit a pattern in which `*` stands for any characters and `?` for one. */
export function fitsGlob(pattern: readonly string[], characters: readonly string[]): boolean {
  return fitsWildcard(pattern, characters, CHARACTERS);
}
