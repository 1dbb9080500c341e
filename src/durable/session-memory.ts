import { recallMemories } from "../runtime/context/memory/recall-memories.ts";
import type { MemoryOrigin } from "../runtime/context/memory/memory-index.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import type { RecalledMemory } from "../runtime/protocol/recalled-memory.ts";
import type { WaitingPrompt } from "../runtime/protocol/waiting-prompt.ts";
import type { Tool } from "../runtime/tool/tool.ts";
import { createRememberTool } from "../tools/remember.ts";
import { createSearchMemoryTool } from "../tools/search-memory.ts";
import { inTime } from "./in-time.ts";
import type { MemoryApi } from "./memory-api.ts";
import { RemoteMemoryIndex } from "./memory-client.ts";

export interface SessionMemoryOptions {
  /** Whether the agent remembers at all, as it is defined now. */
  readonly offered: () => boolean;
  readonly limits: Limits;
  /** What the session's agent remembers of somebody: a stub, a new one each time. */
  readonly memories: (owner: Principal) => MemoryApi;
  /** Who prompted the turn that runs, and what a memory that it makes comes from. */
  readonly turn: () => { readonly by: Principal; readonly origin: MemoryOrigin };
}

/** What the agent of one session remembers of whoever prompts a turn: of each of several users their own. */
export class SessionMemory {
  readonly #options: SessionMemoryOptions;

  constructor(options: SessionMemoryOptions) {
    this.#options = options;
  }

  /** What a turn with this prompt begins with. Never rejects: a memory that does not answer in time is done without. */
  async recall({ content, by }: Pick<WaitingPrompt, "content" | "by">): Promise<readonly RecalledMemory[]> {
    const { offered, limits } = this.#options;
    if (!offered() || by.kind === "system") return [];
    try {
      return await inTime(recallMemories(this.#of(by), content, limits), limits.memoryRecallMs);
    } catch {
      return [];
    }
  }

  /** The tools of an agent that remembers. */
  tools(): Tool[] {
    const { offered, turn } = this.#options;
    if (!offered()) return [];
    const access = { index: () => this.#of(turn().by), origin: () => turn().origin };
    return [createRememberTool(access), createSearchMemoryTool(access)];
  }

  #of(owner: Principal): RemoteMemoryIndex {
    if (owner.kind === "system") throw new LightAgentError("forbidden", "No user has prompted this turn.");
    const { memories, limits } = this.#options;
    return new RemoteMemoryIndex(memories(owner), limits.memories);
  }
}
