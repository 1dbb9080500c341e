import { previewOf } from "../runtime/protocol/content.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import { EMPTY_FOLD, foldSession } from "../runtime/protocol/session-fold.ts";
import type { SessionFold } from "../runtime/protocol/session-fold.ts";
import type { WaitingPrompt } from "../runtime/protocol/waiting-prompt.ts";
import type { AgentSession, Commit, KnownPrompt, SessionSnapshot } from "../runtime/session/agent-session.ts";
import { LogStore } from "./log-store.ts";
import { MetaStore } from "./meta-store.ts";
import { PromptStore } from "./prompt-store.ts";
import type { StoredPrompt } from "./prompt-store.ts";
import { META } from "./session-settings.ts";
import { TurnStore } from "./turn-store.ts";
import { applyUsage } from "./usage-totals.ts";
import type { UsageTotals } from "./usage-totals.ts";

/**
 * The session in SQLite. One commit is one transaction over the log, the queue and the turns. A text turn of an idle
 * session writes 4 rows (turn, input, reply, turn), a step with tools 2 (reply, results), a prompt that waits 2 more.
 */
export class SessionStore implements AgentSession {
  readonly id: string;
  readonly log: LogStore;
  readonly #storage: Pick<DurableObjectStorage, "transactionSync">;
  readonly #prompts: PromptStore;
  readonly turns: TurnStore;
  readonly #meta: MetaStore;
  /** The fold and the totals of all that is written, so that turns begin and end with them. */
  #fold: SessionFold = EMPTY_FOLD;
  #usage: UsageTotals = [];
  /** The workspace's version when the open turn began; null while it is not known. */
  #workspaceVersion: number | null = null;

  constructor(id: string, storage: Pick<DurableObjectStorage, "sql" | "transactionSync">, rowBytes: number) {
    this.id = id;
    this.#storage = storage;
    this.log = new LogStore(storage.sql, rowBytes);
    this.#prompts = new PromptStore(storage.sql);
    this.turns = new TurnStore(storage.sql);
    this.#meta = new MetaStore(storage.sql);
  }

  get usage(): UsageTotals {
    return this.#usage;
  }

  set workspaceVersion(version: number) {
    this.#workspaceVersion = version;
  }

  /** The workspace's version at the beginning of the first later turn for which it is known. */
  versionAfter(turn: number): number | null {
    const open = this.#fold.open && this.#fold.open.turn > turn;
    return this.turns.versionAfter(turn) ?? (open ? this.#workspaceVersion : null);
  }

  /** Reads the last turn's row, the commits since, and what waits: the same work for a log of any length. */
  load(): SessionSnapshot {
    const point = this.turns.last();
    const base = point?.fold ?? EMPTY_FOLD;
    const events = [...this.log.read(base.head)];
    this.#fold = foldSession(events, base);
    this.#usage = events.reduce(applyUsage, point?.usage ?? []);
    const taken = this.#fold.open?.promptIds ?? [];
    const waiting = this.#prompts.undropped().filter(({ promptId }) => !taken.includes(promptId));
    const model = this.#fold.open ? point?.model : undefined;
    const remembered = this.#remembered();
    return { base, events, waiting, remembered, ...(model === undefined ? {} : { openModel: model }) };
  }

  #remembered(): string[] {
    return this.#meta.get<string[]>(META.remembered) ?? [];
  }

  append(commit: Commit): void {
    const fold = foldSession(commit.events, this.#fold);
    const usage = commit.events.reduce(applyUsage, this.#usage);
    this.#storage.transactionSync(() => {
      this.log.append(commit.events);
      if (commit.waiting) this.#prompts.insert(commit.waiting);
      if (commit.remembers !== undefined)
        this.#meta.set(META.remembered, [...this.#remembered(), commit.remembers]);
      for (const event of commit.events) this.#follow(event, commit, fold, usage);
    });
    this.#fold = fold;
    this.#usage = usage;
  }

  read(after: number): Iterable<DurableEvent> {
    return this.log.read(after);
  }

  /** The `seq` at which the turn before the last one ended; 0 without one. Reads 2 rows. */
  turnBefore(): number {
    return this.turns.beginnings(Number.MAX_SAFE_INTEGER, 1)[0]?.endBefore ?? 0;
  }

  findPrompt(promptId: string): KnownPrompt | undefined {
    return this.#prompts.find(promptId) ?? this.turns.findPrompt(promptId);
  }

  /** What an event changes beside the log. */
  #follow(event: DurableEvent, commit: Commit, fold: SessionFold, usage: UsageTotals): void {
    if (event.type === "input") {
      const opened = commit.opens ?? this.#takeFromQueue(event.promptId);
      this.#workspaceVersion = null;
      this.turns.begin({
        turn: event.turn,
        firstSeq: event.seq,
        prompt: remembered(opened, event),
        preview: previewOf(event.content),
        model: opened?.model,
        fold: this.#fold,
        usage: this.#usage,
      });
    }
    if (event.type === "prompt_dropped") this.#prompts.drop(event.promptId);
    if (event.type === "agent_stop") this.#endTurn(event, fold, usage);
    if (event.type === "checkpoint_restore") this.#meta.delete(META.restore);
  }

  #takeFromQueue(promptId: string): WaitingPrompt | undefined {
    const waiting = this.#prompts.undropped().find((prompt) => prompt.promptId === promptId);
    if (waiting) this.#prompts.delete(promptId);
    return waiting;
  }

  /** Prompts that were steered in keep their rows until here, so that their ids stay known through a crash. */
  #endTurn(event: DurableEvent<"agent_stop">, fold: SessionFold, usage: UsageTotals): void {
    const opener = this.turns.opener(event.turn);
    const steered = event.promptIds.flatMap((promptId) => this.#prompts.find(promptId) ?? []);
    for (const { promptId } of steered) this.#prompts.delete(promptId);
    const prompts = [
      ...opener,
      ...steered.map(({ promptId, digest, receipt }) => ({ promptId, digest, receipt })),
    ];
    const status = event.reason;
    const workspaceVersion = this.#workspaceVersion;
    this.turns.end({ turn: event.turn, prompts, status, fold, usage, workspaceVersion });
  }
}

function remembered(prompt: WaitingPrompt | undefined, event: DurableEvent<"input">): StoredPrompt {
  const { promptId } = event;
  if (!prompt) return { promptId, digest: "", receipt: { position: 0, head: event.seq } };
  return { promptId, digest: prompt.digest, receipt: prompt.receipt };
}
