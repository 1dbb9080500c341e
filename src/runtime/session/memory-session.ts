import type { DurableEvent } from "../protocol/durable-events.ts";
import { LightAgentError } from "../protocol/errors.ts";
import type { NewId } from "../protocol/ids.ts";
import { EMPTY_FOLD, foldSession } from "../protocol/session-fold.ts";
import type { Clock } from "../protocol/time.ts";
import type { WaitingPrompt } from "../protocol/waiting-prompt.ts";
import type {
  AgentSession,
  Commit,
  KnownPrompt,
  SessionManager,
  SessionMetadata,
  SessionSnapshot,
} from "./agent-session.ts";

/** A session in memory: for tests, scripts and hosts that need no durability. */
export class MemorySession implements AgentSession {
  readonly id: string;
  readonly #events: DurableEvent[] = [];
  readonly #waiting = new Map<string, WaitingPrompt>();
  readonly #known = new Map<string, KnownPrompt>();
  readonly #remembered = new Set<string>();
  #openModel: string | undefined;

  constructor(id: string) {
    this.id = id;
  }

  load(): SessionSnapshot {
    const model = this.#openModel;
    return {
      base: EMPTY_FOLD,
      events: [...this.#events],
      waiting: [...this.#waiting.values()],
      remembered: [...this.#remembered],
      ...(model === undefined ? {} : { openModel: model }),
    };
  }

  append(commit: Commit): void {
    for (const prompt of [commit.waiting, commit.opens]) {
      if (!prompt) continue;
      const { promptId, digest, receipt } = prompt;
      this.#known.set(promptId, { promptId, digest, receipt });
    }
    if (commit.remembers !== undefined) this.#remembered.add(commit.remembers);
    if (commit.waiting) this.#waiting.set(commit.waiting.promptId, commit.waiting);
    for (const event of commit.events) {
      this.#events.push(event);
      if (event.type === "input")
        this.#openModel = (commit.opens ?? this.#waiting.get(event.promptId))?.model;
      if (event.type === "input" || event.type === "steer" || event.type === "prompt_dropped") {
        this.#waiting.delete(event.promptId);
      }
    }
  }

  read(after: number): readonly DurableEvent[] {
    return this.#events.slice(after);
  }

  findPrompt(promptId: string): KnownPrompt | undefined {
    return this.#known.get(promptId);
  }
}

interface Kept {
  readonly session: MemorySession;
  readonly title: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

/** Sessions in memory. */
export class MemorySessionManager implements SessionManager {
  readonly #kept = new Map<string, Kept>();
  readonly #newId: NewId;
  readonly #clock: Clock;

  constructor(options: { newId?: NewId; clock?: Clock } = {}) {
    this.#newId = options.newId ?? (() => crypto.randomUUID());
    this.#clock = options.clock ?? Date.now;
  }

  async create(input: { title?: string; metadata?: Record<string, unknown> } = {}): Promise<AgentSession> {
    const session = new MemorySession(this.#newId());
    const { title = "", metadata = {} } = input;
    this.#kept.set(session.id, { session, title, metadata, createdAt: this.#clock() });
    return session;
  }

  async open(id: string): Promise<AgentSession> {
    const kept = this.#kept.get(id);
    if (!kept) throw new LightAgentError("not_found", "There is no such session.");
    return kept.session;
  }

  async openLatest(): Promise<AgentSession | undefined> {
    const [latest] = await this.list({ limit: 1 });
    return latest && this.open(latest.id);
  }

  async list(options: { limit?: number } = {}): Promise<SessionMetadata[]> {
    const all = [...this.#kept.values()].map(describe);
    return all.sort((left, right) => right.updatedAt - left.updatedAt).slice(0, options.limit ?? all.length);
  }
}

/** The status is a fold of the log, so that no crash can leave a session "running" for ever. */
function describe({ session, title, metadata, createdAt }: Kept): SessionMetadata {
  const fold = foldSession(session.read(0));
  const status = fold.open ? "running" : "idle";
  return { id: session.id, title, metadata, status, createdAt, updatedAt: Math.max(createdAt, fold.at) };
}
