import type { Clock } from "../runtime/protocol/time.ts";
import type { Caller } from "./session-api.ts";

export interface CredentialWatchOptions {
  readonly caller: Caller;
  /** When its key was last known to stand, in ms since the epoch. */
  readonly checkedAt: number;
  readonly recheckMs: number;
  readonly clock: Clock;
  /** Whether the key still stands. @throws when nobody can tell */
  readonly stands: (caller: Caller) => Promise<boolean>;
  /** The key was found to stand. */
  readonly stood?: (at: number) => void;
  /** The credential is over. */
  readonly over: (reason: "credential expired" | "credential revoked") => void;
}

/** Ends what is open for a credential when that is over. It looks when it is asked, and has the key checked when that is due. */
export class CredentialWatch {
  readonly #options: CredentialWatchOptions;
  #checkedAt: number;
  #checking = false;

  constructor(options: CredentialWatchOptions) {
    this.#options = options;
    this.#checkedAt = options.checkedAt;
  }

  /** Whether the credential still holds. */
  holds(): boolean {
    const { caller, clock, recheckMs, over } = this.#options;
    const now = clock();
    if (caller.expiresAt !== undefined && caller.expiresAt <= now) {
      over("credential expired");
      return false;
    }
    if (now - this.#checkedAt >= recheckMs && !this.#checking) void this.#recheck();
    return true;
  }

  async #recheck(): Promise<void> {
    const { caller, clock, stands, stood, over } = this.#options;
    this.#checking = true;
    try {
      if (!(await stands(caller))) return over("credential revoked");
      this.#checkedAt = clock();
      stood?.(this.#checkedAt);
    } catch {
      // The tenant does not answer, which says nothing of the key: it is asked again the next time.
    } finally {
      this.#checking = false;
    }
  }
}
