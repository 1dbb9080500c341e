import type { DurableBody, DurableEvent } from "../protocol/durable-events.ts";
import { LightAgentError } from "../protocol/errors.ts";
import type { LiveEvent } from "../protocol/live-events.ts";
import { EMPTY_FOLD, applyEvent, foldSession } from "../protocol/session-fold.ts";
import type { SessionFold } from "../protocol/session-fold.ts";
import type { Clock, MaybePromise } from "../protocol/time.ts";
import type { WaitingPrompt } from "../protocol/waiting-prompt.ts";
import type { AgentSession, Commit } from "../session/agent-session.ts";

/**
 * What is told at once: the events of one commit, or one live event. `live` follows the events, except that an
 * `agent_stop` among them comes last.
 */
export interface Batch {
  readonly events: readonly DurableEvent[];
  readonly live: readonly LiveEvent[];
}

export type BatchListener = (batch: Batch) => void;

interface CommitOptions {
  readonly live?: readonly LiveEvent[];
  readonly waiting?: WaitingPrompt;
  readonly opens?: WaitingPrompt;
  readonly remembers?: string;
}

/**
 * The state of one session in memory, which is the fold of its log and its queue, and the one way to change it:
 * written first, then told. State moves when a commit is handed to the session, so that whoever decides next sees it;
 * nobody is told before it is durable.
 */
export class SessionLog {
  readonly #session: AgentSession;
  readonly #clock: Clock;
  readonly #listeners = new Set<BatchListener>();
  #fold: SessionFold = EMPTY_FOLD;
  #waiting: readonly WaitingPrompt[] = [];
  #openModel: string | undefined;
  #remembered: ReadonlySet<string> = new Set();
  /** The events from the summary in force on; null until somebody needs them. */
  #history: DurableEvent[] | null = null;
  /** The last write that is under way, for sessions that answer later. */
  #pending: Promise<void> | null = null;
  #broken: LightAgentError | null = null;

  constructor(session: AgentSession, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
  }

  get fold(): SessionFold {
    return this.#fold;
  }

  get waiting(): readonly WaitingPrompt[] {
    return this.#waiting;
  }

  /** What a person has allowed for the whole session; see `rememberedAs`. */
  get remembered(): ReadonlySet<string> {
    return this.#remembered;
  }

  /** Why nothing can be written any more; null while all is well. Cleared by `load`. */
  get failure(): LightAgentError | null {
    return this.#broken;
  }

  /** The events of the log after a `seq`; see `AgentSession`. */
  read(after: number): MaybePromise<Iterable<DurableEvent>> {
    return this.#session.read(after);
  }

  /** The model that the open turn's prompt asked for. */
  get openModel(): string | undefined {
    return this.#openModel;
  }

  /** Takes the state from the session, whatever this object held before. */
  load(): MaybePromise<void> {
    const snapshot = this.#session.load();
    const take = ({ base, events, waiting, openModel, remembered }: Awaited<typeof snapshot>): void => {
      this.#fold = foldSession(events, base);
      this.#waiting = waiting;
      this.#openModel = openModel;
      this.#remembered = new Set(remembered);
      this.#history = null;
      this.#broken = null;
    };
    return snapshot instanceof Promise ? snapshot.then(take) : take(snapshot);
  }

  /** The events that the model's input is made of. */
  history(): MaybePromise<readonly DurableEvent[]> {
    if (this.#history) return this.#history;
    const read = this.#session.read(this.#fold.summarisedThrough);
    // Events that are committed while a slow session reads are in its answer or come on top of it.
    const keep = (events: Iterable<DurableEvent>): readonly DurableEvent[] => (this.#history ??= [...events]);
    return read instanceof Promise ? read.then(keep) : keep(read);
  }

  subscribe(listener: BatchListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Makes events and changes of the queue durable, then tells them.
   * @throws LightAgentError `log_write_failed`; then nothing of it is true, and nothing more can be written before
   *   `load`
   */
  commit(bodies: readonly DurableBody[], options: CommitOptions = {}): MaybePromise<void> {
    if (this.#broken) throw this.#broken;
    const { live = [], ...changes } = options;
    const events = this.#stamp(bodies);
    const commit: Commit = { events, ...changes };
    let written: MaybePromise<void>;
    try {
      written = this.#session.append(commit);
    } catch (caught) {
      throw this.#break(caught);
    }
    this.#apply(commit);
    const batch = { events, live };
    if (!(written instanceof Promise) && !this.#pending) return this.#tell(batch);
    return this.#afterPending(written).then(() => this.#tell(batch));
  }

  /** Tells a live event, after everything that is being written. */
  emit(event: LiveEvent): void {
    const batch = { events: [], live: [event] };
    if (this.#pending) void this.#pending.then(() => this.#tell(batch));
    else this.#tell(batch);
  }

  #stamp(bodies: readonly DurableBody[]): DurableEvent[] {
    const at = this.#clock();
    return bodies.map((body, index) => ({ seq: this.#fold.head + 1 + index, at, ...body }) as DurableEvent);
  }

  #apply({ events, waiting, opens, remembers }: Commit): void {
    if (remembers !== undefined) this.#remembered = new Set([...this.#remembered, remembers]);
    if (waiting) this.#waiting = [...this.#waiting, waiting];
    for (const event of events) {
      this.#fold = applyEvent(this.#fold, event);
      this.#history?.push(event);
      // It may bring back what lay before the summary in force, which is not held here.
      if (event.type === "checkpoint_restore") this.#history = null;
      // What it stands for need not be held any more.
      if (event.type === "agent_summary") this.#history = null;
      if (event.type === "input") this.#openModel = (opens ?? this.#waitingPrompt(event.promptId))?.model;
      if (event.type === "input" || event.type === "steer" || event.type === "prompt_dropped") {
        this.#waiting = this.#waiting.filter((prompt) => prompt.promptId !== event.promptId);
      }
    }
  }

  #waitingPrompt(promptId: string): WaitingPrompt | undefined {
    return this.#waiting.find((prompt) => prompt.promptId === promptId);
  }

  #afterPending(written: MaybePromise<void>): Promise<void> {
    const mine = Promise.all([this.#pending, written]).then(
      () => undefined,
      (caught: unknown) => {
        throw this.#break(caught);
      },
    );
    const settled = mine
      .catch(() => undefined)
      .then(() => {
        if (this.#pending === settled) this.#pending = null;
      });
    this.#pending = settled;
    return mine;
  }

  #break(cause: unknown): LightAgentError {
    this.#broken ??= new LightAgentError("log_write_failed", "The log could not be written.", undefined, {
      cause,
    });
    return this.#broken;
  }

  #tell(batch: Batch): void {
    for (const listener of this.#listeners) {
      try {
        listener(batch);
      } catch {
        // A listener observes: it must not be able to change what happens.
      }
    }
  }
}

/** A batch as single events, in the order in which a consumer should see them. */
export function* inOrder({ events, live }: Batch): Generator<DurableEvent | LiveEvent> {
  const last = events.at(-1);
  const stop = last?.type === "agent_stop" ? last : null;
  yield* stop ? events.slice(0, -1) : events;
  yield* live;
  if (stop) yield stop;
}
