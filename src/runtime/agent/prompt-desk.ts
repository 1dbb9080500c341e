import { previewOf } from "../protocol/content.ts";
import type { DurableBody } from "../protocol/durable-events.ts";
import { LightAgentError } from "../protocol/errors.ts";
import type { InterruptReceipt, PromptReceipt } from "../protocol/frames.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Clock, MaybePromise } from "../protocol/time.ts";
import { inTurnOrder } from "../protocol/waiting-prompt.ts";
import type { WaitingPrompt } from "../protocol/waiting-prompt.ts";
import type { AgentSession, KnownPrompt } from "../session/agent-session.ts";
import type { AcceptedPrompt } from "./accept-prompt.ts";
import type { SessionLog } from "./session-log.ts";
import type { TurnDriver } from "./turn-driver.ts";

export interface InterruptOptions {
  /** Stop only if this turn runs. */
  readonly turn?: number;
  readonly reason?: string;
  /** Drop what waits, too. */
  readonly clearQueue?: boolean;
  readonly by: Principal;
}

/** Where people's wishes enter a session: prompts in, prompts out, stop. Each is durable before it is answered. */
export class PromptDesk {
  readonly #log: SessionLog;
  readonly #session: AgentSession;
  readonly #driver: TurnDriver;
  readonly #limits: Limits;
  readonly #clock: Clock;

  constructor(log: SessionLog, session: AgentSession, driver: TurnDriver, limits: Limits, clock: Clock) {
    this.#log = log;
    this.#session = session;
    this.#driver = driver;
    this.#limits = limits;
    this.#clock = clock;
    log.subscribe(({ events }) => {
      const moved = events.some(
        ({ type }) => type === "input" || type === "steer" || type === "prompt_dropped",
      );
      if (moved && this.#shown > 0) this.#tellQueue();
    });
  }

  /** Prompts that the last `queue` event showed. */
  #shown = 0;

  /** @throws LightAgentError `idempotency_mismatch`, `busy`, `queue_full`, `log_write_failed` */
  submit(prompt: AcceptedPrompt): MaybePromise<PromptReceipt> {
    if (this.#driver.failure) throw this.#driver.failure;
    const known = this.#session.findPrompt(prompt.promptId);
    if (known) return repeatedReceipt(prompt, known);
    const { fold, waiting } = this.#log;
    const idle = fold.open === null && waiting.length === 0;
    if (!idle && prompt.mode === "reject") throw new LightAgentError("busy", "A turn is running.");
    if (!idle && waiting.length >= this.#limits.waitingPrompts) {
      throw new LightAgentError("queue_full", `${waiting.length} prompts wait already.`);
    }
    const entering = this.#enter(prompt, idle);
    const committed = idle ? this.#driver.open(entering, true, prompt.memories) : this.#enqueue(entering);
    this.#driver.drive();
    const { promptId, receipt } = entering;
    const answer: PromptReceipt = { promptId, status: idle ? "running" : "queued", ...receipt };
    return committed instanceof Promise ? committed.then(() => answer) : answer;
  }

  #enter(prompt: AcceptedPrompt, idle: boolean): WaitingPrompt {
    const { promptId, content, by, source, digest, model } = prompt;
    const { fold, waiting } = this.#log;
    const mode = prompt.mode === "reject" ? "queue" : prompt.mode;
    const at = this.#clock();
    const entering = {
      promptId,
      content,
      by,
      source,
      mode,
      at,
      digest,
      ...(model === undefined ? {} : { model }),
    };
    if (idle) return { ...entering, receipt: { position: 0, head: fold.head + 1 } };
    const unplaced = { ...entering, receipt: { position: 0, head: fold.head } };
    const position = inTurnOrder([...waiting, unplaced]).indexOf(unplaced) + 1;
    const stops = mode === "interrupt" && fold.open !== null && fold.open.interrupt === null;
    return { ...unplaced, receipt: { position, head: fold.head + (stops ? 1 : 0) } };
  }

  #enqueue(prompt: WaitingPrompt): MaybePromise<void> {
    const stop = prompt.mode === "interrupt" ? this.#stopBodies({ by: prompt.by }) : [];
    const committed = this.#log.commit(stop, { waiting: prompt });
    if (stop.length > 0) this.#driver.abort(committed);
    this.#tellQueue();
    return committed;
  }

  /** Withdraws a waiting prompt. @throws LightAgentError `not_found` when it does not wait */
  withdraw(promptId: string, by: Principal): MaybePromise<void> {
    if (!this.#log.waiting.some((prompt) => prompt.promptId === promptId)) {
      throw new LightAgentError("not_found", "No such prompt waits.");
    }
    const { turn, step } = this.#log.fold;
    return this.#log.commit([{ type: "prompt_dropped", turn, step, promptId, by, reason: "withdrawn" }]);
  }

  /** Stops the running turn: written before anything is aborted. */
  interrupt(options: InterruptOptions): MaybePromise<InterruptReceipt> {
    const { open, turn: current } = this.#log.fold;
    if (!open || (options.turn !== undefined && options.turn !== open.turn)) {
      return { interrupted: false, turn: current };
    }
    const receipt = { interrupted: true, turn: open.turn };
    const bodies = this.#stopBodies(options);
    if (bodies.length === 0) return receipt;
    const committed = this.#log.commit(bodies);
    this.#driver.abort(committed);
    this.#driver.drive();
    return committed instanceof Promise ? committed.then(() => receipt) : receipt;
  }

  #stopBodies({ by, reason, clearQueue = false }: InterruptOptions): DurableBody[] {
    const { open, turn, step } = this.#log.fold;
    if (!open) return [];
    const why = reason === undefined ? {} : { reason };
    const stop: DurableBody[] = open.interrupt
      ? []
      : [{ type: "interrupt", turn, step, by, ...why, clearQueue }];
    const dropped = clearQueue ? this.#log.waiting : [];
    const cleared = dropped.map(({ promptId }): DurableBody => ({
      type: "prompt_dropped",
      turn,
      step,
      promptId,
      by,
      reason: "cleared",
    }));
    return [...stop, ...cleared];
  }

  #tellQueue(): void {
    const { turn, step } = this.#log.fold;
    const waiting = inTurnOrder(this.#log.waiting).map(({ promptId, mode, content, by, at }) => {
      return { promptId, mode, preview: previewOf(content), by, at };
    });
    this.#shown = waiting.length;
    this.#log.emit({ type: "queue", turn, step, waiting });
  }
}

function repeatedReceipt(prompt: AcceptedPrompt, known: KnownPrompt): PromptReceipt {
  if (known.digest !== prompt.digest) {
    throw new LightAgentError(
      "idempotency_mismatch",
      "A prompt with this id and another body was accepted before.",
    );
  }
  const status = known.receipt.position === 0 ? "running" : "queued";
  return { promptId: prompt.promptId, status, ...known.receipt };
}
