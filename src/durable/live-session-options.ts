import type { ModelPace } from "../runtime/model/model-call.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { MemoryApi } from "./memory-api.ts";
import type { ObjectStorage } from "./object-storage.ts";
import type { SessionModelEnvironment } from "./session-models.ts";
import type { SessionSettings } from "./session-settings.ts";
import type { SkillLibrary, TurnLeave } from "./tenant-api.ts";
import type { WorkspaceApi } from "./workspace-api.ts";

/** What a session needs of its surroundings. */
export interface LiveSessionOptions {
  readonly settings: SessionSettings;
  readonly storage: Pick<DurableObjectStorage, "sql" | "transactionSync">;
  readonly environment: SessionModelEnvironment;
  /** Paces the model calls of all the tenant's sessions. */
  readonly pace: (perMinute: number) => ModelPace;
  /** What the tenant said when the open turn began. */
  readonly leave: TurnLeave | undefined;
  /** A stub of the workspace: a new one each time, since one that has failed may stay broken. */
  readonly workspace: () => WorkspaceApi;
  /** The artifacts that a session has put into R2. */
  readonly artifacts: (session: string) => ObjectStorage;
  /** A prompt that waited is about to open a turn. */
  readonly beforeTurn: (turn: number) => Promise<void>;
  /** The open turn may not ask its model before that time. */
  readonly park: (retryAt: number) => void;
  /** The tenant's library of skills. */
  readonly library: SkillLibrary;
  /** What the session's agent remembers of somebody. */
  readonly memories: (owner: Principal) => MemoryApi;
  /** Makes changed settings the session's. */
  readonly store: (settings: SessionSettings) => void;
  /** What must be over before a prompt enters; null when there is nothing. @throws when none may enter any more */
  readonly holdBack: () => Promise<unknown> | null;
  /** A commit has been made. */
  readonly committed: (events: readonly DurableEvent[]) => void;
}
