import type { Limits } from "../runtime/protocol/limits.ts";
import { readableText } from "../runtime/workspace/text-file.ts";
import type { FileEntry } from "../runtime/workspace/workspace.ts";
import type { BlobText } from "./blob-store.ts";
import type { StoredContent } from "./file-contents.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** A search indexes no more files and bytes than these on its way, so that it stays one. */
const ADOPTED = 1_000;
const ADOPTED_BYTES = 16 * 1024 * 1024;

/**
 * Keeps the texts of contents that some branch's head names, so that a search need not ask R2. Equal contents share
 * one text. What is indexed is always right; what is not is read from R2 and may be indexed then.
 */
export class TextIndex {
  readonly #store: WorkspaceStore;
  readonly #limits: Limits;

  constructor(store: WorkspaceStore, limits: Limits) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Records a content, with its text where a head is to name it and its bytes are at hand. Answers whether its object is
   * the one that is used. A part of the transaction of the change. Writes 1 row for a new blob, and 2 for a text (see
   * TextStore).
   */
  record({ blob, bytes }: StoredContent, isNamed: boolean): boolean {
    const { blobs } = this.#store;
    const known = blobs.find(blob.sha256);
    if (bytes === undefined || !isNamed || blob.size > this.#limits.searchFileBytes) return blobs.add(blob);
    if (!known) blobs.addWithText(blob, this.#textOf(bytes));
    else if (known.text === null) blobs.setText(blob.sha256, this.#textOf(bytes));
    return !known;
  }

  /**
   * Takes the texts that one search of a branch had to read from R2: of old workspaces, of large uploads, of what was
   * restored. Each is a transaction of its own that writes up to 3 rows.
   */
  adopter(branch: string): (file: FileEntry, text: string | null) => void {
    let files = 0;
    let bytes = 0;
    return ({ path, sha256, size }, text) => {
      if (files >= ADOPTED || bytes + size > ADOPTED_BYTES || size > this.#limits.searchFileBytes) return;
      files += 1;
      bytes += size;
      this.#store.transaction(() => {
        const { blobs, branches, manifest, texts } = this.#store;
        // The file may have changed, and the content been indexed, since the search began.
        const isThere = manifest.find(branches.layers(branch), path)?.sha256 === sha256;
        if (!isThere || blobs.find(sha256)?.text !== null) return;
        blobs.setText(sha256, text === null ? "binary" : texts.add(text));
      });
    };
  }

  /**
   * Lets go of texts that no head names any more. A part of the transaction of the change. Reads 3 rows per content; more where branches were forked while it
   * stood. Writes 3 rows for each text that goes.
   */
  release(replaced: readonly FileEntry[]): void {
    const { blobs, texts } = this.#store;
    const heirs = new Heirs(this.#store);
    for (const file of replaced) {
      const blob = blobs.find(file.sha256);
      if (!blob?.text || blob.text === "binary") continue;
      if (this.#store.manifest.isHead(file.sha256) || heirs.name(file)) continue;
      texts.remove(blob.text);
      blobs.setText(file.sha256, null);
    }
  }

  #textOf(bytes: Uint8Array): BlobText {
    const text = readableText(bytes);
    return text === null ? "binary" : this.#store.texts.add(text);
  }
}

/** The branches that read a part of their files from the branches that they were forked from. */
class Heirs {
  readonly #store: WorkspaceStore;
  #branches: string[] | undefined;

  constructor(store: WorkspaceStore) {
    this.#store = store;
  }

  /** Whether one of them still has what is replaced elsewhere. */
  name({ path, sha256, version }: FileEntry): boolean {
    const { branches, manifest } = this.#store;
    this.#branches ??= branches.heirs();
    return this.#branches.some((branch) => {
      const layers = branches.layers(branch);
      const isOlder = layers.slice(1).some(({ through }) => through >= version);
      return isOlder && manifest.find(layers, path)?.sha256 === sha256;
    });
  }
}
