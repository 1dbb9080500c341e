import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import { requireCanonicalFolder } from "../runtime/workspace/canonical-path.ts";
import { requireCounts } from "../runtime/workspace/counts.ts";
import { IGNORE_FILE, IgnoreRules } from "../runtime/workspace/ignore-rules.ts";
import { listFolder } from "../runtime/workspace/listing.ts";
import { linePattern } from "../runtime/workspace/line-pattern.ts";
import { pathFilter } from "../runtime/workspace/path-filter.ts";
import { compareCodeUnits } from "../runtime/workspace/path-order.ts";
import { grepFiles, searchFiles } from "../runtime/workspace/search.ts";
import { readableText } from "../runtime/workspace/text-file.ts";
import type {
  FileContent,
  FileEntry,
  ListEntry,
  Listing,
  ListOptions,
  SearchQuery,
  SearchResult,
} from "../runtime/workspace/workspace.ts";
import { BranchView } from "./branch-view.ts";
import type { FileContents } from "./file-contents.ts";
import type { ByteRange } from "./object-storage.ts";
import { searchableFiles } from "./searchable-files.ts";
import type { TextIndex } from "./text-index.ts";
import { trigramQuery } from "./trigram-query.ts";
import { RPC_BYTES } from "./workspace-api.ts";
import type { BranchAt } from "./workspace-api.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** What the workspace's readers ask. Errors are those of the runtime's `Workspace`. */
export class BranchReader {
  readonly #store: WorkspaceStore;
  readonly #contents: FileContents;
  readonly #index: TextIndex;
  readonly #limits: Limits;

  constructor(parts: { store: WorkspaceStore; contents: FileContents; index: TextIndex; limits: Limits }) {
    this.#store = parts.store;
    this.#contents = parts.contents;
    this.#index = parts.index;
    this.#limits = parts.limits;
  }

  view(at: BranchAt): BranchView {
    return new BranchView(this.#store, at);
  }

  /** A directory costs a read of all files below it, the root the row of the last version. */
  stat(at: BranchAt, path: string): ListEntry | null {
    requireCanonicalFolder(path);
    const view = this.view(at);
    if (path === "") return { kind: "directory", path, files: view.totals().files };
    const file = view.file(path);
    if (file) return { kind: "file", ...file };
    const files = view.count(path);
    return files === 0 ? null : { kind: "directory", path, files };
  }

  async list(at: BranchAt, path: string, options: ListOptions): Promise<Listing> {
    requireCanonicalFolder(path);
    requireCounts({ depth: options.depth }, 1);
    requireCounts({ limit: options.limit });
    const view = this.view(at);
    if (path !== "" && view.file(path)) {
      throw new LightAgentError("invalid_path", "The path is that of a file.", { path });
    }
    view.requireSomething(path);
    if (!options.hideIgnored) return listFolder(view.files(path), path, options);
    // Rules of the folders above count too.
    const files = view.files("");
    return listFolder(files, path, options, (await this.#ignoreRules(files)).hides(path));
  }

  async read(at: BranchAt, path: string, range: ByteRange): Promise<FileContent> {
    requireCanonicalFolder(path);
    requireCounts({ ...range });
    const entry = this.view(at).requireFile(path);
    const { offset, length } = range;
    const bytes = await this.#contents.read(entry.sha256, { offset, length: Math.min(length, RPC_BYTES) });
    return { entry, bytes };
  }

  /**
   * Reads 2 rows per file below the path, one more per file of the branch where ignored files are hidden, then the texts that may match: from the index, or from R2 those that are not
   * indexed yet, which it then indexes.
   */
  async search(branch: string, query: SearchQuery): Promise<SearchResult> {
    const { path = "", kind } = query;
    requireCanonicalFolder(path);
    const matches = await pathFilter(query, this.#limits);
    const pattern = kind === "grep" ? await linePattern(query, this.#limits) : null;
    const rules = query.hideIgnored
      ? await this.#ignoreRules(this.view({ branch }).named(IGNORE_FILE))
      : undefined;
    const view = this.view({ branch });
    const file = path === "" ? undefined : view.file(path);
    if (file && kind === "glob") {
      throw new LightAgentError("invalid_path", "The path is that of a file.", { path });
    }
    view.requireSomething(path);
    const hides = (!file && rules?.hides(path)) || ((): boolean => false);
    const isAsked = (other: string): boolean => matches(other) && !hides(other);
    const chosen = <File extends FileEntry>(files: File[]): File[] =>
      files.filter((candidate) => isAsked(candidate.path)).sort((a, b) => compareCodeUnits(a.path, b.path));
    if (!pattern) return searchFiles(query, chosen(view.files(path)).map(withoutText), this.#limits);
    const trigrams = trigramQuery(pattern.literals);
    const holding = trigrams === null ? null : this.#store.texts.holding(trigrams);
    const files = searchableFiles(chosen(view.searched(path, holding && holding.keys())), {
      texts: this.#store.texts,
      // Lines around a match may be in parts that hold none.
      parts: query.context ? null : holding,
      contents: this.#contents,
      maxBytes: this.#limits.searchFileBytes,
      adopt: this.#index.adopter(branch),
    });
    return grepFiles(query, pattern, files, this.#limits);
  }

  async #ignoreRules(files: readonly FileEntry[]): Promise<IgnoreRules> {
    const hashes = new Map(files.map((file) => [file.path, file.sha256]));
    return IgnoreRules.load(hashes.keys(), async (path) => {
      const sha256 = hashes.get(path) ?? "";
      const indexed = this.#indexedText(sha256);
      if (indexed !== undefined) return indexed;
      const range = { offset: 0, length: IGNORE_FILE_BYTES };
      return readableText(await this.#contents.read(sha256, range));
    });
  }

  /** The text of a content as the index has it: null for a binary one, undefined where it is not indexed. */
  #indexedText(sha256: string): string | null | undefined {
    const text = this.#store.blobs.find(sha256)?.text;
    if (!text) return undefined;
    return text === "binary" ? null : this.#store.texts.read(text);
  }
}

/** More of an ignore file is not read: its rules become one automaton. */
const IGNORE_FILE_BYTES = 64 * 1024;

function withoutText({ path, size }: FileEntry): { path: string; size: number; text: () => null } {
  return { path, size, text: () => null };
}
