import type { Limits } from "../protocol/limits.ts";
import type { MaybePromise } from "../protocol/time.ts";
import { requireCounts } from "./counts.ts";
import { linePattern } from "./line-pattern.ts";
import type { LinePattern } from "./line-pattern.ts";
import { pathFilter } from "./path-filter.ts";
import type { PathFilter } from "./path-filter.ts";
import { shownLine } from "./shown-line.ts";
import { lineAt, linesBefore, linesBetween, linesFrom } from "./text-file.ts";
import type { TextLine } from "./text-file.ts";
import type { SearchMatch, SearchQuery, SearchResult } from "./workspace.ts";

/** A part of a text: whole lines, the first of which has this number. */
export interface TextPart {
  readonly line: number;
  readonly text: string;
}

/** A file as a search sees it. */
export interface SearchableFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /**
   * Called only when the file is to be searched, and once. Null for a binary file. For a search without context it may
   * leave parts out that certainly hold no match; the others come in order.
   */
  text(): MaybePromise<string | readonly TextPart[] | null>;
}

type Files = Iterable<SearchableFile> | AsyncIterable<SearchableFile>;

/**
 * Searches files, which come in code-unit order of their paths and may be all of the workspace. What a query does not
 * need is not read: other files, those after the limit, those beyond what may be scanned.
 * @throws LightAgentError `invalid_pattern`, `invalid_request`
 */
export async function searchFiles(query: SearchQuery, files: Files, limits: Limits): Promise<SearchResult> {
  requireCounts({ limit: query.limit, context: query.context });
  const filter = await pathFilter(query, limits);
  if (query.kind === "glob") return globFiles(files, filter, matchLimit(query, limits));
  const pattern = await linePattern(query, limits);
  return new Grep(query, pattern, limits).run(files, filter);
}

/**
 * The same for a grep whose pattern is compiled already, over those files that it is about.
 * @throws LightAgentError `invalid_request`
 */
export async function grepFiles(
  query: SearchQuery,
  pattern: LinePattern,
  files: Files,
  limits: Limits,
): Promise<SearchResult> {
  requireCounts({ limit: query.limit, context: query.context });
  return new Grep(query, pattern, limits).run(files, () => true);
}

function matchLimit(query: SearchQuery, limits: Limits): number {
  return Math.min(query.limit ?? limits.searchMatches, limits.searchMatchesMax);
}

async function globFiles(files: Files, filter: PathFilter, limit: number): Promise<SearchResult> {
  const paths: string[] = [];
  for await (const { path } of files) {
    if (!filter(path)) continue;
    if (paths.length === limit) return { paths, more: true };
    paths.push(path);
  }
  return { paths, more: false };
}

/** One grep over many files. */
class Grep {
  readonly #pattern: LinePattern;
  readonly #limits: Limits;
  readonly #limit: number;
  readonly #context: number;
  readonly #matches: SearchMatch[] = [];
  readonly #notSearched: { path: string; reason: string }[] = [];
  #notSearchedCount = 0;
  #scannedBytes = 0;
  #shownChars = 0;
  #more = false;

  constructor(query: SearchQuery, pattern: LinePattern, limits: Limits) {
    this.#pattern = pattern;
    this.#limits = limits;
    this.#limit = matchLimit(query, limits);
    this.#context = Math.min(query.context ?? 0, limits.searchContextLines);
  }

  async run(files: Files, filter: PathFilter): Promise<SearchResult> {
    for await (const file of files) {
      if (!filter(file.path)) continue;
      const refused = this.#refusal(file);
      const text = refused ? null : await file.text();
      if (text === null) this.#skip(file.path, refused ?? "binary");
      else if (typeof text === "string") this.#searchText(file.path, text, 1);
      else for (const part of text) this.#searchText(file.path, part.text, part.line);
      if (this.#more) break;
    }
    const count = this.#notSearchedCount;
    const skipped = count === 0 ? {} : { notSearched: this.#notSearched, notSearchedCount: count };
    return { matches: this.#matches, more: this.#more, ...skipped };
  }

  /** Why a file is not read. Counts those that are. */
  #refusal({ size }: SearchableFile): string | undefined {
    const { searchFileBytes, searchScanBytes, searchWork } = this.#limits;
    if (size > searchFileBytes) return `larger than ${searchFileBytes} bytes`;
    const scanned = this.#scannedBytes + size;
    if (scanned > searchScanBytes) return `the search had read ${searchScanBytes} bytes`;
    if (scanned * this.#pattern.work > searchWork) return "the pattern is too complex to search so much text";
    this.#scannedBytes = scanned;
    return undefined;
  }

  #skip(path: string, reason: string): void {
    this.#notSearchedCount += 1;
    if (this.#notSearched.length < this.#limits.searchUnsearchedNamed)
      this.#notSearched.push({ path, reason });
  }

  #searchText(path: string, text: string, firstLine: number): void {
    let number = firstLine;
    let counted = 0;
    for (let at = 0; at < text.length;) {
      const found = this.#pattern.next(text, at);
      if (found < 0) return;
      const line = lineAt(text, found);
      at = line.next;
      if (!this.#pattern.matches(line.text)) continue;
      const full = this.#matches.length >= this.#limit || this.#shownChars > this.#limits.searchResultChars;
      if (full) {
        this.#more = true;
        return;
      }
      number += linesBetween(text, counted, line.begin);
      counted = line.begin;
      this.#add(path, text, line, number);
    }
  }

  #add(path: string, whole: string, line: TextLine, number: number): void {
    const cut = (other: string): string => detached(shownLine(other, 0, this.#limits.searchLineChars));
    // Only a cut needs to know where the match is.
    const start = line.text.length > this.#limits.searchLineChars ? this.#pattern.matchStart(line.text) : 0;
    const text = detached(shownLine(line.text, start, this.#limits.searchLineChars));
    const before = linesBefore(whole, line.begin, this.#context).map(cut);
    const after = linesFrom(whole, line.next, this.#context).map(cut);
    for (const shown of [path, text, ...before, ...after]) this.#shownChars += shown.length;
    this.#matches.push({ path, line: number, text, ...(this.#context > 0 ? { before, after } : {}) });
  }
}

/** The same characters in memory of their own: a part of a text keeps all of the text alive. */
function detached(part: string): string {
  return ` ${part}`.slice(1);
}
