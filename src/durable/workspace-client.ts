import { LightAgentError } from "../runtime/protocol/errors.ts";
import type {
  Changed,
  FileChange,
  FileContent,
  ListEntry,
  Listing,
  ListOptions,
  SearchQuery,
  SearchResult,
  Workspace,
} from "../runtime/workspace/workspace.ts";
import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import type { OpenWorkspace, WorkspaceSource } from "../runtime/workspace/workspace-source.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import { RPC_BYTES } from "./workspace-api.ts";
import type { BranchAt, WorkspaceApi } from "./workspace-api.ts";

/** The workspace behind a Workspace object's stub, as the runtime sees it. */
export function createWorkspaceSource(api: WorkspaceApi): WorkspaceSource {
  return {
    open: (options) => new RemoteWorkspace(api, options),
    async fork(branch, { branch: from = MAIN_BRANCH, version } = {}) {
      unwrap(await api.fork(branch, { branch: from, ...(version !== undefined && { version }) }));
    },
  };
}

class RemoteWorkspace implements Workspace {
  readonly #api: WorkspaceApi;
  readonly #options: OpenWorkspace;
  readonly #branch: string;

  constructor(api: WorkspaceApi, options: OpenWorkspace) {
    this.#api = api;
    this.#options = options;
    this.#branch = options.branch ?? MAIN_BRANCH;
  }

  async version(): Promise<number> {
    return await answered(this.#api.version(this.#at()));
  }

  async stat(path: string): Promise<ListEntry | null> {
    return await answered(this.#api.stat(this.#at(), path));
  }

  async list(path: string, options: ListOptions): Promise<Listing> {
    return await answered(this.#api.list(this.#at(), path, options));
  }

  /** A long content comes in several calls; when the file changes meanwhile, from the beginning. */
  async read(path: string, range = { offset: 0, length: Number.MAX_SAFE_INTEGER }): Promise<FileContent> {
    const first = await answered(this.#api.read(this.#at(), path, range));
    const { entry } = first;
    const length = Math.max(0, Math.min(range.length, entry.size - range.offset));
    if (first.bytes.length === length) return first;
    const bytes = new Uint8Array(length);
    bytes.set(first.bytes);
    for (let filled = first.bytes.length; filled < length;) {
      const rest = { offset: range.offset + filled, length: length - filled };
      const next = await answered(this.#api.read(this.#at(), path, rest));
      if (next.entry.sha256 !== entry.sha256) return this.read(path, range);
      bytes.set(next.bytes, filled);
      filled += next.bytes.length;
    }
    return { entry, bytes };
  }

  async change(changes: readonly FileChange[]): Promise<Changed> {
    this.#requireHead("changed");
    const size = changes.reduce(
      (sum, change) => sum + (change.kind === "write" ? change.bytes.length : 0),
      0,
    );
    if (size > RPC_BYTES) {
      const message = `The files of one change may have ${RPC_BYTES} bytes together.`;
      throw new LightAgentError("file_too_large", message, { maxBytes: RPC_BYTES });
    }
    let answer: Answer<Changed>;
    try {
      answer = await this.#api.change(this.#branch, this.#options.writer, changes);
    } catch (cause) {
      return this.#madeAfterAll(cause);
    }
    return unwrap(answer);
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    this.#requireHead("searched");
    return await answered(this.#api.search(this.#branch, query));
  }

  async outcome(callId: string): Promise<Changed | null> {
    return await answered(this.#api.outcome(this.#options.writer, callId));
  }

  /** The object went away while it was at work: it may have made the change, or be making it still. */
  async #madeAfterAll(cause: unknown): Promise<Changed> {
    const { source } = this.#options.writer;
    const made = source ? await this.outcome(source.callId).catch(() => null) : null;
    if (made) return made;
    const message = "The workspace went away during the change; whether it was made is not known.";
    throw new LightAgentError("outcome_unknown", message, undefined, { cause });
  }

  #at(): BranchAt {
    const { atVersion } = this.#options;
    return { branch: this.#branch, ...(atVersion !== undefined && { version: atVersion }) };
  }

  #requireHead(done: string): void {
    if (this.#options.atVersion === undefined) return;
    throw new LightAgentError("invalid_request", `An old version cannot be ${done}.`);
  }
}

/** What an object answers. @throws LightAgentError also when it does not answer: its callers know no other errors */
async function answered<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (cause) {
    throw new LightAgentError("unavailable", "The workspace does not answer for now.", undefined, { cause });
  }
  return unwrap(answer);
}
