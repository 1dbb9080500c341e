import { expiryOf, isAsking } from "../loop/next-action.ts";
import type { TurnOutcome, TurnRun } from "../loop/run-turn.ts";
import type { DurableBody } from "../protocol/durable-events.ts";
import { LightAgentError } from "../protocol/errors.ts";
import { waitsForPerson } from "../protocol/session-fold.ts";
import type { TurnState } from "../protocol/session-fold.ts";
import type { RecalledMemory } from "../protocol/recalled-memory.ts";
import type { Clock, MaybePromise } from "../protocol/time.ts";
import { nextPrompt } from "../protocol/waiting-prompt.ts";
import type { WaitingPrompt } from "../protocol/waiting-prompt.ts";
import type { SessionLog } from "./session-log.ts";

export interface DriverOptions {
  /** Makes the run of the turn that is open. */
  readonly makeRun: (stop: AbortSignal, wakes: number, stalls: number) => TurnRun;
  /** Called before a prompt that waited opens its turn; its rejection is ignored. */
  readonly beforeTurn: (prompt: WaitingPrompt) => Promise<void>;
  /** What the agent remembers for a prompt that waited; its rejection is ignored. */
  readonly recall: (prompt: WaitingPrompt) => Promise<readonly RecalledMemory[]>;
  /** Sees to it that somebody resumes the open turn at that time (ms since the epoch). */
  readonly park: (retryAt: number) => MaybePromise<void>;
  readonly clock: Clock;
  /** How long a question stays open, in ms. */
  readonly requestMs: number;
}

interface Running {
  readonly run: TurnRun;
  readonly stop: AbortController;
}

/** Runs the turns of one session, one at a time, for as long as its log and queue say that there is work. */
export class TurnDriver {
  readonly #log: SessionLog;
  readonly #options: DriverOptions;
  #driving: Promise<void> | null = null;
  #running: Running | null = null;
  #wakes = 0;
  #stalls = 0;
  /** When the open turn may ask its model again; 0 while nothing holds it back. */
  #retryAt = 0;
  #closed = false;
  /** Looks whether what the next turn waits for still matters. */
  #hurry: () => void = () => undefined;
  #failure: LightAgentError | null = null;

  constructor(log: SessionLog, options: DriverOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** Why nothing runs any more; null while all is well. Cleared by `reopen`. */
  get failure(): LightAgentError | null {
    return this.#failure;
  }

  get wakes(): number {
    return this.#wakes;
  }

  /** Whether the log says that there is work and nobody here does it. */
  get isAbandoned(): boolean {
    const { open } = this.#log.fold;
    const work = open ? !waitsForPerson(open) || this.#hasExpired(open) : this.#log.waiting.length > 0;
    return work && this.#driving === null && !this.isParked;
  }

  #hasExpired({ calls }: TurnState): boolean {
    const { clock, requestMs } = this.#options;
    return calls.some((call) => isAsking(call) && expiryOf(call, requestMs) <= clock());
  }

  /** Something has changed the log that a running turn should see; one that waited goes on. */
  notice(): void {
    this.#running?.run.poke();
    this.drive();
  }

  /** Whether the open turn waits for the time at which its model may be asked again. A stopped turn does not. */
  get isParked(): boolean {
    const { open } = this.#log.fold;
    return open !== null && open.interrupt === null && this.#retryAt > this.#options.clock();
  }

  /** After the log was loaded anew: what failed before is forgotten. */
  reopen(): void {
    this.#failure = null;
  }

  /** Goes on with a turn that the log says is open; see `Agent.resume`. */
  resume(wakes: number, stalls: number): void {
    this.#wakes = wakes;
    this.#stalls = stalls;
    this.drive();
  }

  /** Earlier processes of the open turn counted so far; see `Agent.countFrom`. */
  countFrom(wakes: number): void {
    this.#wakes = wakes;
  }

  /** The open turn was parked before its process died. */
  holdUntil(retryAt: number): void {
    this.#retryAt = retryAt;
  }

