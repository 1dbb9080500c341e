import type { Limits } from "../protocol/limits.ts";
import type { MaybePromise } from "../protocol/time.ts";
import { requireCounts } from "./counts.ts";
import { linePattern } from "./line-pattern.ts";
import type { LinePattern } from "./line-pattern.ts";
import { pathFilter } from "./path-filter.ts";
import type { PathFilter } from "./path-filter.ts";
import { shownLine } from "./shown-line.ts";
import { linesOf } from "./text-file.ts";
import type { SearchMatch, SearchQuery, SearchResult } from "./workspace.ts";

/** A file as a search sees it. */
export interface SearchableFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** Called only when the file is to be searched, and once. Null for a binary file. */
  text(): MaybePromise<string | null>;
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
      else this.#searchText(file.path, text);
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

  #searchText(path: string, text: string): void {
    if (!this.#pattern.mayMatch(text)) return;
    const lines = linesOf(text);
    for (const [index, line] of lines.entries()) {
      if (!this.#pattern.matches(line)) continue;
      const full = this.#matches.length >= this.#limit || this.#shownChars > this.#limits.searchResultChars;
      if (full) {
        this.#more = true;
        return;
      }
      this.#add(path, lines, index);
    }
  }

  #add(path: string, lines: readonly string[], index: number): void {
    const cut = (line: string): string => shownLine(line, 0, this.#limits.searchLineChars);
    const line = lines[index] ?? "";
    // Only a cut needs to know where the match is.
    const start = line.length > this.#limits.searchLineChars ? this.#pattern.matchStart(line) : 0;
    const text = shownLine(line, start, this.#limits.searchLineChars);
    const before = lines.slice(Math.max(0, index - this.#context), index).map(cut);
    const after = lines.slice(index + 1, index + 1 + this.#context).map(cut);
    for (const shown of [path, text, ...before, ...after]) this.#shownChars += shown.length;
    this.#matches.push({ path, line: index + 1, text, ...(this.#context > 0 ? { before, after } : {}) });
  }
}
