import type { SearchableFile, TextPart } from "../runtime/workspace/search.ts";
import { readableText } from "../runtime/workspace/text-file.ts";
import type { FileEntry } from "../runtime/workspace/workspace.ts";
import type { FileContents } from "./file-contents.ts";
import type { SearchedFile } from "./manifest-store.ts";
import { rowsOf } from "./text-store.ts";
import type { TextStore } from "./text-store.ts";

/** Files whose contents are fetched ahead of the search: a Worker has six connections. */
const AHEAD = 6;

/** No more bytes than these are fetched ahead, unless the next file alone is larger. */
const AHEAD_BYTES = 16 * 1024 * 1024;

/** Texts that one statement reads from the index, and about how many bytes. */
const BATCH = 64;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Where the texts of a search come from. */
export interface TextSources {
  readonly texts: TextStore;
  /** The parts that may hold a match, by the first row of their text; null where whole texts are asked for. */
  readonly parts: ReadonlyMap<number, readonly number[]> | null;
  readonly contents: FileContents;
  /** A larger file is not fetched before it is asked for, in bytes. */
  readonly maxBytes: number;
  /** Takes the text of a file that is not indexed; null for a binary one. */
  adopt(file: SearchedFile, text: string | null): void;
}

/**
 * Files as a search reads them, one after the other: texts of the index in batches, and from R2 those that it has not,
 * while the contents of the next ones are on their way.
 */
export function* searchableFiles(
  files: readonly SearchedFile[],
  sources: TextSources,
): Generator<SearchableFile, undefined, undefined> {
  const indexed = indexedTexts(files, sources);
  const fetched = contentsAhead(files, sources);
  for (const [index, file] of files.entries()) {
    const { path, size } = file;
    const fromStorage = file.text === null ? fetched(file) : null;
    const text = async (): Promise<string | null> => {
      const bytes = await (fromStorage ?? whole(file, sources.contents));
      const read = readableText(bytes);
      if (file.text === null) sources.adopt(file, read);
      return read;
    };
    if (file.text === "binary") yield { path, size, text: () => null };
    // A text that has left the index meanwhile still lies in R2.
    else if (file.text) yield { path, size, text: () => indexed(index) ?? text() };
    else yield { path, size, text };
  }
}

/** Reads what is asked for of the n-th file's text from the index, and with it those of the next ones. */
function indexedTexts(
  files: readonly SearchedFile[],
  { texts, parts }: Pick<TextSources, "texts" | "parts">,
): (at: number) => string | TextPart[] | undefined {
  let batch = new Map<number, TextPart>();
  let end = 0;
  const askedOf = (file: SearchedFile | undefined): readonly number[] => {
    if (!file?.text || file.text === "binary") return [];
    return parts?.get(file.text.first) ?? rowsOf(file.text);
  };
  return (at) => {
    if (at >= end) {
      const rows: number[] = [];
      let bytes = 0;
      for (end = at; end < files.length && end < at + BATCH; end += 1) {
        bytes += bytesOf(files[end], askedOf(files[end]).length);
        if (rows.length > 0 && bytes > BATCH_BYTES) break;
        rows.push(...askedOf(files[end]));
      }
      batch = texts.parts(rows);
    }
    const read = askedOf(files[at]).map((row) => batch.get(row));
    const known = read.filter((part) => part !== undefined);
    if (known.length < read.length) return undefined;
    return parts ? known : known.map(({ text }) => text).join("");
  };
}

/** About the bytes of so many parts of a file. */
function bytesOf(file: SearchedFile | undefined, asked: number): number {
  if (!file?.text || file.text === "binary") return 0;
  return (file.size * asked) / file.text.rows;
}

/** Fetches the files that are not indexed in their order, some of them ahead. */
function contentsAhead(
  files: readonly SearchedFile[],
  { contents, maxBytes }: TextSources,
): (file: SearchedFile) => Promise<Uint8Array> | null {
  const pending = files.filter((file) => file.text === null);
  const fetching = new Map<SearchedFile, Promise<Uint8Array>>();
  let asked = 0;
  let ahead = 0;
  let bytes = 0;
  return (file) => {
    for (; ahead < pending.length && ahead < asked + AHEAD; ahead += 1) {
      const next = pending[ahead];
      if (!next || (ahead > asked && bytes + next.size > AHEAD_BYTES)) break;
      if (next.size > maxBytes) continue;
      const fetch = whole(next, contents);
      // A search that ends early leaves it; a failure counts only where the text is asked for.
      fetch.catch(() => {});
      fetching.set(next, fetch);
      bytes += next.size;
    }
    asked += 1;
    const found = fetching.get(file) ?? null;
    if (fetching.delete(file)) bytes -= file.size;
    return found;
  };
}

async function whole({ sha256, size }: FileEntry, contents: FileContents): Promise<Uint8Array> {
  return contents.read(sha256, { offset: 0, length: size });
}