  drive(): void {
    this.#hurry();
    if (this.#closed || this.#driving || this.#failure) return;
    this.#driving = this.#driveTurns()
      .catch((caught: unknown) => this.#fail(caught))
      .finally(() => {
        this.#driving = null;
        if (this.isAbandoned) this.drive();
      });
  }

  /** Opens a turn. `opens` says that the prompt never waited. */
  open(prompt: WaitingPrompt, opens: boolean, memories: readonly RecalledMemory[] = []): MaybePromise<void> {
    const { promptId, content, by, source } = prompt;
    this.#wakes = 0;
    this.#stalls = 0;
    this.#retryAt = 0;
    const turn = this.#log.fold.turn + 1;
    const recalled = memories.length > 0 ? { memories: [...memories] } : {};
    const input: DurableBody = { type: "input", turn, step: 0, promptId, content, source, by, ...recalled };
    return this.#log.commit([input], opens ? { opens: prompt } : {});
  }

  /** Aborts what runs, once the interrupt that orders it is durable. */
  abort(committed: MaybePromise<void>): void {
    const running = this.#running;
    const abort = (): void => {
      running?.stop.abort(new DOMException("The turn was stopped.", "AbortError"));
      running?.run.poke();
    };
    if (committed instanceof Promise) void committed.then(abort, () => undefined);
    else abort();
  }

  /** Resolves when nothing runs. */
  async settled(): Promise<void> {
    while (this.#driving) await this.#driving;
  }

  /** Lets go: what runs is aborted and stays unfinished in the log. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#hurry();
    this.#running?.run.release();
    this.#running?.stop.abort(new DOMException("The agent was closed.", "AbortError"));
    await this.#driving;
  }

  async #driveTurns(): Promise<void> {
    while (!this.#closed) {
      if (!this.#log.fold.open) {
        const next = nextPrompt(this.#log.waiting);
        if (!next) return;
        const memories = await this.#prepared(next);
        // While that waited, prompts may have been withdrawn or accepted, and one that found nobody waiting has opened.
        const prompt = nextPrompt(this.#log.waiting);
        if (!prompt || this.#closed || this.#log.fold.open) continue;
        await this.open(prompt, false, prompt.promptId === next.promptId ? memories : []);
      }
      if (this.isParked) return;
      const outcome = await this.#runTurn();
      if (typeof outcome !== "string") {
        this.#retryAt = outcome.retryAt;
        // The next attempts must not bear the numbers of these.
        this.#wakes += 1;
        return this.#options.park(outcome.retryAt);
      }
      if (outcome !== "ended") return;
    }
  }

  /** Waits for `beforeTurn` and what is remembered, but no longer when a prompt that found nobody waiting has opened a turn meanwhile. */
  #prepared(prompt: WaitingPrompt): Promise<readonly RecalledMemory[]> {
    const { beforeTurn, recall } = this.#options;
    const nothing = (): readonly RecalledMemory[] => [];
    return new Promise((resolve) => {
      this.#hurry = () => {
        if (this.#closed || this.#log.fold.open) resolve([]);
      };
      const recalled = recall(prompt).catch(nothing);
      const ready = beforeTurn(prompt).catch(() => undefined);
      void ready.then(async () => resolve(await recalled));
    });
  }

  async #runTurn(): Promise<TurnOutcome> {
    const stop = new AbortController();
    // A turn that was stopped before its process died goes on stopping, not working.
    if (this.#log.fold.open?.interrupt) stop.abort(new DOMException("The turn was stopped.", "AbortError"));
    const run = this.#options.makeRun(stop.signal, this.#wakes, this.#stalls);
    this.#running = { run, stop };
    try {
      return await run.run();
    } catch (caught) {
      // Nobody will take the results of the calls that still run.
      stop.abort(new DOMException("The turn could not be carried on.", "AbortError"));
      throw caught;
    } finally {
      this.#running = null;
    }
  }

  #fail(caught: unknown): void {
    this.#failure =
      caught instanceof LightAgentError
        ? caught
        : new LightAgentError("internal", "The turn failed inside.", undefined, { cause: caught });
    const { turn, step } = this.#log.fold;
    const { code, message } = this.#failure;
    this.#log.emit({ type: "diagnostic", turn, step, level: "error", code, message });
  }
}
