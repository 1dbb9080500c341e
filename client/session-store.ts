import { LightAgentError, toErrorBody } from "../src/runtime/protocol/errors.ts";
import type { ErrorBody } from "../src/runtime/protocol/errors.ts";
import type { DurableEvent } from "../src/runtime/protocol/durable-events.ts";
import type { AnswerBody, DecisionBody, PromptMode, SessionState } from "../src/runtime/protocol/frames.ts";
import type { LiveEvent } from "../src/runtime/protocol/live-events.ts";
import { EMPTY_FOLD, foldSession } from "../src/runtime/protocol/session-fold.ts";
import { EMPTY_VIEW } from "../src/runtime/protocol/session-view.ts";
import type { SessionView } from "../src/runtime/protocol/session-view.ts";
import type { ConnectionState } from "./connection-state.ts";
import { foldConversation, joinTurns } from "./conversation.ts";
import type { Turn } from "./conversation.ts";
import { Observable } from "./observable.ts";
import { TurnPages } from "./past-turns.ts";
import { randomId } from "./random-id.ts";
import { RestClient } from "./rest-client.ts";
import type { QueuedPrompt } from "./rest-types.ts";
import { SessionSocket } from "./session-socket.ts";
import type { Frame, SessionSocketOptions } from "./session-socket.ts";

/** A prompt that the server has not accepted yet, or has refused with an error. */
export interface UnsentPrompt {
  readonly promptId: string;
  readonly text: string;
  readonly mode: PromptMode;
  readonly error: ErrorBody | null;
}

export interface Trouble {
  readonly code: string;
  readonly message: string;
  /** Whether what failed is tried again. */
  readonly retrying: boolean;
}

/** All that there is to show of a session. */
export interface SessionSnapshot {
  readonly id: string;
  readonly connection: ConnectionState;
  /** As of the last connection's beginning. */
  readonly state: SessionState | null;
  readonly view: SessionView;
  readonly turns: readonly Turn[];
  /** Whether there are turns before those: they can be loaded, or are being loaded. */
  readonly older: "none" | "some" | "loading";
  /** About how many tokens the model's input has; 0 when it is not known. */
  readonly windowTokens: number;
  /** Whether an earlier part is being summarised. */
  readonly summarising: boolean;
  readonly queue: readonly QueuedPrompt[];
  readonly unsent: readonly UnsentPrompt[];
  /** Prompts that were given here so far. */
  readonly given: number;
  /** What running calls last said, by call id. */
  readonly progress: ReadonlyMap<string, LiveEvent<"tool_progress">>;
  /** What the running turn struggles with. */
  readonly trouble: Trouble | null;
  /** The turn that has been asked to stop; 0 for none. */
  readonly stopping: number;
  /** Approvals and questions whose answer is on its way, by id. */
  readonly deciding: ReadonlySet<string>;
  /** A command that failed, until it is dismissed. */
  readonly problem: ErrorBody | null;
}

export interface SessionStoreOptions extends Pick<
  SessionSocketOptions,
  "url" | "credential" | "session" | "openWebSocket" | "timers" | "random" | "newId"
> {
  /** Made of url and credential without it. */
  readonly rest?: Pick<RestClient, "session" | "queue" | "checkpoints" | "events">;
  /** How many turns are loaded at first, and each time that older ones are asked for. @default all */
  readonly turnsAtOnce?: number;
}

/** A session as one value that is folded from its socket, and what a person can do with it. */
export class SessionStore extends Observable<SessionSnapshot> {
  readonly #options: SessionStoreOptions;
  readonly #rest: Pick<RestClient, "session" | "queue" | "checkpoints" | "events">;
  /** Whether somebody wants it open, also while the beginning is being looked for. */
  #opened = false;
  readonly #socket: SessionSocket;
  /** Counts what the server said about the queue, so that a late answer over REST does not undo it. */
  #queueNews = 0;
  /** The state at the last connection's beginning, and what the log has added to it. */
  #fold = EMPTY_FOLD;
  /** The way back to turns that are not loaded; null while all are, or none has been asked for. */
  #past: TurnPages | null = null;
  /** The `seq` after which the loaded turns begin. */
  #after = 0;
  /** The same as of the first opening, as soon as it is known. */
  #beginning: Promise<number> | null = null;

