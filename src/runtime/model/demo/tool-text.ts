/** A line that a search found. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** The hits in the text of a search: lines of the form `path:line:text`. Everything else in it is skipped. */
export function hitsIn(text: string): Hit[] {
  return text.split(/\r?\n/).flatMap((row) => {
    const match = /^([^[:][^:]*):(\d+):(.*)$/.exec(row);
    const [, path, line, found] = match ?? [];
    return path === undefined || line === undefined ? [] : [{ path, line: Number(line), text: found ?? "" }];
  });
}

/** The numbered lines in the text of a file that was read: `12 | text`. */
export function numberedLinesIn(text: string): { line: number; text: string }[] {
  return text.split(/\r?\n/).flatMap((row) => {
    const match = /^\s*(\d+) \|(?: (.*)|)$/.exec(row);
    return match ? [{ line: Number(match[1]), text: match[2] ?? "" }] : [];
  });
}

/** Extensions of the files that a listing names, without those that hold no code of anybody's. */
export function extensionsIn(listing: string): string[] {
  const names = listing.matchAll(/[\p{L}\p{N}_)\]-]\.([A-Za-z][A-Za-z0-9+]{0,9})(?=[\s,;:()"'`]|$)/gu);
  const found = new Set([...names].map((match) => (match[1] ?? "").toLowerCase()));
  return [...found].filter((extension) => SOURCES.has(extension)).sort();
}

/** Whether a path is that of a test: a definition there is rarely the one that is meant. */
export function isTest(path: string): boolean {
  return /(?:^|[/._-])(?:tests?|spec|__tests__|fixtures?)(?:[/._-]|$)/i.test(path);
}

const SOURCES = new Set(
  (
    "astro bash c cc clj cljs cpp cs css cts cxx dart el elm ex exs fs gd go graphql groovy h hpp hs html java jl js " +
    "json jsx kt kts lisp lua m mjs ml mm mts nim nix php pl pm proto ps1 py pyi r rb rs scala scm sh sol sql svelte " +
    "swift tf toml ts tsx vb vue yaml yml zig zsh"
  ).split(" "),
);
