import { LightAgentError, toErrorBody } from "../runtime/protocol/errors.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import type { MetaStore } from "./meta-store.ts";
import type { ForkOrigin, SessionKin } from "./session-api.ts";
import type { SessionPast } from "./session-past.ts";
import { META } from "./session-settings.ts";
import type { SessionSettings } from "./session-settings.ts";
import type { WorkspaceApi } from "./workspace-api.ts";

/** Failures that may pass; with every other one a fork can never be complete. */
const MAY_PASS: ReadonlySet<string> = new Set(["unavailable", "internal"]);

/** When a fork that is not complete may be asked for again. */
const RETRY_MS = 1_000;

/**
 * A fork that is not complete: it makes its branch of the workspace, then takes over its parent's past page by page.
 * What it has is what is stored, so it goes on where it died.
 */
export class ForkCopy {
  readonly #meta: MetaStore;
  readonly #past: SessionPast;

  constructor(meta: MetaStore, past: SessionPast) {
    this.#meta = meta;
    this.#past = past;
  }

  /** Where the past comes from that this session has not all of; undefined when it is complete. */
  get origin(): ForkOrigin | undefined {
    return this.#meta.get<ForkOrigin>(META.forking);
  }

  /**
   * Makes the fork complete.
   * @throws LightAgentError `unavailable` for what may pass; with anything else it never can be
   */
  async complete(
    { id, branch = id }: SessionSettings,
    from: ForkOrigin,
    parent: SessionKin,
    workspace: Pick<WorkspaceApi, "fork">,
  ): Promise<void> {
    try {
      unwrap(await workspace.fork(branch, { branch: from.branch, version: from.version }));
      for (let complete = false; !complete;) {
        const page = unwrap(await parent.past(id, this.#past.head(), from.through));
        this.#past.add(page, () => {
          if (page.last) this.#meta.delete(META.forking);
        });
        complete = page.last;
      }
    } catch (cause) {
      if (!MAY_PASS.has(toErrorBody(cause).code)) throw cause;
      const details = { retryAfterMs: RETRY_MS };
      throw new LightAgentError("unavailable", "The fork is not complete yet.", details, { cause });
    }
  }
}
