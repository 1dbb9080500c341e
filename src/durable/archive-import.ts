import PQueue from "p-queue";
import type { ParsedTarEntry } from "modern-tar";
import { LightAgentError, isLightAgentError } from "../runtime/protocol/errors.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import { canonicalPath } from "../runtime/workspace/canonical-path.ts";
import type { PlannableChange } from "../runtime/workspace/change-plan.ts";
import type { Changed } from "../runtime/workspace/workspace.ts";
import { BranchView } from "./branch-view.ts";
import type { BranchWriter } from "./branch-writer.ts";
import type { FileContents, StoredContent } from "./file-contents.ts";
import type { TextIndex } from "./text-index.ts";
import { concatenate } from "./upload-chunks.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

/** Small files that are stored at once: a Worker has six connections. */
const STORES_AT_ONCE = 6;

/** A file up to here is gathered, so that the archive is read on while it is stored. */
const GATHERED_BYTES = 1024 * 1024;

/** So many bytes of contents wait for their place in the index at most. */
const INDEXED_BYTES = 8 * 1024 * 1024;

/** Entries that carry no content of a file, and nothing that is missed. */
const PASSED_OVER = new Set(["directory", "pax-global-header"]);

export interface ArchiveImportParts {
  readonly store: WorkspaceStore;
  readonly contents: FileContents;
  readonly index: TextIndex;
  readonly writer: BranchWriter;
  readonly limits: Limits;
  /** Something may have been stored that nothing names. */
  readonly changed: () => void;
}

/** What an import has made; `paths` are those that were not there already. */
export interface Imported extends Changed {
  /** Of the archive. */
  readonly files: number;
}

/**
 * Puts the files of a tar into a branch as one version: files that the archive does not name stay. The archive is read
 * as it comes; contents and their texts are stored on the way, where the sweep finds them if the import comes to nothing.
 */
export class ArchiveImport {
  readonly #parts: ArchiveImportParts;
  readonly #stores = new PQueue({ concurrency: STORES_AT_ONCE });
  /** By path: the last entry of a path counts. */
  readonly #files = new Map<string, StoredContent>();
  #bytes = 0;
  #unindexed: StoredContent[] = [];
  #unindexedBytes = 0;
  #failure: { readonly reason: unknown } | null = null;

  constructor(parts: ArchiveImportParts) {
    this.#parts = parts;
  }

  /**
   * @throws invalid_request for what is no whole tar, or holds a link or a device; invalid_path, file_too_large,
   *   workspace_full, unavailable; then nothing has changed
   */
  async run(body: ReadableStream<Uint8Array>, branch: string, by: Principal): Promise<Imported> {
    try {
      await this.#read(body);
      await this.#stores.onIdle();
      if (this.#failure) throw this.#failure.reason;
      this.#index();
      if (this.#files.size === 0) throw new LightAgentError("invalid_request", "The archive holds no file.");
      return { files: this.#files.size, ...(await this.#commit(branch, by)) };
    } catch (caught) {
      await this.#stores.onIdle();
      this.#parts.contents.letGo([...this.#files.values()]);
      this.#parts.changed();
      throw caught;
    }
  }

  /** Nothing waits before the transaction: what is there already is no change. */
  async #commit(branch: string, by: Principal): Promise<Changed> {
    const view = new BranchView(this.#parts.store, { branch });
    const changes = [...this.#files].flatMap(([path, { blob }]): PlannableChange[] => {
      const { sha256, size } = blob;
      return view.file(path)?.sha256 === sha256 ? [] : [{ kind: "write", path, sha256, size }];
    });
    const contents = [...this.#files.values()];
    if (changes.length > 0) return this.#parts.writer.commit({ branch, writer: { by }, changes }, contents);
    this.#parts.contents.letGo(contents);
    return { version: view.totals().version, paths: [] };
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const { createTarDecoder } = await import("modern-tar");
    const entries = body.pipeThrough(createTarDecoder({ strict: true })).getReader();
    try {
      for (;;) {
        const { done, value } = await entries.read();
        if (done || this.#failure) break;
        await this.#take(value);
      }
    } catch (caught) {
      if (isLightAgentError(caught)) throw caught;
      throw new LightAgentError("invalid_request", "The body is not a whole tar archive.", undefined, {
        cause: caught,
      });
    } finally {
      await entries.cancel().catch(() => undefined);
    }
  }

  async #take({ header, body }: ParsedTarEntry): Promise<void> {
    const { type = "file", size, name } = header;
    if (PASSED_OVER.has(type)) return body.cancel();
    if (type !== "file") {
      throw new LightAgentError("invalid_request", `An archive holds files and folders, no ${type}.`);
    }
    const { fileBytes, workspaceFiles, workspaceBytes } = this.#parts.limits;
    const path = canonicalPath(name.replace(/^(?:\.\/)+/, ""));
    if (size > fileBytes) {
      throw new LightAgentError("file_too_large", `A file may have ${fileBytes} bytes.`, {
        maxBytes: fileBytes,
      });
    }
    this.#bytes += size;
    // More cannot fit, whatever is there; the transaction counts exactly.
    if (this.#files.size >= workspaceFiles || this.#bytes > workspaceBytes) {
      throw new LightAgentError("workspace_full", "The archive is larger than a workspace may be.");
    }
    if (size > GATHERED_BYTES) {
      return this.#keep(
        path,
        await this.#parts.contents.receive(body, { length: size, maxBytes: fileBytes }),
      );
    }
    const bytes = await gather(body, size);
    await this.#stores.onSizeLessThan(STORES_AT_ONCE);
    void this.#stores.add(async () => {
      try {
        this.#keep(path, await this.#parts.contents.store(bytes, await sha256Hex(bytes)));
      } catch (reason) {
        this.#failure ??= { reason };
      }
    });
  }

  #keep(path: string, content: StoredContent): void {
    const before = this.#files.get(path);
    if (before) this.#parts.contents.letGo([before]);
    this.#files.set(path, content);
    if (!content.bytes) return;
    this.#unindexed.push(content);
    this.#unindexedBytes += content.bytes.length;
    if (this.#unindexedBytes >= INDEXED_BYTES) this.#index();
  }

  /** Records contents with their texts, so that they need not stay in memory until the version is made. */
  #index(): void {
    const { store, index, contents } = this.#parts;
    const recorded = new Set(this.#unindexed);
    const superfluous: StoredContent[] = [];
    store.transaction(() => {
      for (const content of recorded)
        if (!index.record(content, true) && content.written) superfluous.push(content);
    });
    void contents.discard(superfluous.map(({ blob }) => blob));
    for (const [path, content] of this.#files) {
      if (!recorded.has(content)) continue;
      // Known from here on, and no longer this import's to remove.
      const { blob, held, release } = content;
      release();
      this.#files.set(path, { blob, written: false, held, release });
    }
    this.#unindexed = [];
    this.#unindexedBytes = 0;
  }
}

async function gather(body: ReadableStream<Uint8Array>, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return concatenate(chunks, size);
}