  constructor(options: SessionStoreOptions) {
    super({
      id: options.session,
      connection: { status: "idle" },
      state: null,
      view: EMPTY_VIEW,
      turns: [],
      older: "none",
      windowTokens: 0,
      summarising: false,
      queue: [],
      unsent: [],
      given: 0,
      progress: new Map(),
      trouble: null,
      stopping: 0,
      deciding: new Set(),
      problem: null,
    });
    this.#options = options;
    this.#rest = options.rest ?? new RestClient(options);
    this.#socket = new SessionSocket({
      ...options,
      state: () => this.#rest.session(options.session),
      onFrame: (frame) => this.#follow(frame),
      onConnection: (connection) => this.change({ connection }),
    });
  }

  /** Connects, tries again at once, or goes on after `close`. */
  open(): void {
    const { turnsAtOnce } = this.#options;
    this.#opened = true;
    if (turnsAtOnce === undefined) return this.#socket.open();
    this.#beginning ??= this.#findBeginning(new TurnPages(this.#rest, this.value.id, turnsAtOnce));
    void this.#beginning.then((after) => {
      if (this.#opened) this.#socket.open(after);
    });
  }

  close(): void {
    this.#opened = false;
    this.#socket.close();
  }

  /** Loads turns from before those that are there. One load at a time; one that fails is a problem, and can be repeated. */
  async loadOlder(): Promise<void> {
    const { older, state } = this.value;
    const past = this.#past;
    if (older !== "some" || !past || !state) return;
    this.change({ older: "loading" });
    try {
      const loaded = await past.read(await past.next(), this.#after, state.logId);
      if (past !== this.#past || !loaded) return;
      this.#after = loaded.after;
      const turns = joinTurns(loaded.turns, this.value.turns);
      this.change({ turns, older: loaded.after > 0 ? "some" : "none" });
    } catch (caught) {
      if (past !== this.#past) return;
      this.change({ older: "some" });
      this.#report(caught);
    }
  }

  /** The turn that runs; 0 for none. */
  get runningTurn(): number {
    const last = this.value.turns.at(-1);
    return last?.running ? last.turn : 0;
  }

  /** Sends a prompt. Until the server has it, and when it refuses it, the prompt stands in `unsent`. */
  send(text: string, mode: PromptMode): void {
    const promptId = (this.#options.newId ?? randomId)();
    const { unsent, given } = this.value;
    this.change({ unsent: [...unsent, { promptId, text, mode, error: null }], given: given + 1 });
    void this.#prompt(promptId);
  }

  /** Sends a refused prompt again, under the id that it had. */
  resend(promptId: string): void {
    this.#changeUnsent(promptId, { error: null });
    void this.#prompt(promptId);
  }

  /** Forgets a refused prompt. */
  discard(promptId: string): void {
    this.change({ unsent: this.value.unsent.filter((prompt) => prompt.promptId !== promptId) });
  }

  async withdraw(promptId: string): Promise<void> {
    try {
      await this.#socket.unqueue(promptId);
    } catch (caught) {
      // It has run or was withdrawn meanwhile: the log says which.
      if (!(caught instanceof LightAgentError && caught.code === "not_found")) this.#report(caught);
    }
  }

  /** Stops the running turn. */
  async stop(): Promise<void> {
    const turn = this.runningTurn;
    if (turn === 0) return;
    this.change({ stopping: turn });
    try {
      await this.#socket.interrupt({ turn });
    } catch (caught) {
      this.change({ stopping: 0 });
      this.#report(caught);
    }
  }

  /** Lets a call run, or not. Until the server has it, it stands in `deciding`. */
  decide(approvalId: string, body: DecisionBody): Promise<void> {
    return this.#resolve(approvalId, () => this.#socket.approve(approvalId, body));
  }

  /** Answers a question. */
  answer(inputId: string, body: AnswerBody): Promise<void> {
    return this.#resolve(inputId, () => this.#socket.answer(inputId, body));
  }

  dismissProblem(): void {
    this.change({ problem: null });
  }

  async #findBeginning(past: TurnPages): Promise<number> {
    this.change({ connection: { status: "connecting" } });
    // Without an answer all is loaded: whether there is a session at all is for the socket to find out.
    const after = await past.next().catch(() => 0);
    if (after === 0) return 0;
    this.#past = past;
    this.#after = after;
    this.change({ older: "some" });
    return after;
  }

  async #resolve(id: string, send: () => Promise<void>): Promise<void> {
    this.change({ deciding: new Set(this.value.deciding).add(id) });
    try {
      await send();
    } catch (caught) {
      this.#report(caught);
    }
    const deciding = new Set(this.value.deciding);
    deciding.delete(id);
    this.change({ deciding });
  }

  async #prompt(promptId: string): Promise<void> {
    const prompt = this.value.unsent.find((unsent) => unsent.promptId === promptId);
    if (!prompt) return;
    try {
      await this.#socket.prompt({ promptId, text: prompt.text, mode: prompt.mode });
      this.discard(promptId);
    } catch (caught) {
      this.#changeUnsent(promptId, { error: toErrorBody(caught) });
    }
  }

  #changeUnsent(promptId: string, fields: Partial<UnsentPrompt>): void {
    this.change({
      unsent: this.value.unsent.map((prompt) =>
        prompt.promptId === promptId ? { ...prompt, ...fields } : prompt,
      ),
    });
  }

  #report(caught: unknown): void {
    this.change({ problem: toErrorBody(caught) });
  }

  #follow(frame: Frame): void {
    const { view } = this.#socket;
    const changed: Partial<SessionSnapshot> = view === this.value.view ? {} : this.#withView(view);
    switch (frame.type) {
      case "hello":
        void this.#askForQueue(frame.state.queued);
        this.#fold = { ...EMPTY_FOLD, head: frame.state.head, windowTokens: frame.state.windowTokens };
        this.change({
          ...changed,
          state: frame.state,
          windowTokens: frame.state.windowTokens,
          summarising: false,
        });
        break;
      case "queue":
        this.#queueNews += 1;
        this.change({ ...changed, queue: frame.waiting });
        break;
      case "compaction":
        this.change({ ...changed, summarising: frame.phase === "start" || frame.phase === "progress" });
        break;
      case "tool_progress":
        this.change({ ...changed, progress: new Map(this.value.progress).set(frame.callId, frame) });
        break;
      case "error":
      case "diagnostic":
        this.change({ ...changed, trouble: troubleOf(frame) ?? this.value.trouble });
        break;
      default:
        if (Object.keys(changed).length > 0) this.change(changed);
    }
  }

  /** What a new view changes: the log's events settle what was live before. */
  #withView(view: SessionView): Partial<SessionSnapshot> {
    const { value } = this;
    const began = view.head < value.view.head;
    if (began) this.#past = null;
    const events = began ? view.events : view.events.slice(value.view.events.length);
    const trouble = view.blocks.length > 0 || events.length > 0 ? null : value.trouble;
    if (events.length === 0 && !began) return { view, trouble };
    this.#fold = foldSession(
      events.filter(({ seq }) => seq > this.#fold.head),
      this.#fold,
    );
    const settled = new Set(events.flatMap(promptOf));
    const ended = events.some(({ type }) => type === "agent_stop");
    return {
      view,
      trouble,
      windowTokens: this.#fold.windowTokens + this.#fold.addedTokens,
      turns: foldConversation(began ? [] : value.turns, events),
      ...(began && { older: "none" }),
      queue: value.queue.filter(({ promptId }) => !settled.has(promptId)),
      unsent: value.unsent.filter(({ promptId }) => !settled.has(promptId)),
      ...(ended && { stopping: 0, progress: new Map() }),
    };
  }

  /** The queue is told when it changes; what it is at first has to be asked for. */
  async #askForQueue(count: number): Promise<void> {
    const news = (this.#queueNews += 1);
    if (count === 0) return this.change({ queue: [] });
    const answer = await this.#rest.queue(this.value.id).catch(() => null);
    if (answer === null || news !== this.#queueNews) return;
    const settled = new Set(this.value.view.events.flatMap(promptOf));
    this.change({ queue: answer.data.filter(({ promptId }) => !settled.has(promptId)) });
  }
}

/** The prompt that an event is the outcome of. */
function promptOf(event: DurableEvent): string[] {
  return event.type === "input" || event.type === "steer" || event.type === "prompt_dropped"
    ? [event.promptId]
    : [];
}

/** What an event says of the running turn; null when that is of no use to people. */
function troubleOf(event: LiveEvent<"error" | "diagnostic"> | DurableEvent<"error">): Trouble | null {
  const { code, message } = event;
  if (event.type === "error") return event.fatal ? null : { code, message, retrying: true };
  const matters = event.level === "error" || code === "rate_limit_wait";
  return matters ? { code, message, retrying: false } : null;
}
